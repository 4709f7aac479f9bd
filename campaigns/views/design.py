"""What HITs consist of: setting it, building HITs, looking at them."""

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from campaigns.building.proposals import Proposal
from campaigns.checklist import passing_of
from campaigns.design.certainty import ASSUMED
from campaigns.design.raters import Raters
from campaigns.design.worker_test import NO_TEST
from campaigns.forms.design import DesignForm, RatersForm, raters_form
from campaigns.hit_queries import cells_of, example_cells, get_estimate, list_items
from campaigns.models import Campaign
from campaigns.navigation import campaign_context, job_progress, url_of
from campaigns.proposals import expected_of, get_proposal, pace_of
from campaigns.queries import count_tested
from campaigns.services.design import change_design, draw_seed, preset_of, use_design, use_preset, use_proposal
from campaigns.services.hits import build_hits, keep_given_hits, use_own_hits
from campaigns.views.access import campaign_view, render_form, undoable_in, undoes_in
from campaigns.views.autosave import save_form, sent
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError
from evalsite.undo.acts import changed_since
from evalsite.undo.models import Act

# What of the page follows from the fields: the totals, the buttons, and the campaign's status in the heading.
_FOLLOWS = "#estimate,#design-buttons,h1"


def _page(
    request: SignedInRequest, campaign: Campaign, error: DomainError | None = None, form: DesignForm | None = None
) -> HttpResponse:
    """Show the design, with as many queries for any number of HITs; `error` is what a button was answered."""
    form = form or DesignForm(campaign)
    context = campaign_context(campaign, "design")
    if context["can_change"] and not campaign.has_given_hits:
        context |= _raters(request, campaign)
    n_hits, job, preset = campaign.hits.count(), campaign.build_job, preset_of(campaign)
    is_preset = campaign.has_given_hits or all(getattr(campaign, name) == value for name, value in preset.items())
    if campaign.is_launched or (job and job.status == job.Status.SUCCEEDED):
        job = None
    context |= {
        "form": form,
        "refused": error,
        "cells": example_cells(campaign),
        "preset": preset if context["can_change"] and not is_preset else None,
        "n_hits": n_hits,
        "is_stale": bool(n_hits) and campaign.status == Campaign.Status.DRAFT,
        "data_url": url_of(campaign, "campaigns:chatbots" if campaign.is_live else "campaigns:data"),
        "build_job": job,
        "done_url": url_of(campaign, "campaigns:campaign") if "then" in request.GET else None,
        "progress": job_progress(campaign, job) if job and not job.is_finished else None,
    }
    n_planned = n_hits
    try:
        context["estimate"] = get_estimate(campaign)
        n_planned = context["estimate"].n_hits
        context |= {"certainty": expected_of(campaign, context["estimate"]), "has_certainty": True}
    except DomainError as problem:
        context["problem"] = problem
    if n_tested := count_tested(campaign):
        context["unpassable"] = passing_of(campaign, n_hits=n_planned, n_tested=n_tested).problem
    form.freeze(context)
    return render_form(request, "campaigns/design.html", context)


def _raters(request: SignedInRequest, campaign: Campaign) -> dict[str, Any]:
    """Return the form of who rates and, if it was sent, the design that fits them or why there is none."""
    pace = pace_of(campaign)
    form = raters_form(campaign, pace, request.GET if "raters" in request.GET else None)
    context: dict[str, Any] = {"raters_form": form, "assumed": ASSUMED}
    if form.is_bound and form.is_valid():
        try:
            context["proposal"] = _propose(campaign, form, pace.seconds)
        except DomainError as error:
            context["no_proposal"] = error
    return context


def _propose(campaign: Campaign, form: RatersForm, seconds: float) -> Proposal:
    return get_proposal(campaign, raters=Raters(form.cleaned_data["raters"]), time=form.time(seconds))


@campaign_view("GET", "POST")
def design(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show the design, and change of it what was sent; `?then=launch`: once HITs are built, go on to the launch."""
    if request.method == "GET" and "then" in request.GET and campaign.status == Campaign.Status.READY:
        return redirect("campaigns:campaign", campaign.public_id)
    form = DesignForm(campaign, sent(request))
    if answer := save_form(
        request, form, lambda changes: change_design(campaign=campaign, changes=changes), reload=_FOLLOWS
    ):
        return answer
    return _page(request, campaign, form=form)


@campaign_view("POST", refused=_page)
def build(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Build the HITs."""
    build_hits(campaign=campaign, user=request.user)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def proposal(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Take the design that fits raters and their time; perhaps build HITs."""
    pace = pace_of(campaign)
    form = raters_form(campaign, pace, request.POST)
    if not form.is_valid():
        raise DomainError("bad_raters", "Say who rates, how many they are and how many minutes each has.")
    found = _propose(campaign, form, pace.seconds)
    _replace(request, campaign, lambda: use_proposal(campaign=campaign, proposal=found), "The proposed design is set.")
    page = reverse("campaigns:design", args=[campaign.public_id])
    if "build" not in request.POST:
        return redirect(page)
    build_hits(campaign=campaign, user=request.user)
    return redirect(f"{page}?then=launch")


def _replace(
    request: SignedInRequest, campaign: Campaign, replace: Callable[[], Mapping[str, Any]], words: str
) -> None:
    """Replace fields of the design by a call that returns what they were."""
    with undoable_in(request, campaign, "campaigns.design", "campaigns:design") as act:
        before = replace()
        after = Campaign.objects.values(*before).get(pk=campaign.pk)
        if after != before:
            act.values, act.words = {"before": before, "after": after}, words


@undoes_in("campaigns.design")
def _former_design(campaign: Campaign, act: Act) -> None:
    if any(getattr(campaign, name) != value for name, value in act.values["after"].items()):
        raise changed_since("The design")
    use_design(campaign=campaign, fields=act.values["before"])


@campaign_view("POST", refused=_page)
def preset(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Take the protocol's design."""
    _replace(request, campaign, lambda: use_preset(campaign=campaign), "The protocol’s design is set.")
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def seed(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Draw a new seed."""
    _replace(request, campaign, lambda: draw_seed(campaign=campaign), "A new seed is drawn.")
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def no_worker_test(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Let every worker count, without a worker test."""
    words = "Every worker counts: there is no worker test."
    _replace(request, campaign, lambda: use_design(campaign=campaign, fields={"worker_test": NO_TEST}), words)
    return redirect("campaigns:design", campaign.public_id)


@campaign_view("POST", refused=_page)
def own_hits(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Give up the HITs that came with a file."""
    with undoable_in(request, campaign, "campaigns.own_hits", "campaigns:design") as act:
        if before := use_own_hits(campaign=campaign):
            act.values = before
            act.words = "The HITs of the file are replaced when you build new ones: the design below decides."
    return redirect("campaigns:design", campaign.public_id)


@undoes_in("campaigns.own_hits")
def _given_hits(campaign: Campaign, act: Act) -> None:
    keep_given_hits(campaign=campaign, before=act.values)


@campaign_view("GET")
def hit(request: SignedInRequest, campaign: Campaign, number: int) -> HttpResponse:
    """Show the items of one HIT to the researcher."""
    items, n_hits = list_items(campaign, number), campaign.hits.count()
    context = campaign_context(campaign, "design") | {
        "number": number,
        "n_hits": n_hits,
        "previous": number - 1 if number > 1 else None,
        "next": number + 1 if number < n_hits else None,
        "items": items,
        "cells": cells_of(items),
        "is_stale": campaign.status == Campaign.Status.DRAFT,
    }
    return render(request, "campaigns/hit.html", context)
