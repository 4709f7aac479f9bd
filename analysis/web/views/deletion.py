"""Deleting a ratings file with its analyses, or one analysis, and taking that back."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.web.navigation import result_url
from analysis.web.queries import ratings_files as queries
from analysis.web.services.deletion import delete_ratings_file, delete_run, restore_results
from campaigns.models import Campaign
from campaigns.queries import Role, being_deleted, get_campaign_for
from evalsite.accounts.models import User
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.acts import note_refusal
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import restore_rows, undoable, undoes
from evalsite.undo.models import Act

ROWS, _RESULTS = "analysis.rows", "analysis.results"
"""The kind of acts that deleted rows and nothing else: of plans, of scores of metrics."""


def public_id_of(campaign: Campaign | None) -> UUID | None:
    """Return the public id of a campaign; None for none."""
    return campaign.public_id if campaign else None


@require_POST
def ratings_file(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Delete a ratings file with its analyses."""
    file = queries.get_ratings_file_for(request.user, ratings_file_id, to_own=True)
    page = reverse("analysis:ratings")
    if file.campaign:
        page = reverse("analysis:campaign_results", args=[file.campaign.public_id])
    try:
        with undoable(request, _RESULTS, page=page, campaign=public_id_of(file.campaign)) as act:
            delete_ratings_file(ratings_file=file, user=request.user, act=act)
            act.words = f"“{file.title}” was deleted with its analyses."
    except DomainError as error:
        return _refuse(request, error, reverse("analysis:ratings_file", args=[file.pk]))
    return redirect(page)


@require_POST
def run(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Delete an analysis."""
    found = queries.get_run_for(request.user, run_id, to_own=True)
    page = reverse("analysis:ratings_file", args=[found.ratings_file_id])
    try:
        with undoable(request, _RESULTS, page=page, campaign=public_id_of(found.ratings_file.campaign)) as act:
            delete_run(run=found, user=request.user, act=act)
            act.words = f"The analysis of {found.created_at:%Y-%m-%d %H:%M} was deleted. The ratings stay."
    except DomainError as error:
        return _refuse(request, error, result_url(found))
    return redirect(page)


def _refuse(request: SignedInRequest, error: DomainError, page: str) -> HttpResponse:
    messages.error(request, error.message)
    note_refusal()
    return redirect(page)


@undoes(_RESULTS)
def _restore_results(user: User, act: Act) -> None:
    _check(user, act, Role.OWNER)
    restore_results(act=act)


@undoes(ROWS)
def _restore_rows(user: User, act: Act) -> None:
    _check(user, act, Role.EDITOR)
    restore_rows(act)


def _check(user: User, act: Act, role: Role) -> None:
    """Refuse who may no longer do this in the campaign; what has none is the user's own."""
    if act.campaign and get_campaign_for(user, act.campaign, role).is_being_deleted:
        raise being_deleted()
