"""The addresses of the whole site."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

import analysis.urls
import annotation.urls
from evalsite.accounts.views import admin_sign_in
from evalsite.lib.plugins import place_of
from evalsite.undo.views import undo

handler500 = "evalsite.web.server_error"
urlpatterns = [
    path("rate/", include(annotation.urls.rate)),  # the most requests: those below are not tried for them
    path("", RedirectView.as_view(pattern_name="campaigns:list"), name="home"),
    path("accounts/", include("evalsite.accounts.urls")),
    path("undo/<uuid:act_id>/", undo, name="undo"),
    path("jobs/", include("evalsite.jobs.urls")),
    path("campaigns/", include(place_of("campaigns.urls"))),
    path("analysis/", include(analysis.urls)),
    path("shared/", include(analysis.urls.shared)),
    path("campaigns/", include(annotation.urls.monitoring_pages)),
    path("campaigns/", include(place_of("crowd.urls"))),
    path("api/v1/", include(place_of("api.urls"))),
    path("help/", include("evalsite.help.urls")),
    # Passwords are entered on one page, which counts attempts.
    path("admin/database/login/", admin_sign_in),
    path("admin/database/password_change/", RedirectView.as_view(pattern_name="accounts:password")),
    path("admin/database/", admin.site.urls),
    path("admin/", include(place_of("desk.urls"))),
    path("", include(place_of("desk.probe_urls"))),
]
