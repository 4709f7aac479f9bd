"""Addresses of the workers' pages (`rate`), and of those on which researchers watch a campaign (`monitoring`)."""

from django.urls import path

from evalsite.lib.late import LateModule

chat = LateModule("annotation.chat.views")
chats = LateModule("annotation.chat.monitoring_views")
erasing = LateModule("annotation.views.erasing")
monitoring = LateModule("annotation.views.monitoring")
preview = LateModule("annotation.views.preview")
protection = LateModule("annotation.views.protection")
raters = LateModule("annotation.views.raters")
reminders = LateModule("annotation.views.reminders")
worker = LateModule("annotation.views.worker")

rate = (
    [
        # An item's images lie beside it: its page names them by relative addresses.
        path("<str:token>/<str:name>.img", worker.image, name="image"),
        path("c/<uuid:public_id>/", worker.welcome, name="welcome"),
        path("<str:token>/", worker.hit, name="hit"),
        path("<str:token>/feedback/", worker.feedback, name="feedback"),
        path("<str:token>/return/", worker.return_hit, name="return"),
        path("<str:token>/text/", worker.show_text, name="text"),
        path("<str:token>/next/", worker.next_hit, name="next"),
        path("<str:token>/topic/", chat.topic, name="topic"),
        path("<str:token>/say/", chat.say, name="say"),
        path("<str:token>/reply/", chat.reply, name="reply"),
        path("<str:token>/change/", chat.change, name="change"),
        path("<str:token>/end/", chat.end, name="end"),
        path("<str:token>/leave/", chat.leave, name="leave"),
        path("<path:rest>/", worker.nowhere, name="nowhere"),
    ],
    "rate",
)

_RATERS = "<uuid:public_id>/raters/"
_PREVIEW = "<uuid:public_id>/preview/"
monitoring_pages = (
    [
        path("<uuid:public_id>/progress/", monitoring.progress, name="progress"),
        path("<uuid:public_id>/assignments/", monitoring.assignments, name="assignments"),
        path("<uuid:public_id>/assignments/<int:assignment_id>/release/", monitoring.release, name="release"),
        path("<uuid:public_id>/personal-data/", protection.protection, name="protection"),
        path("<uuid:public_id>/workers/<int:worker_id>/erase/", erasing.erase, name="erase"),
        path("<uuid:public_id>/workers/<int:worker_id>/data.json", erasing.data, name="worker_data"),
        path("<uuid:public_id>/feedback/", monitoring.feedback, name="feedback"),
        path("<uuid:public_id>/raters.csv", raters.raters_csv, name="raters_csv"),
        path(_RATERS, raters.raters, name="raters"),
        path(f"{_RATERS}add/", raters.raters_add, name="raters_add"),
        path(f"{_RATERS}remind/", reminders.remind, name="raters_remind"),
        path(f"{_RATERS}codes/", raters.rater_codes, name="rater_codes"),
        path(f"{_RATERS}open-link.svg", raters.open_link_code, name="open_link_code"),
        path(f"{_RATERS}<int:invitation_id>/", raters.rater, name="rater"),
        path(f"{_RATERS}<int:invitation_id>/code.svg", raters.rater_code, name="rater_code"),
        path(f"{_RATERS}<int:invitation_id>/revoke/", raters.revoke, name="rater_revoke"),
        path(f"{_RATERS}<int:invitation_id>/restore/", raters.restore, name="rater_restore"),
        path("<uuid:public_id>/export/", monitoring.export, name="export"),
        path("<uuid:public_id>/export/<str:name>", monitoring.export_file, name="export_file"),
        path("<uuid:public_id>/chats/", chats.chats, name="chats"),
        path("<uuid:public_id>/chats/transcripts/", chats.transcripts, name="transcripts"),
        path("<uuid:public_id>/chats/flags/", chats.chat_flags, name="chat_flags"),
        path("<uuid:public_id>/chats/<int:chat_id>/", chats.chat, name="chat"),
        path(_PREVIEW, preview.preview, name="preview"),
        path(f"{_PREVIEW}end/", preview.preview_end, name="preview_end"),
        path(f"{_PREVIEW}<int:hit>/<int:position>/", preview.preview_item, name="preview_item"),
        path(f"{_PREVIEW}<int:hit>/<int:position>/topic/", preview.preview_topic, name="preview_topic"),
        path(f"{_PREVIEW}<int:hit>/<int:position>/chat/", preview.preview_chat, name="preview_chat"),
        path(f"{_PREVIEW}<int:hit>/<int:position>/<str:name>.img", preview.preview_image, name="preview_image"),
    ],
    "monitoring",
)
