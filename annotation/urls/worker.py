"""Addresses of the worker pages. An item's images lie beside it: its page names them by relative addresses."""

from django.urls import path

from annotation.chat import views as chat
from annotation.views import images, worker

app_name = "rate"
urlpatterns = [
    path("c/<uuid:public_id>/", worker.welcome, name="welcome"),
    path("<str:token>/", worker.hit, name="hit"),
    path("<str:token>/feedback/", worker.feedback, name="feedback"),
    path("<str:token>/return/", worker.return_hit, name="return"),
    path("<str:token>/next/", worker.next_hit, name="next"),
    path("<str:token>/topic/", chat.topic, name="topic"),
    path("<str:token>/say/", chat.say, name="say"),
    path("<str:token>/reply/", chat.reply, name="reply"),
    path("<str:token>/change/", chat.change, name="change"),
    path("<str:token>/end/", chat.end, name="end"),
    path("<str:token>/leave/", chat.leave, name="leave"),
    path("<str:token>/<str:name>.png", images.image, name="image"),
    path("<path:rest>/", worker.nowhere, name="nowhere"),
]
