"""The addresses of the pages on which work is paid."""

from django.urls import URLPattern, path

from crowd.views import bonuses, decisions, discrepancies, orders, payments

payment_urlpatterns: list[URLPattern] = [
    path("<uuid:public_id>/payments/", payments.payments, name="payments"),
    path("<uuid:public_id>/payments.csv", payments.payments_csv, name="payments_csv"),
    path("<uuid:public_id>/payments/approve/", decisions.approve, name="approve"),
    path("<uuid:public_id>/payments/bonus/", bonuses.bonus, name="bonus"),
    path("<uuid:public_id>/payments/message/", bonuses.message, name="message"),
    path("<uuid:public_id>/payments/discrepancies/", discrepancies.discrepancies, name="discrepancies"),
    path("<uuid:public_id>/payments/orders/", orders.orders, name="orders"),
    path("<uuid:public_id>/payments/orders/retry/", orders.retry, name="retry_orders"),
    path("<uuid:public_id>/payments/orders/<int:order_id>/again/", orders.again, name="again"),
    path("<uuid:public_id>/payments/<int:submission_id>/", payments.submission, name="submission"),
    path("<uuid:public_id>/payments/<int:submission_id>/reject/", decisions.reject, name="reject"),
    path("<uuid:public_id>/payments/<int:submission_id>/reverse/", decisions.reverse, name="reverse"),
    path("<uuid:public_id>/payments/<int:submission_id>/dismiss/", discrepancies.dismiss, name="dismiss"),
    path("<uuid:public_id>/payments/<int:submission_id>/free/", discrepancies.free, name="free"),
    path("<uuid:public_id>/payments/<int:submission_id>/block/", bonuses.block, name="block"),
    path("<uuid:public_id>/payments/<int:submission_id>/unblock/", bonuses.unblock, name="unblock"),
]
