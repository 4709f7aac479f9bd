"""How the site is set up, what to change where something is off, and how much disk it uses."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from desk.navigation import desk_context
from desk.storage import measure_storage
from desk.system import Visit, list_checks
from desk.views.access import admin_view
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.mails import mail_test
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_refusal
from evalsite.lib.errors import DomainError


@admin_view("GET")
def system(request: SignedInRequest) -> HttpResponse:
    """Show the settings that matter, each with its state."""
    checks = list_checks(Visit.by_request(request), timezone.now())
    context = desk_context("system") | {
        "checks": checks,
        "n_attention": sum(not check.is_ok for check in checks),
        "has_mail": is_mail_set_up(),
    }
    return render(request, "desk/system.html", context)


@admin_view("POST")
def test_mail(request: SignedInRequest) -> HttpResponse:
    """Send a mail to oneself."""
    if not is_mail_set_up():
        messages.error(request, "No mail was sent: EMAIL_URL is not set.")
        note_refusal()
        return redirect("desk:system")
    try:
        mail_test(to=request.user.email, url=request.build_absolute_uri("/"))
        messages.success(request, f"The mail server has taken a mail to {request.user.email}. See whether it arrives.")
    except DomainError as error:
        messages.error(request, error.message)
        note_refusal()
    return redirect("desk:system")


@admin_view("GET")
def storage(request: SignedInRequest) -> HttpResponse:
    """Show what the files and the database take, by kind, and what is largest."""
    return render(request, "desk/storage.html", desk_context("storage") | {"storage": measure_storage(request.user)})
