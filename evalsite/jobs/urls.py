"""Addresses of a job's state and of its retry button."""

from django.urls import path

from evalsite.lib.late import LateModule

views = LateModule("evalsite.jobs.views")

app_name = "jobs"
urlpatterns = [
    path("<uuid:job_id>/", views.state, name="state"),
    path("<uuid:job_id>/retry/", views.retry, name="retry"),
]
