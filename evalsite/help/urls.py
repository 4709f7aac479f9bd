"""Addresses of the guides."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from evalsite.lib.late import LateModule

views = LateModule("evalsite.help.views")


class GuideNameConverter(StringConverter):
    """The name of a guide: `settings`, or `method/pairs` of one in a folder."""

    regex = r"[\w-]+(?:/[\w-]+)?"


register_converter(GuideNameConverter, "guide")

app_name = "help"
urlpatterns = [
    path("", views.index, name="index"),
    path("examples/<path:name>", views.example, name="example"),
    path("<guide:name>/", views.guide, name="guide"),
]
