"""Pages of the second factor: setting it up, and the second step of signing in."""

import time
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from evalsite.accounts import second_factors
from evalsite.accounts.attempts import limits_of_codes, refuse, remember_browser
from evalsite.accounts.forms import CodeForm
from evalsite.accounts.models import User
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act, note_refusal
from evalsite.lib.errors import UNPROCESSABLE, DomainError
from evalsite.lib.qr_codes import draw_inline
from evalsite.lib.rate_limits import count_use, forget_uses

_SECRET, _PENDING = "second_factor_secret", "second_step"
_PENDING_FOR_S = 600


def sign_in(request: HttpRequest, user: User, next_page: str, *, had_second_factor: bool = False) -> HttpResponse:
    """Begin the session of somebody whose password was right, or ask for the second factor first.

    `had_second_factor`: a provider that is trusted to has asked for one.
    """
    if had_second_factor or not second_factors.has_second_factor(user):
        login(request, user, settings.AUTHENTICATION_BACKENDS[0])
        second_factors.note_provider(request.session, had_second_factor)
        return HttpResponseRedirect(next_page)
    request.session.cycle_key()
    request.session[_PENDING] = {
        "user": user.pk,
        "hash": user.get_session_auth_hash(),
        "next": next_page,
        "until": time.time() + _PENDING_FOR_S,
    }
    return redirect("accounts:second_step")


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """Take the code of somebody whose password was right a moment ago."""
    pending = request.session.get(_PENDING)
    user = _pending_user(pending) if pending else None
    if pending is None or user is None:
        note_refusal()
        return redirect("accounts:sign_in")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if form.is_bound:
        counted, now = limits_of_codes(request, user.pk), timezone.now()
        if wait_s := count_use(*counted, now=now):
            return refuse(request, wait_s)
        if form.is_valid():
            try:
                second_factors.use_code(user=user, code=form.cleaned_data["code"], now=now)
            except DomainError as error:
                form.add_error("code", error.message)
            else:
                forget_uses(*counted)
                del request.session[_PENDING]
                login(request, user, settings.AUTHENTICATION_BACKENDS[0])
                second_factors.note_provider(request.session, False)
                response = redirect(pending["next"])
                remember_browser(response, user.email)
                return response
    return render(request, "accounts/second_step.html", {"form": form}, status=UNPROCESSABLE if form.is_bound else 200)


@never_cache
@require_http_methods(["GET", "POST"])
def second_factor(request: SignedInRequest) -> HttpResponse:
    """Show whether there is a second factor; set one up."""
    if factor := getattr(request.user, "second_factor", None):
        return _show(request, {"factor": factor, "form": CodeForm()})
    if request.method == "GET" or _SECRET not in request.session:
        request.session[_SECRET] = request.session.get(_SECRET) or second_factors.new_secret()
        return _show_set_up(request, CodeForm())
    form = CodeForm(request.POST)
    counted, now = limits_of_codes(request, request.user.pk), timezone.now()
    if wait_s := count_use(*counted, now=now):
        return refuse(request, wait_s)
    if form.is_valid():
        try:
            secret = request.session[_SECRET]
            codes = second_factors.set_up(user=request.user, secret=secret, code=form.cleaned_data["code"], now=now)
        except DomainError as error:
            form.add_error("code", error.message)
        else:
            forget_uses(*counted)
            del request.session[_SECRET]
            return render(request, "accounts/recovery_codes.html", {"codes": codes})
    return _show_set_up(request, form)


@never_cache
@require_POST
def recovery_codes(request: SignedInRequest) -> HttpResponse:
    """Make new recovery codes, for a code."""
    return _with_code(request, is_off=False)


@require_POST
def turn_off(request: SignedInRequest) -> HttpResponse:
    """Turn the second factor off, for a code."""
    return _with_code(request, is_off=True)


def _with_code(request: SignedInRequest, *, is_off: bool) -> HttpResponse:
    factor = getattr(request.user, "second_factor", None)
    if factor is None:
        note_refusal()
        return redirect("accounts:second_factor")
    form, counted, now = CodeForm(request.POST), limits_of_codes(request, request.user.pk), timezone.now()
    if wait_s := count_use(*counted, now=now):
        return refuse(request, wait_s)
    if form.is_valid():
        code = form.cleaned_data["code"]
        try:
            if not is_off:
                codes = second_factors.replace_recovery_codes(user=request.user, code=code, now=now)
                forget_uses(*counted)
                return render(request, "accounts/recovery_codes.html", {"codes": codes})
            second_factors.turn_off(user=request.user, code=code, now=now)
        except DomainError as error:
            form.add_error("code", error.message)
        else:
            forget_uses(*counted)
            messages.success(request, "The second factor is off. You sign in with your password alone.")
            return redirect("accounts:second_factor")
    return _show(request, {"factor": factor, "form": form})


def _show_set_up(request: SignedInRequest, form: CodeForm) -> HttpResponse:
    secret = request.session[_SECRET]
    address = second_factors.address_for_app(request.user, secret)
    context = {"form": form, "qr_code": mark_safe(draw_inline(address)), "secret": second_factors.text_of(secret)}
    return _show(request, context | {"is_required": second_factors.must_set_up(request.user, request.session)})


def _show(request: SignedInRequest, context: dict[str, object]) -> HttpResponse:
    form = context["form"]
    is_refused = isinstance(form, CodeForm) and form.is_bound
    return render(request, "accounts/second_factor.html", context, status=UNPROCESSABLE if is_refused else 200)


def _pending_user(pending: dict[str, Any]) -> User | None:
    """Return who is between password and code; nobody after ten minutes, or once the password is another."""
    user = User.objects.filter(pk=pending["user"], is_active=True).first()
    if user is None or pending["until"] < time.time() or user.get_session_auth_hash() != pending["hash"]:
        return None
    note_act(user=user)
    return user
