from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class JobsConfig(AppConfig):
    name = "evalsite.jobs"
    label = "jobs"

    def ready(self) -> None:
        """Register the job handlers of every app."""
        autodiscover_modules("tasks", "web.tasks")
