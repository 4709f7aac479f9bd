"""Creating a campaign: a protocol to choose, a file to start from, a campaign, an example or a design file to copy."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.choosing import list_cards
from campaigns.data_queries import get_upload_of
from campaigns.forms.campaigns import ChooseForm, CopyForm, NewForm
from campaigns.forms.data import StartForm
from campaigns.forms.design_file import DesignFileForm
from campaigns.importing.guessing import guess_written
from campaigns.importing.layout import FileLayout
from campaigns.models import Campaign, Upload
from campaigns.queries import Role, get_campaign_for, list_campaigns_for
from campaigns.services.campaigns import create_campaign
from campaigns.services.copies import create_from_design, duplicate_campaign
from campaigns.services.examples import create_from_example
from campaigns.services.imports import choose_protocol, start_from_file
from campaigns.views.access import campaign_view, render_form
from campaigns.views.autosave import sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import WINDOWS_1252, Preview, TableError, preview

_COPIED = 50


@require_http_methods(["GET", "POST"])
def new(request: SignedInRequest) -> HttpResponse:
    """Choose a protocol and make a draft of it."""
    form = NewForm(sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            campaign = create_campaign(owner=request.user, **form.cleaned_data)
        except DomainError as error:
            form.add_error(None, error.message)
        else:
            return redirect("campaigns:chatbots" if campaign.is_live else "campaigns:upload", campaign.public_id)
    return _page(request, form=form)


@require_POST
def from_file(request: SignedInRequest) -> HttpResponse:
    """Take a file of outputs in, and make a draft of it whose protocol is chosen next."""
    form, problems = StartForm(request.POST, request.FILES), None
    if form.is_valid():
        try:
            first, *more = form.cleaned_data["file"]
            form_id = form.cleaned_data["form_id"]
            upload = start_from_file(owner=request.user, upload=first, more=more, form_id=form_id)
            return redirect("campaigns:protocol", upload.campaign.public_id, upload.pk)
        except TableError as error:
            problems = error.faults
        except DomainError as error:
            form.add_error(None, error.message)
    return _page(request, upload_form=form, problems=problems)


@require_POST
def copy(request: SignedInRequest) -> HttpResponse:
    """Copy a campaign that the user is a member of, or an example."""
    form = CopyForm(_copied(request), request.POST)
    if form.is_valid():
        example, public_id = form.example(), form.cleaned_data["public_id"]
        try:
            if example:
                campaign = create_from_example(owner=request.user, example=example, public_id=public_id)
            else:
                found = get_campaign_for(request.user, UUID(form.cleaned_data["copied"]))
                campaign = duplicate_campaign(
                    campaign=found, owner=request.user, as_replication=False, public_id=public_id
                )
            return redirect("campaigns:campaign", campaign.public_id)
        except DomainError as error:
            form.add_error(None, error.message)
    return _page(request, copy_form=form)


@require_POST
def from_design(request: SignedInRequest) -> HttpResponse:
    """Make a draft of a design file, of this site or another."""
    form = DesignFileForm(request.POST, request.FILES, auto_id="design_%s")
    if form.is_valid():
        design, public_id = form.cleaned_data["file"], form.cleaned_data["public_id"]
        try:
            campaign = create_from_design(owner=request.user, design=design, public_id=public_id)
            return redirect("campaigns:campaign", campaign.public_id)
        except DomainError as error:
            form.add_error("file", error.message)
    return _page(request, problems=form.problems) if form.problems else _page(request, design_form=form)


@campaign_view("GET", "POST", to_read=Role.EDITOR)
def protocol(request: SignedInRequest, campaign: Campaign, upload_id: UUID) -> HttpResponse:
    """Choose the protocol of a draft that began with a file."""
    upload, form = get_upload_of(campaign, upload_id), NewForm(sent(request))
    if request.method == "POST" and form.is_valid():
        try:
            choose_protocol(upload=upload, protocol=form.cleaned_data["protocol"], name=form.cleaned_data["name"])
            return redirect("campaigns:columns", campaign.public_id, upload.pk)
        except DomainError as error:
            form.add_error(None, error.message)
    return _page(request, form=form, upload=upload)


def _page(request: SignedInRequest, upload: Upload | None = None, **refused: Any) -> HttpResponse:
    """Show what there is to choose; `refused` are forms that were not accepted, and problems of a file."""
    data = request.GET.copy()
    layout = FileLayout.from_json(upload.layout) if upload else None
    seen = _preview(upload, layout) if upload and layout and not layout.has_hits else None
    if seen:
        data.setdefault("written", guess_written(seen) or "")
    choose = ChooseForm(data)
    wanted = choose.cleaned_data if choose.is_valid() else {}
    cards = list_cards(**wanted, preview=seen, is_batch=bool(layout and layout.has_hits))
    context = {
        "upload": upload,
        "choose": choose,
        "fitting": [card for card in cards if not card.reason],
        "others": [card for card in cards if card.reason],
        "max_mb": django_settings.MAX_UPLOAD_MB,
        "form": NewForm(),
        "upload_form": StartForm(),
        "copy_form": CopyForm(_copied(request)),
        "design_form": DesignFileForm(auto_id="design_%s"),
    }
    is_refused = request.method == "POST" or bool(choose.errors)
    return render_form(request, "campaigns/new.html", context | refused, is_refused=is_refused)


def _preview(upload: Upload, layout: FileLayout) -> Preview | None:
    """Return the beginning of an uploaded table; None if it cannot be read any more."""
    try:
        return preview(Path(upload.file.path), upload.name, encoding=layout.encoding or WINDOWS_1252)
    except TableError:
        return None


def _copied(request: SignedInRequest) -> list[Campaign]:
    """Return the campaigns that may be copied, those first in which something happened last."""
    memberships = list_campaigns_for(request.user, sort="activity")[:_COPIED]
    return [each.campaign for each in memberships if not each.campaign.is_being_deleted]
