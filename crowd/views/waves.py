"""Publishing HITs in waves: what the next one costs, publishing it, interrupting it, its progress."""

from typing import Any
from uuid import uuid4

from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from campaigns.models import Campaign
from campaigns.navigation import campaign_context
from campaigns.queries import Role
from campaigns.views.access import campaign_view, render_form
from crowd.forms.waves import PublishForm, WaveForm, site_url_of
from crowd.queries.planning import get_wave_plan
from crowd.queries.publishing import count_hits, get_wave_of
from crowd.services.publishing import plan_wave, resume_wave, stop_wave
from crowd.views.platform import progress_shown, show_refused, url_of
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import DomainError


@campaign_view("GET", to_read=Role.EDITOR)
def plan(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Show what the next HITs cost and what would be published. Nothing is."""
    return _show_plan(request, campaign, request.GET if "n_hits" in request.GET else None)


def _refuse(request: SignedInRequest, campaign: Campaign, error: DomainError) -> HttpResponse:
    return _show_plan(request, campaign, request.POST, refused=error)


@campaign_view("POST", refused=_refuse)
def publish(request: SignedInRequest, campaign: Campaign) -> HttpResponse:
    """Publish the HITs whose cost was shown and agreed to."""
    form = PublishForm(request.POST)
    if not form.is_valid():
        raise DomainError("bad_form", "The form did not arrive as it was shown. Check the cost again.")
    wave = plan_wave(
        campaign=campaign,
        site_url=site_url_of(request),
        is_confirmed="is_confirmed" in request.POST,
        user=request.user,
        **form.cleaned_data,
    )
    messages.success(request, f"Wave {wave.number} is being published.")
    return redirect(f"{reverse('crowd:platform', args=[campaign.public_id])}#waves")


def _show_plan(
    request: SignedInRequest, campaign: Campaign, data: object, refused: DomainError | None = None
) -> HttpResponse:
    """Show the cost of as many HITs as `data` asks for, or of a first wave."""
    totals = count_hits(campaign)
    form = WaveForm(totals.n_left, data)
    asked = form.cleaned_data["n_hits"] if form.is_bound and form.is_valid() else None
    n_hits = asked if form.is_bound else form["n_hits"].initial
    site_url = site_url_of(request)
    plan = get_wave_plan(campaign, totals=totals, n_hits=n_hits, site_url=site_url)
    shown: dict[str, Any] = {"token": uuid4(), "n_hits": n_hits}
    if plan.preview:
        shown["max_cost"] = plan.preview.cost.total
    context = (
        campaign_context(campaign, "platform")
        | vars(plan)
        | {
            "platform": campaign.crowd_platform,
            "wave_form": form,
            "publish_form": PublishForm(initial=shown, auto_id=False),
            "refused": refused,
            "site_url": site_url,
            "is_https": site_url.startswith("https://"),
            "wage": plan.hourly_reward,
        }
    )
    is_bad = refused or (form.is_bound and not form.is_valid())
    return render_form(request, "crowd/plan.html", context, is_refused=bool(is_bad))


@campaign_view("POST", refused=show_refused)
def stop(request: SignedInRequest, campaign: Campaign, wave_id: int) -> HttpResponse:
    """Interrupt the publishing of a wave."""
    stop_wave(wave=get_wave_of(campaign, wave_id))
    return redirect(url_of(campaign, "waves"))


@campaign_view("POST", refused=show_refused)
def resume(request: SignedInRequest, campaign: Campaign, wave_id: int) -> HttpResponse:
    """Go on publishing a wave."""
    resume_wave(wave=get_wave_of(campaign, wave_id))
    return redirect(url_of(campaign, "waves"))


@never_cache
@campaign_view("GET", "HEAD")
def wave_progress(request: SignedInRequest, campaign: Campaign, wave_id: int) -> HttpResponse:
    """Answer with the state of the job that publishes a wave, for every member."""
    return JsonResponse(progress_shown(campaign, get_wave_of(campaign, wave_id)))
