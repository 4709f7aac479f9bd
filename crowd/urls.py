"""The addresses of the pages of crowd platforms."""

from django.urls import path
from django.views.generic import RedirectView

from evalsite.lib.late import LateModule

decisions = LateModule("crowd.views.decisions")
hooks = LateModule("crowd.views.hooks")
payments = LateModule("crowd.views.payments")
platform = LateModule("crowd.views.platform")
postings = LateModule("crowd.views.postings")
waves = LateModule("crowd.views.waves")

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
    path("<uuid:public_id>/payments/", payments.payments, name="payments"),
    path("<uuid:public_id>/payments.csv", payments.payments_csv, name="payments_csv"),
    path("<uuid:public_id>/payments/approve/", decisions.approve, name="approve"),
    path("<uuid:public_id>/payments/bonus/", decisions.bonus, name="bonus"),
    path("<uuid:public_id>/payments/message/", decisions.message, name="message"),
    path("<uuid:public_id>/payments/discrepancies/", payments.discrepancies, name="discrepancies"),
    path(
        "<uuid:public_id>/payments/troubles/",  # as it was called before: people have bookmarks of it
        RedirectView.as_view(
            pattern_name="crowd:discrepancies", permanent=True, query_string=True, http_method_names=["get", "head"]
        ),
    ),
    path("<uuid:public_id>/payments/orders/", payments.orders, name="orders"),
    path("<uuid:public_id>/payments/orders/retry/", decisions.retry, name="retry_orders"),
    path("<uuid:public_id>/payments/orders/<int:order_id>/again/", decisions.again, name="again"),
    path("<uuid:public_id>/payments/<int:submission_id>/", payments.submission, name="submission"),
    path("<uuid:public_id>/payments/<int:submission_id>/reject/", decisions.reject, name="reject"),
    path("<uuid:public_id>/payments/<int:submission_id>/reverse/", decisions.reverse, name="reverse"),
    path("<uuid:public_id>/payments/<int:submission_id>/dismiss/", decisions.dismiss, name="dismiss"),
    path("<uuid:public_id>/payments/<int:submission_id>/free/", decisions.free, name="free"),
    path("<uuid:public_id>/payments/<int:submission_id>/block/", decisions.block, name="block"),
    path("<uuid:public_id>/payments/<int:submission_id>/unblock/", decisions.unblock, name="unblock"),
]
