"""Addresses of what programs ask for that watch the site."""

from django.urls import path

from evalsite.lib.late import LateModule

probes = LateModule("desk.views.probes")
security_txt = LateModule("desk.views.security_txt")

app_name = "probes"
urlpatterns = [
    path("health/", probes.health, name="health"),
    path("ready/", probes.ready, name="ready"),
    path("metrics/", probes.metrics, name="metrics"),
    path(".well-known/security.txt", security_txt.security_txt, name="security_txt"),
]
