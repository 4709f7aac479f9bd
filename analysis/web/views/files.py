"""The pages of ratings files: the list, uploading, what their columns mean, how they are to be analysed."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings as django_settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from analysis.data.ratings.columns import further_scores
from analysis.data.ratings.scales import FULL
from analysis.data.ratings.scales import words as scale_words
from analysis.methods import get_method
from analysis.methods.settings import (
    CUSTOM,
    LONGEST_NAME,
    from_json,
)
from analysis.web.forms.runs import CriteriaFormSet, MappingForm, ProtocolForm, ScaleForm, criteria_initial
from analysis.web.forms.uploads import UploadForm
from analysis.web.navigation import crumbs, result_url
from analysis.web.proposals import find_file_protocol, propose_settings
from analysis.web.queries import ratings_files as queries
from analysis.web.services.ratings_files import map_columns, read_as, upload_ratings
from analysis.web.services.runs import start_run
from campaigns.protocols import list_protocols
from campaigns.views.access import render_form
from campaigns.views.autosave import sent
from campaigns.views.encoding import ask_encoding
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError, preview

_FILES_PER_PAGE, _PREVIEW_ROWS = 25, 8


@require_GET
def ratings(request: SignedInRequest) -> HttpResponse:
    """List the user's ratings files."""
    files = queries.list_ratings_files_for(request.user)
    page = Paginator(files, _FILES_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "analysis/ratings.html", {"page_obj": page})


@require_http_methods(["GET", "POST"])
def upload(request: SignedInRequest) -> HttpResponse:
    """Take a ratings file in."""
    form = UploadForm(sent(request), request.FILES or None)
    context: dict[str, Any] = {"form": form, "max_mb": django_settings.MAX_UPLOAD_MB}
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            file = upload_ratings(owner=request.user, upload=data.pop("file"), **data)
            if recognised := find_file_protocol(file):
                return redirect(f"{reverse('analysis:protocol', args=[file.pk])}?protocol={recognised}")
            return redirect("analysis:columns", file.pk)
        except TableError as error:
            context |= {"problems": error.faults}
        except DomainError as error:
            places = {"bad_shape": "shape", "bad_twice": "twice", "unused_option": "items", "several_files": "more"}
            form.add_error(places.get(error.code, "columns"), error.message)
    return render_form(request, "analysis/upload.html", context | {"crumbs": crumbs()})


@require_GET
def ratings_file(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Show a ratings file and its runs."""
    file = queries.get_ratings_file_for(request.user, ratings_file_id)
    page = Paginator(queries.list_runs_of(file), _FILES_PER_PAGE).get_page(request.GET.get("page"))
    can_change = file.my_role != queries.Role.VIEWER
    context = {
        "file": file,
        "page_obj": page,
        "runs": page if can_change else queries.hide_excluded(page),
        "can_change": can_change,
        "is_owner": file.my_role == queries.Role.OWNER,
        "crumbs": crumbs(file)[:-1],
    }
    return render(request, "analysis/ratings_file.html", context)


@require_http_methods(["GET", "POST"])
def columns(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Say which column of the file is which."""
    file = queries.get_upload_for(request.user, ratings_file_id)
    context: dict[str, Any] = {"file": file, "crumbs": crumbs(file)}
    if not file.encoding:
        return ask_encoding(
            request,
            "analysis/encoding.html",
            context,
            path=file.file.path,
            name=file.name,
            answer=lambda encoding: read_as(ratings_file=file, encoding=encoding),
        )
    form = MappingForm(file.columns, sent(request), initial=file.mapping)
    is_sent = form.is_bound and form.is_valid()
    observed = queries.scale_doubt(file, form.chosen() if is_sent else file.mapping)
    scale = ScaleForm(observed, kept=file.scale)
    if is_sent:
        answer = ScaleForm(observed, request.POST)
        if not answer.is_answer():  # the scores of another column than those that were asked about
            form.add_error(None, "Choose the scale of the scores.")
        elif (scale := answer).is_valid():
            try:
                map_columns(ratings_file=file, mapping=form.chosen(), scale=scale.chosen())
                return redirect("analysis:protocol", file.pk)
            except DomainError as error:
                form.add_error(None, error.message)
    roles = form.roles()
    others = [each for each in list_protocols() if not get_method(each.method).has_criteria]
    context |= {"form": form, "scale": scale, "others": others}
    try:
        sample = preview(Path(file.file.path), file.name, _PREVIEW_ROWS, encoding=file.encoding)
        context["unclaimed"] = further_scores(sample, file.mapping)
        context |= {"sample": sample, "header": [(column, roles.get(column)) for column in sample.columns]}
    except TableError as error:
        context |= {"problems": error.faults}
    return render_form(request, "analysis/columns.html", context)


@require_http_methods(["GET", "POST"])
def protocol(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Choose a protocol, or edit it or an earlier run's, and start the analysis."""
    file = queries.get_ratings_file_for(request.user, ratings_file_id, to_change=True)
    if not file.encoding:
        return redirect("analysis:columns", file.pk)
    parent = queries.get_run_of(file, request.GET["run"]) if "run" in request.GET else None
    proposal = propose_settings(file, request.GET.get("protocol"), from_json(parent.settings) if parent else None)
    presets, found = proposal.presets, proposal.criteria
    method = get_method(presets.method)
    initial = ProtocolForm.initial_of(proposal.settings.to_json())
    form = ProtocolForm(method, sent(request), initial=initial, columns=queries.group_columns(file, method))
    rows = CriteriaFormSet(sent(request), initial=criteria_initial(presets), prefix="criteria")
    criteria = rows if method.has_criteria else None
    scale = queries.scale_of(file) if "scale" in method.takes else None
    if request.method == "POST" and form.is_valid() and (criteria is None or criteria.is_valid()):
        chosen = criteria.criteria(presets) if criteria else presets.criteria
        # It has the protocol's name only if its criteria are the protocol's.
        name = presets.protocol if chosen == presets.criteria else CUSTOM
        try:
            settings = replace(presets, protocol=name, criteria=chosen, **form.changes())
            settings = replace(settings, scale=scale) if file.campaign_id else settings.on_scale(scale)
            started = start_run(ratings_file=file, user=request.user, settings=settings, parent=parent)
            return redirect(result_url(started))
        except DomainError as error:
            form.add_error(None, error.message)
    context = {
        "file": file,
        "form": form,
        "criteria": criteria,
        "found": found,
        "refused": proposal.refused,
        "question": proposal.question,
        "candidates": proposal.candidates,
        "long": [name for name in presets.statements if name in found and len(name) > LONGEST_NAME],
        "longest_name": LONGEST_NAME,
        "scale": scale_words(file.scale) if file.scale and scale not in (None, FULL) else "",
        "protocols": list_protocols(),
        "chosen": presets.protocol,
        "cannot_test": proposal.cannot_test,
        "parent": parent,
        "crumbs": crumbs(file),
    }
    return render_form(request, "analysis/protocol.html", context)
