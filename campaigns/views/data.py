"""Sources and outputs: what is there, uploading files, saying what their columns mean, importing them."""

from pathlib import Path
from typing import Any, cast, get_args
from uuid import UUID

from django.conf import settings as django_settings
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header

from campaigns.checklist import blanks_of
from campaigns.contracts.protocol import Screen
from campaigns.data_queries import SOURCES_PER_PAGE, count_missing, get_upload_of, list_sources, list_uploads, texts_of
from campaigns.formats import get_format
from campaigns.forms.data import ColumnsForm, UploadForm
from campaigns.forms.design import raters_form
from campaigns.importing.examples import Shape, example_csv, example_table
from campaigns.importing.layout import FileLayout
from campaigns.models import Campaign, Upload
from campaigns.navigation import campaign_context, job_progress
from campaigns.proposals import pace_of
from campaigns.protocols import get_protocol
from campaigns.queries import Role, contents_of
from campaigns.services.campaigns import fill_in
from campaigns.services.imports import (
    delete_upload,
    map_columns,
    read_as,
    restore_upload,
    start_import,
    upload_outputs,
)
from campaigns.stored_files import read_file
from campaigns.views.access import back_to, campaign_view, only_outputs, render_form, undoable_in, undoes_in
from campaigns.views.autosave import sent
from campaigns.views.encoding import ask_encoding
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Problem, TableError, preview
from evalsite.undo.models import Act

_PREVIEW_ROWS = 3


@campaign_view("GET", check=only_outputs)
def data(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what the campaign holds, and which files were uploaded."""
    screen, contents = Screen.from_json(campaign.screen), contents_of(campaign)
    page = Paginator(list_sources(campaign), SOURCES_PER_PAGE).get_page(request.GET.get("page"))
    context = campaign_context(campaign, "data") | {
        "contents": contents,
        "systems": count_missing(campaign, n_sources=contents.n_sources),
        "page_obj": page,
        "sources": [(source, texts_of(source, screen)) for source in page],
        "output_label": screen.output_label,
        "output_format": screen.output_format,
        "uploads": list_uploads(campaign),
    }
    return render(request, "campaigns/data.html", context)


@campaign_view("GET", "POST", to_read=Role.EDITOR, check=only_outputs)
def upload(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Take a file of sources and outputs in."""
    form, screen = UploadForm(sent(request), request.FILES or None), Screen.from_json(campaign.screen)
    context = campaign_context(campaign, "data") | {
        "form": form,
        "max_mb": django_settings.MAX_UPLOAD_MB,
        "examples": [(shape, *example_table(screen, shape)) for shape in get_args(Shape)],
        "hints": [hint for slug in screen.formats if (hint := get_format(slug).hint)],
    }
    if request.method == "POST" and form.is_valid():
        try:
            first, *more = form.cleaned_data["file"]
            kept = upload_outputs(campaign=campaign, user=request.user, upload=first, more=more)
            return redirect("campaigns:columns", campaign.public_id, kept.pk)
        except TableError as error:
            context |= {"problems": error.faults}
        except DomainError as error:
            form.add_error(None, error.message)
    return render_form(request, "campaigns/upload.html", context)


@campaign_view("GET", "POST")
def columns(request: SignedInRequest, campaign: Campaign, upload_id: UUID) -> HttpResponse:
    """Say what an uploaded file's columns mean and import it; then its progress, and what is wrong with it."""
    found = get_upload_of(campaign, upload_id)
    layout = FileLayout.from_json(found.layout)
    if not layout.encoding:
        context = campaign_context(campaign, "data") | {"upload": found}
        return ask_encoding(
            request,
            "campaigns/encoding.html",
            context,
            path=found.file.path,
            name=found.name,
            answer=lambda encoding: read_as(upload=found, encoding=encoding),
        )
    form = ColumnsForm(
        layout,
        Screen.from_json(campaign.screen),
        sent(request),
        is_open=get_protocol(campaign.protocol).has_open_screen,
        blanks=blanks_of(campaign) if not campaign.is_launched else (),
        can_add=not layout.has_hits and not campaign.has_given_hits and campaign.sources.exists(),
    )
    if request.method == "POST" and form.is_valid():
        try:
            fill_in(campaign=campaign, words=form.words())
            if not layout.has_hits:
                map_columns(upload=found, layout=form.layout())
            if "import" in request.POST:
                start_import(upload=found, user=request.user, mode=form.cleaned_data.get("mode") or "replace")
            return redirect("campaigns:columns", campaign.public_id, upload_id)
        except DomainError as error:
            form.add_error(None, error.message)
    context = _columns_page(campaign, found, form)
    return render_form(request, "campaigns/columns.html", context)


@campaign_view("POST", to_change=Role.OWNER, refused=back_to("campaigns:columns", "upload_id"))
def delete(request: SignedInRequest, campaign: Campaign, upload_id: UUID) -> HttpResponse:
    """Delete an uploaded file."""
    found = get_upload_of(campaign, upload_id)
    with undoable_in(request, campaign, "campaigns.upload", "campaigns:data") as act:
        delete_upload(upload=found, user=request.user, act=act)
        act.words = f"“{found.name}” was deleted. What was imported from it stays."
    return redirect("campaigns:data", campaign.public_id)


@undoes_in("campaigns.upload", role=Role.OWNER)
def _restore(campaign: Campaign, act: Act) -> None:
    restore_upload(campaign=campaign, act=act)


def _columns_page(campaign: Campaign, found: Upload, form: ColumnsForm) -> dict[str, Any]:
    """Return what the page of one uploaded file shows."""
    state, layout = found.state, FileLayout.from_json(found.layout)
    context = campaign_context(campaign, "data") | {"upload": found, "form": form, "state": state, "layout": layout}
    if found.problems:
        problems = [Problem(row, column, text, "") for row, column, text in found.problems["rows"]]
        context |= {"problems": problems, "n_problems": len(problems) + found.problems["n_more"]}
    if found.job and state in ("importing", "failed"):
        context["job_state"] = job_progress(campaign, found.job)
    if state == "imported" and context["can_change"] and not campaign.has_given_hits:
        context["contents"] = contents_of(campaign)
        context["raters_form"] = raters_form(campaign, pace_of(campaign))
    if state == "importing" or layout.has_hits:
        return context
    try:
        sample = preview(Path(found.file.path), found.name, _PREVIEW_ROWS, encoding=layout.encoding)
        context["rows"] = list(form.rows(sample.rows, sample.columns))
        cells = [dict(zip(sample.columns, row, strict=False)) for row in sample.rows]
        context["items"] = list(filter(None, layout.items(Screen.from_json(campaign.screen), cells)))
    except TableError as error:
        context |= {"problems": error.faults, "is_lost": True}
    return context


@campaign_view("GET", "HEAD")
def stored_file(request: SignedInRequest, campaign: Campaign, digest: str) -> HttpResponse:
    """Send a picture of the campaign as it is kept."""
    try:
        content = read_file(campaign, digest)
    except FileNotFoundError:
        raise Http404("There is no such file.") from None
    response = HttpResponse(content, content_type="image/webp")
    response["Cache-Control"] = "private, max-age=3600"
    return response


@campaign_view("GET")
def example(request: SignedInRequest, campaign: Campaign, shape: str) -> HttpResponse:
    """Send a small file in one of the two shapes, with the fields of the campaign."""
    if shape not in get_args(Shape):
        raise Http404
    table = example_csv(Screen.from_json(campaign.screen), cast(Shape, shape))
    response = HttpResponse(table, content_type="text/csv; charset=utf-8")
    name = f"example-{campaign.protocol}-{shape}.csv"
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    return response
