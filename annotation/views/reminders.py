"""Reminding invited raters by mail."""

from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from annotation.raters.forms import RaterFilter, ReminderForm
from annotation.raters.queries import InvitedRater, plan_reminder
from annotation.services.reminders import MAIL_SETTINGS, remind_raters, study_of, write_reminder
from annotation.views.raters import arrival_url, link_of
from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role
from campaigns.views.access import campaign_view, render_form
from evalsite.accounts.attempts import is_mail_set_up
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.env import setting_line
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_MAILS_SHOWN = 60


@campaign_view("GET", "POST", to_read=Role.EDITOR)
def remind(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show whom a reminder reaches, its text and a preview; sent, queue it."""
    chosen = RaterFilter(request.GET)
    if not chosen.is_valid():  # else it would reach others than those that were asked for
        return redirect("monitoring:raters_remind", campaign.public_id)
    filters = {"state": "", "search": ""} | chosen.filters()
    is_sent = request.method == "POST"
    form = ReminderForm(request.POST) if is_sent else ReminderForm(initial={"token": uuid4()})
    is_preview = is_sent and "preview" in request.POST
    url, error = arrival_url(request, campaign), None
    is_valid = not is_sent or form.is_valid()
    if is_sent and is_valid and not is_preview:
        try:
            reminder = remind_raters(
                campaign=campaign, user=request.user, arrival_url=url, **form.cleaned_data, **filters
            )
            n = counted(len(reminder.invitations), "rater")
            messages.success(request, f"A reminder is being sent to {n}.")
            return redirect("monitoring:raters", campaign.public_id)
        except DomainError as refused:
            error = refused
    plan = plan_reminder(campaign, now=timezone.now(), **filters)
    context = campaign_context(campaign, "raters") | {
        "form": form,
        "filters": chosen,
        "is_filtered": bool(filters["state"] or filters["search"]),
        "plan": plan,
        "study": study_of(campaign),
        "error": error,
        "has_mail": is_mail_set_up(),
        "mails": [(rater, link_of(request, campaign, rater)) for rater in plan.reached[:_MAILS_SHOWN]],
        "mail_settings": [setting_line(*setting) for setting in MAIL_SETTINGS],
        "preview": _preview(campaign, form, plan.reached[0], url) if plan.reached and is_valid else None,
    }
    return render_form(
        request, "monitoring/raters_remind.html", context, is_refused=is_sent and not (is_preview and is_valid)
    )


def _preview(campaign: Campaign, form: ReminderForm, rater: InvitedRater, url: str) -> dict[str, str]:
    """Return the mail that a rater would get."""
    subject, text = write_reminder(
        campaign, rater, subject=form["subject"].value(), text=form["text"].value(), arrival_url=url
    )
    return {"to": rater.email, "name": rater.name, "subject": subject, "text": text}
