"""Addresses of the guides."""

from django.urls import path

from evalsite.help import views

app_name = "help"
urlpatterns = [
    path("", views.index, name="index"),
    path("<slug:name>/", views.guide, name="guide"),
    path("examples/<str:name>", views.example, name="example"),
]
