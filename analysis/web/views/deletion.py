"""Deleting a ratings file with its analyses, or one analysis: what goes, what stays, and the button."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from analysis.models import RatingsFile
from analysis.web.navigation import crumbs
from analysis.web.queries import ratings_files as queries
from analysis.web.services.deletion import delete_ratings_file, delete_run
from campaigns.views.access import render_form
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import CONFLICT, DomainError


@require_http_methods(["GET", "POST"])
def ratings_file(request: SignedInRequest, ratings_file_id: UUID) -> HttpResponse:
    """Say what goes with a ratings file, and delete it."""
    file = queries.get_ratings_file_for(request.user, ratings_file_id, to_own=True)

    def delete() -> HttpResponse:
        delete_ratings_file(ratings_file=file, user=request.user)
        messages.success(request, f"“{file.title}” was deleted with its analyses.")
        if file.campaign:
            return redirect("analysis:campaign_results", file.campaign.public_id)
        return redirect("analysis:ratings")

    context = {"n_runs": queries.list_runs_of(file).count()}
    return _confirm(request, delete, file, reverse("analysis:ratings_file", args=[file.pk]), context)


@require_http_methods(["GET", "POST"])
def run(request: SignedInRequest, run_id: UUID) -> HttpResponse:
    """Say what goes with an analysis, and delete it."""
    found = queries.get_run_for(request.user, run_id, to_own=True)

    def delete() -> HttpResponse:
        delete_run(run=found, user=request.user)
        messages.success(request, "The analysis was deleted.")
        return redirect("analysis:ratings_file", found.ratings_file_id)

    context = {"run": found, "n_changed": queries.count_changed_from(found)}
    return _confirm(request, delete, found.ratings_file, reverse("analysis:run", args=[found.pk]), context)


def _confirm(
    request: SignedInRequest, delete: Callable[[], HttpResponse], file: RatingsFile, back: str, context: dict[str, Any]
) -> HttpResponse:
    """Delete if that was confirmed; show the page that asks, and why nothing was deleted if that was refused."""
    refused = None
    if request.method == "POST":
        try:
            return delete()
        except DomainError as error:
            refused = error
    context |= {"file": file, "refused": refused, "cancel_url": back, "crumbs": crumbs(file)}
    response = render_form(request, "analysis/delete.html", context, is_refused=False)
    response.status_code = CONFLICT if refused else 200
    return response
