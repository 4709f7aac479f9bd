"""The web application for gunicorn and runserver; without Redis it also runs the jobs."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from evalsite.jobs.timing import IMPORT_EARLY
from evalsite.lib.memory import collect_seldom, keep_freed_memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
os.environ.setdefault("DATABASE_POOL", "16")  # this process has threads
collect_seldom()
keep_freed_memory()
application = get_wsgi_application()

if IMPORT_EARLY:
    from evalsite.warming import warm_pages

    warm_pages()  # not in a thread: none may import while gunicorn forks (`--preload`)

if settings.JOBS_IN_PROCESS:
    from evalsite.jobs.workers import start_worker

    start_worker()
