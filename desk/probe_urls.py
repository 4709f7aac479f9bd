"""Addresses of what programs ask for that watch the site."""

from django.urls import path

from desk.views import probes, security_txt

app_name = "probes"
urlpatterns = [
    path("health/", probes.health, name="health"),
    path("ready/", probes.ready, name="ready"),
    path("metrics/", probes.metrics, name="metrics"),
    path(".well-known/security.txt", security_txt.security_txt, name="security_txt"),
]
