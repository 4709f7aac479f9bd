"""Archiving a campaign, and deleting it."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render

from campaigns.forms.campaigns import ArchiveForm, DeleteForm
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, url_of
from campaigns.queries import Role, find_deletion_by
from campaigns.services.deletion import count_contents, refusals_of, request_deletion, warnings_of
from campaigns.services.lifecycle import archive_campaign, unarchive_campaign
from campaigns.views.access import back_to, campaign_view, render_form
from campaigns.views.autosave import sent
from campaigns.views.settings import show_settings, to_settings
from evalsite.accounts.requests import SignedInRequest
from evalsite.jobs.queries import job_state
from evalsite.lib.errors import CONFLICT, DomainError


def archive(request: SignedInRequest, public_id: UUID) -> HttpResponseBase:
    """Show the page, or go on to the list of campaigns where the user has just deleted this one."""
    try:
        return _archive(request, public_id)
    except Http404:
        if (deletion := find_deletion_by(request.user, public_id)) is None:
            raise
        messages.success(request, f"“{deletion.name}” was deleted.")
        return redirect("campaigns:list")


@campaign_view("GET", "POST", to_change=Role.OWNER, refused=back_to("campaigns:settings"), while_deleting=True)
def _archive(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the settings; archive or unarchive; of a campaign that is being deleted, show how far that is."""
    if campaign.is_being_deleted:
        job = campaign.deletion_job
        # Asked for by the job's own address: that of the campaign goes with it.
        is_mine = job is not None and job.owner_id == request.user.pk
        context = campaign_context(campaign, "settings") | {
            "job": job,
            "job_state": job_state(job) if job and is_mine else None,
        }
        return render(request, "campaigns/deleting.html", context | {"done_url": request.path})
    form = ArchiveForm(sent(request))
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["is_archived"]:
            archive_campaign(campaign=campaign)
            messages.success(request, f"“{campaign.name}” is archived. Nothing was deleted.")
            return redirect("campaigns:list")
        unarchive_campaign(campaign=campaign)
        messages.success(request, f"“{campaign.name}” is in the list again.")
        return to_settings(campaign, "archive")
    return show_settings(request, campaign)


@campaign_view("GET", "POST", to_read=Role.OWNER, to_change=Role.OWNER)
def delete(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Say what goes with a campaign and what stays, and delete it."""
    form, error = DeleteForm(sent(request)), None
    if request.method == "POST" and form.is_valid():
        try:
            job = request_deletion(campaign=campaign, user=request.user, name=form.cleaned_data["name"])
        except DomainError as refused:
            if refused.code == "wrong_name":
                form.add_error("name", refused.message)
            else:
                error = refused
        else:
            if job:
                return redirect("campaigns:archive", campaign.public_id)
            messages.success(request, f"“{campaign.name}” was deleted.")
            return redirect("campaigns:list")
    context = campaign_context(campaign, "settings") | {
        "form": form,
        "contents": count_contents(campaign),
        "refusals": refusals_of(campaign),
        "warnings": warnings_of(campaign),
        "refused": error,
        "export_url": url_of(campaign, "monitoring:export"),
        "results_url": url_of(campaign, "analysis:campaign_results"),
        "payments_url": url_of(campaign, "crowd:payments") if campaign.crowd_platform.has_account else None,
    }
    response = render_form(request, "campaigns/delete.html", context)
    if error:
        response.status_code = CONFLICT
    return response
