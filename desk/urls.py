"""Addresses of the administrators' pages."""

from django.urls import path
from django.views.generic import RedirectView

from evalsite.lib.late import LateModule

audit = LateModule("desk.views.audit")
jobs = LateModule("desk.views.jobs")
people = LateModule("desk.views.people")
system = LateModule("desk.views.system")

app_name = "desk"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="desk:people"), name="home"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="invite"),
    path("people/<int:user_id>/", people.person, name="person"),
    path("people/<int:user_id>/link/", people.link, name="person_link"),
    path("people/<int:user_id>/deactivate/", people.deactivate, name="person_deactivate"),
    path("people/<int:user_id>/reactivate/", people.reactivate, name="person_reactivate"),
    path("people/<int:user_id>/role/", people.role, name="person_role"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/<uuid:job_id>/retry/", jobs.retry, name="job_retry"),
    path("audit/", audit.audit, name="audit"),
    path("audit/log.csv", audit.audit_file, name="audit_file"),
    path("storage/", system.storage, name="storage"),
    path("system/", system.system, name="system"),
    path("system/test-mail/", system.test_mail, name="test_mail"),
]
