"""The queue that carries job ids to workers: a Celery app, to which `evalsite.celery` adds what workers run.

It is imported where jobs are sent or run, not with the site: without it a command starts in a fifth less time.
"""

import os
from typing import Any

from celery import Celery

from evalsite.jobs.timing import SWEEP_S

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")

app = Celery("evalsite")
app.config_from_object("django.conf:settings", namespace="CELERY")


def _complete_settings(sender: Celery, **kwargs: Any) -> None:
    sender.conf.beat_schedule = {
        "sweep-jobs": {
            "task": "jobs.sweep",
            "schedule": SWEEP_S,
            # Behind a busy worker one sweep may wait, not a pile of them.
            "options": {"expires": SWEEP_S},
        }
    }
    # Nothing to remember between starts, so no schedule file to write.
    sender.conf.beat_scheduler = "celery.beat:Scheduler"
    if sender.conf.broker_url.startswith("memory:"):
        sender.conf.broker_transport_options = {"polling_interval": 0.05}
    else:
        # A request that enqueues must not hang on a broker that has gone away.
        sender.conf.broker_transport_options = {"socket_connect_timeout": 2, "socket_timeout": 10}


app.on_after_configure.connect(_complete_settings)
