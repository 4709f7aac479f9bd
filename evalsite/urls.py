"""The addresses of the whole site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="analysis:ratings"), name="home"),
    path("accounts/", include("evalsite.accounts.urls")),
    path("jobs/", include("evalsite.jobs.urls")),
    path("analysis/", include("analysis.urls")),
    path("admin/", admin.site.urls),
]
