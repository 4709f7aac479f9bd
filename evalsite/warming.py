"""What a process that serves pages does before the first request."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.template import TemplateDoesNotExist, TemplateSyntaxError, engines
from django.template.loader import get_template
from django.urls import get_resolver

from evalsite.jobs.discovery import load_handlers
from evalsite.jobs.timing import IMPORT_EARLY
from evalsite.lib.late import import_all
from evalsite.lib.memory import collect_seldom, keep_for_good, keep_freed_memory
from evalsite.lib.plugins import load_registered

Application = TypeVar("Application")


def ready(make_application: Callable[[], Application]) -> Application:
    """Return the web application, in a process that can serve pages, and runs the jobs where there is no Redis."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalsite.settings")
    os.environ.setdefault("DATABASE_POOL", "16")  # this process has threads
    collect_seldom()
    keep_freed_memory()
    application = make_application()
    if IMPORT_EARLY:
        warm_pages()  # not in a thread: none may import while gunicorn forks (`--preload`)
        keep_for_good()
    if settings.JOBS_IN_PROCESS:
        from evalsite.jobs.workers import start_worker

        start_worker()
    return application


def warm_pages() -> None:
    """Import views, job handlers and plug-ins, and compile all templates; a bad one raises when it is shown."""
    _ = get_resolver().reverse_dict  # of all names
    import_all()
    load_handlers()
    load_registered()
    for folder in map(Path, engines["django"].engine.dirs):  # type: ignore[attr-defined]
        for path in filter(Path.is_file, folder.rglob("*")):
            with suppress(TemplateDoesNotExist, TemplateSyntaxError, UnicodeDecodeError):
                get_template(path.relative_to(folder).as_posix())
