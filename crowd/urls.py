"""The addresses of the pages of crowd platforms."""

from django.urls import path

from crowd.payment_urls import payment_urlpatterns
from crowd.views import hooks, platform, postings, waves

app_name = "crowd"
urlpatterns = [
    path("<uuid:public_id>/platform/", platform.platform, name="platform"),
    path("<uuid:public_id>/platform/keys/", platform.keys, name="keys"),
    path("<uuid:public_id>/platform/check/", platform.check, name="check"),
    path("<uuid:public_id>/platform/sync/", platform.sync, name="sync"),
    path("<uuid:public_id>/platform/publish/", waves.plan, name="plan"),
    path("<uuid:public_id>/platform/publish/now/", waves.publish, name="publish"),
    path("<uuid:public_id>/platform/waves/<int:wave_id>/", waves.wave_progress, name="wave_progress"),
    path("<uuid:public_id>/platform/waves/<int:wave_id>/stop/", waves.stop, name="stop"),
    path("<uuid:public_id>/platform/waves/<int:wave_id>/resume/", waves.resume, name="resume"),
    path("<uuid:public_id>/platform/hook/", hooks.hook, name="hook"),
    path("<uuid:public_id>/platform/postings/", postings.postings, name="postings"),
    path("<uuid:public_id>/platform/postings/act/", postings.act, name="act"),
    *payment_urlpatterns,
]
