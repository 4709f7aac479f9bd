"""Finding what apps register of jobs: handlers, titles, subjects, periodic tasks, reactions to failures."""

from functools import cache

from django.utils.module_loading import autodiscover_modules


@cache
def load_handlers() -> None:
    """Import the `tasks` of every app: when jobs are first spoken of, since most commands have none."""
    autodiscover_modules("tasks", "web.tasks")
