"""Accounts: the list, invitations, and what an administrator changes of one."""

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from campaigns.views.access import render_form
from desk.forms import InvitationForm, PeopleFilter, PersonForm
from desk.navigation import desk_context
from desk.people import describe_person, list_people, state_of
from desk.views.access import admin_view
from evalsite.accounts import services
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.mails import mail_password_link
from evalsite.accounts.models import User
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_act
from evalsite.lib.errors import CONFLICT, DomainError

_PAGE = 50


@admin_view("GET")
def people(request: SignedInRequest) -> HttpResponse:
    """List the accounts that match, by address."""
    form = PeopleFilter(request.GET)
    is_valid = form.is_valid()
    found = list_people(**form.cleaned_data) if is_valid else list_people().none()
    page = Paginator(found, _PAGE).get_page(request.GET.get("page"))
    context = desk_context("people") | {
        "form": form,
        "is_filtered": not is_valid or any(form.cleaned_data.values()),
        "page_obj": page,
        "rows": [(user, state_of(user)) for user in page],
    }
    return render_form(request, "desk/people.html", context, is_refused=not is_valid)


@admin_view("GET", "POST")
def invite(request: SignedInRequest) -> HttpResponse:
    """Make an account; show its link, this once."""
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            user = services.invite_user(**form.cleaned_data, by=request.user)
            return _link_page(request, user)
        except DomainError as error:
            form.add_error("email", error.message)
    context = desk_context("people") | {"form": form, "has_mail": is_mail_set_up()}
    return render_form(request, "desk/invite.html", context)


@admin_view("GET", "POST")
def person(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Show an account; change its name and address."""
    user = _find(user_id)
    form = PersonForm(request.POST) if request.method == "POST" else _form_of(user)
    if request.method == "POST" and form.is_valid():
        try:
            services.change_user(user=user, **form.cleaned_data, by=request.user)
            messages.success(request, "Saved.")
            return redirect("desk:person", user.pk)
        except DomainError as error:
            form.add_error("email", error.message)
    return _page(request, user, form)


@admin_view("POST")
def link(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Make a link to choose a password; show it, this once. Where there are no passwords, there is no such page."""
    if not settings.PASSWORD_SIGN_IN:
        raise Http404
    user = _find(user_id)
    try:
        return _link_page(request, user)
    except DomainError as error:
        return _refused(request, user, error)


@admin_view("POST")
def deactivate(request: SignedInRequest, user_id: int) -> HttpResponse:
    """End what a user can do here."""
    user = _find(user_id)
    try:
        services.deactivate_user(user=user, now=timezone.now(), by=request.user)
    except DomainError as error:
        return _refused(request, user, error)
    messages.success(request, f"{user} is deactivated: sessions, links and API tokens have ended.")
    return redirect("desk:person", user.pk)


@admin_view("POST")
def reactivate(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Let a user sign in again, with a new password; show the link for it."""
    user = _find(user_id)
    services.reactivate_user(user=user, by=request.user)
    user.refresh_from_db()
    return _link_page(request, user)


@admin_view("POST")
def role(request: SignedInRequest, user_id: int) -> HttpResponse:
    """Make a user an administrator, or a researcher again."""
    user = _find(user_id)
    is_administrator = request.POST.get("role") == "administrator"
    try:
        services.set_administrator(user=user, is_administrator=is_administrator, by=request.user)
    except DomainError as error:
        return _refused(request, user, error)
    messages.success(request, f"{user} is {'an administrator' if is_administrator else 'no administrator any more'}.")
    if user == request.user and not is_administrator:
        return redirect("home")
    return redirect("desk:person", user.pk)


def _find(user_id: int) -> User:
    """Return an account; the audit log names it."""
    user = get_object_or_404(User, pk=user_id)
    note_act(about=user.email)
    return user


def _form_of(user: User) -> PersonForm:
    return PersonForm(initial={"email": user.email, "name": user.name})


def _page(request: SignedInRequest, user: User, form: PersonForm, status: int | None = None) -> HttpResponse:
    described = describe_person(user, seen_by=request.user)
    context = desk_context("people") | {"person": described, "state": state_of(user), "form": form}
    response = render_form(request, "desk/person.html", context)
    response.status_code = status or response.status_code
    return response


def _refused(request: SignedInRequest, user: User, error: DomainError) -> HttpResponse:
    messages.error(request, error.message)
    return _page(request, user, _form_of(user), CONFLICT)


def _link_page(request: SignedInRequest, user: User) -> HttpResponse:
    """Show a new link, and mail it where mail is set up; where there are no passwords, say how they sign in."""
    if not settings.PASSWORD_SIGN_IN:
        messages.success(
            request, f"{user.email} can sign in now, without a password. Tell them the address of this site."
        )
        return redirect("desk:person", user.pk)
    made = services.make_password_link(user=user, now=timezone.now(), by=request.user)
    url, is_invitation, has_mail, fault = request.build_absolute_uri(made.path), state_of(user) == "invited", False, ""
    if is_mail_set_up():
        has_mail = True
        try:
            mail_password_link(
                user=user, url=url, expires_at=made.expires_at, is_invitation=is_invitation, by=request.user
            )
        except DomainError as error:
            fault = error.message
    context = desk_context("people") | {
        "person": user,
        "url": url,
        "expires_at": made.expires_at,
        "is_invitation": is_invitation,
        "has_mail": has_mail,
        "fault": fault,
    }
    return render(request, "desk/link.html", context)
