"""Addresses of the pages on which researchers watch a campaign, invite raters and take data out."""

from django.urls import path

from annotation.chat import monitoring_views as chat_monitoring
from annotation.views import assignments, export, feedback, preview, progress, raters

app_name = "monitoring"
urlpatterns = [
    path("<uuid:public_id>/progress/", progress.progress, name="progress"),
    path("<uuid:public_id>/assignments/", assignments.assignments, name="assignments"),
    path("<uuid:public_id>/assignments/<int:assignment_id>/release/", assignments.release, name="release"),
    path("<uuid:public_id>/feedback/", feedback.feedback, name="feedback"),
    path("<uuid:public_id>/chats/", chat_monitoring.chats, name="chats"),
    path("<uuid:public_id>/chats/transcripts/", chat_monitoring.transcripts, name="transcripts"),
    path("<uuid:public_id>/chats/flags/", chat_monitoring.chat_flags, name="chat_flags"),
    path("<uuid:public_id>/chats/<int:chat_id>/", chat_monitoring.chat, name="chat"),
    path("<uuid:public_id>/raters/", raters.raters, name="raters"),
    path("<uuid:public_id>/raters.csv", raters.raters_csv, name="raters_csv"),
    path("<uuid:public_id>/export/", export.export, name="export"),
    path("<uuid:public_id>/export/<str:name>", export.export_file, name="export_file"),
    path("<uuid:public_id>/preview/", preview.preview, name="preview"),
    path("<uuid:public_id>/preview/end/", preview.preview_end, name="preview_end"),
    path("<uuid:public_id>/preview/<int:hit>/<int:position>/", preview.preview_item, name="preview_item"),
    path("<uuid:public_id>/preview/<int:hit>/<int:position>/topic/", preview.preview_topic, name="preview_topic"),
    path("<uuid:public_id>/preview/<int:hit>/<int:position>/chat/", preview.preview_chat, name="preview_chat"),
    path(
        "<uuid:public_id>/preview/<int:hit>/<int:position>/<str:name>.png", preview.preview_image, name="preview_image"
    ),
]
