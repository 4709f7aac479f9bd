"""Raters and their links: the open link, personal links as a list, as CSV and as QR codes; inviting and revoking."""

import io

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify

from annotation.monitoring.lists import get_access
from annotation.raters.forms import EmailForm, RaterFilter, RatersForm
from annotation.raters.lists import PROGRESS_COLUMNS
from annotation.raters.queries import (
    InvitedRater,
    count_raters,
    describe_raters,
    get_invitation_of,
    get_latest_reminder,
    list_raters,
)
from annotation.services.invitations import (
    InvitedRaters,
    change_email,
    invite_raters,
    restore_invitation,
    revoke_invitation,
)
from annotation.views.monitoring import as_file, page_of
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role, has_role
from campaigns.views.access import back_to, campaign_view, render_form
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import DomainError
from evalsite.lib.qr_codes import draw_file, draw_inline
from evalsite.lib.tables.writing import write_csv
from evalsite.lib.words import counted

_CODES_PER_PAGE = 60


@campaign_view("GET")
def raters(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the open link, and the invited raters that match; viewers see how many there are."""
    form = RaterFilter(request.GET)
    is_valid = form.is_valid()
    page = page_of(request, list_raters(campaign, **form.filters()) if is_valid else list_raters(campaign).none())
    url = arrival_url(request, campaign)
    reminder = get_latest_reminder(campaign) if has_role(campaign, Role.EDITOR) else None
    job = reminder.job if reminder else None
    is_over = job is None or job.status == job.Status.SUCCEEDED or not campaign.is_open
    context = campaign_context(campaign, "raters") | {
        "access": get_access(campaign),
        "open_link": url,
        "open_code": _inline(url),
        "counts": count_raters(campaign),
        "form": form,
        "is_filtered": bool(form.errors or form.filters()),
        "reminder": None if is_over else reminder,
        "reminder_job": job_state(job) if job and not is_over and job.owner_id == request.user.pk else None,
        "page_obj": page,
        "raters": describe_raters(campaign, page) if has_role(campaign, Role.EDITOR) else [],
    }
    return render_form(request, "monitoring/raters.html", context, is_refused=not is_valid)


@campaign_view("GET", "POST", to_read=Role.EDITOR)
def raters_add(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Ask for raters, pasted or in a file; sent, invite them."""
    is_sent = request.method == "POST"
    form = RatersForm(request.POST, request.FILES) if is_sent else RatersForm()
    if is_sent and form.is_valid():
        try:
            done = invite_raters(campaign=campaign, raters=form.entries)
            messages.success(request, _invited(done))
            return redirect("monitoring:raters", campaign.public_id)
        except DomainError as error:
            for line in error.message.splitlines():
                form.add_error("names" if error.code == "conflict" else None, line)
            form.show_sent()
    context = campaign_context(campaign, "raters") | {"access": get_access(campaign), "form": form}
    return render_form(request, "monitoring/raters_add.html", context)


def _invited(done: InvitedRaters) -> str:
    parts = [f"{counted(done.n_new, 'rater')} added."] if done.n_new else ["Nobody new."]
    if done.n_known:
        parts.append(f"{done.n_known} had a link already.")
    if done.n_emails:
        parts.append(f"E-mail addresses added to {counted(done.n_emails, 'rater')}.")
    if done.n_attributes:
        parts.append(f"Attributes of {counted(done.n_attributes, 'rater')} changed.")
    return " ".join(parts)


@campaign_view("GET", "POST", to_read=Role.EDITOR)
def rater(request: SignedInRequest, campaign: Campaign, invitation_id: int) -> HttpResponse:
    """Show one rater: link, QR code, how far they are; sent, change the e-mail address."""
    invitation = get_invitation_of(campaign, invitation_id)
    form = EmailForm(request.POST if request.method == "POST" else None, initial={"email": invitation.email})
    if request.method == "POST" and form.is_valid():
        try:
            change_email(invitation=invitation, email=form.cleaned_data["email"])
            messages.success(request, "The e-mail address is saved.")
            return redirect("monitoring:rater", campaign.public_id, invitation.pk)
        except DomainError as error:
            form.add_error("email", error.message)
    shown = describe_raters(campaign, [get_invitation_of(campaign, invitation_id)])[0]
    link = link_of(request, campaign, shown)
    context = campaign_context(campaign, "raters") | {"rater": shown, "link": link, "code": _inline(link), "form": form}
    return render_form(request, "monitoring/rater.html", context)


@campaign_view("POST", refused=back_to("monitoring:raters"))
def revoke(request: SignedInRequest, campaign: Campaign, invitation_id: int) -> HttpResponse:
    """Revoke a rater's link."""
    invitation = get_invitation_of(campaign, invitation_id)
    revoke_invitation(invitation=invitation)
    text = f"The link of {invitation.worker.name} is revoked. What they rated is kept."
    messages.success(request, text)
    return redirect("monitoring:rater", campaign.public_id, invitation.pk)


@campaign_view("POST", refused=back_to("monitoring:raters"))
def restore(request: SignedInRequest, campaign: Campaign, invitation_id: int) -> HttpResponse:
    """Let a revoked link work again."""
    invitation = get_invitation_of(campaign, invitation_id)
    restore_invitation(invitation=invitation)
    messages.success(request, f"The link of {invitation.worker.name} works again.")
    return redirect("monitoring:rater", campaign.public_id, invitation.pk)


# --- Links as files


@campaign_view("GET", to_read=Role.EDITOR)
def raters_csv(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Send the names, addresses, links and attributes of the raters that match, for a mail merge."""
    chosen = _chosen(request, campaign)
    attributes = sorted({name for each in chosen for name in each.attributes})
    stream = io.StringIO(newline="")
    stream.write("\ufeff")  # without this mark Excel takes UTF-8 for the encoding of the country
    write_csv(
        stream,
        ("name", "email", *PROGRESS_COLUMNS, *attributes),
        (
            (
                each.name,
                each.email,
                link_of(request, campaign, each),
                each.state_label,
                each.n_finished,
                each.n_left,
                each.seen_at.isoformat(timespec="seconds") if each.seen_at else "",
                *(each.attributes.get(name, "") for name in attributes),
            )
            for each in chosen
        ),
    )
    response = HttpResponse(stream.getvalue(), content_type="text/csv; charset=utf-8")
    return as_file(response, f"{slugify(campaign.name) or 'campaign'}-raters.csv")


@campaign_view("GET", to_read=Role.EDITOR)
def rater_codes(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the QR codes of the raters that match, for print; revoked ones have none."""
    found = [each for each in _chosen(request, campaign) if not each.revoked_at]
    page = page_of(request, found, _CODES_PER_PAGE)  # type: ignore[arg-type]  # of a list, too
    codes = [(each, _inline(link_of(request, campaign, each))) for each in page]
    context = campaign_context(campaign, "raters") | {"page_obj": page, "codes": codes}
    return render(request, "monitoring/rater_codes.html", context)


def _chosen(request: SignedInRequest, campaign: Campaign) -> list[InvitedRater]:
    """Return the raters that the query asks for; all if it cannot be understood."""
    form = RaterFilter(request.GET)
    found = list_raters(campaign, **(form.filters() if form.is_valid() else {}))
    return describe_raters(campaign, found)


@campaign_view("GET", to_read=Role.EDITOR)
def rater_code(request: SignedInRequest, campaign: Campaign, invitation_id: int) -> HttpResponse:
    """Send the QR code of a rater's link."""
    found = describe_raters(campaign, [get_invitation_of(campaign, invitation_id)])[0]
    return _code_file(link_of(request, campaign, found), found.name)


@campaign_view("GET", to_read=Role.EDITOR)
def open_link_code(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Send the QR code of the open link."""
    return _code_file(arrival_url(request, campaign), campaign.name)


def _code_file(link: str, title: str) -> HttpResponse:
    response = HttpResponse(draw_file(link, title=title), content_type="image/svg+xml")
    return as_file(response, f"{slugify(title) or 'link'}-qr-code.svg")


def _inline(link: str) -> SafeString:
    """Return the QR code of a link as a part of a page."""
    return mark_safe(draw_inline(link))  # modules of a code: nothing of the link is in it as text


def link_of(request: HttpRequest, campaign: Campaign, rater: InvitedRater) -> str:
    """Return the absolute address of a rater's link."""
    return f"{arrival_url(request, campaign)}?{rater.query}"


def arrival_url(request: HttpRequest, campaign: Campaign) -> str:
    """Return the absolute address at which workers arrive."""
    return request.build_absolute_uri(reverse("rate:welcome", args=[campaign.public_id]))
