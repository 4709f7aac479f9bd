"""Publishing HITs in waves, and what is done to all that is published."""

from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe

from campaigns.models import Campaign
from campaigns.queries import Role, get_campaign_for
from crowd.forms.waves import PublishForm, WaveForm
from crowd.presenters.waves import plan_page, progress_shown
from crowd.queries.publishing import get_wave_of, unpublished_hits
from crowd.services.publishing import plan_wave, resume_wave, stop_wave
from crowd.views.platform import do, url_of
from evalsite.accounts.requests import SignedInRequest
from evalsite.lib.errors import UNPROCESSABLE, DomainError


def site_url(request: SignedInRequest) -> str:
    """Return the address at which workers reach this installation, without a slash at its end."""
    return settings.SITE_URL or request.build_absolute_uri("/").rstrip("/")


@require_GET
def plan(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Show what the next HITs cost and what would be published. Nothing is."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    return _show_plan(request, campaign, request.GET if "n_hits" in request.GET else None)


@require_POST
def publish(request: SignedInRequest, public_id: UUID) -> HttpResponse:
    """Publish the HITs whose cost was shown and agreed to."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    form = PublishForm(request.POST)
    if not form.is_valid():
        error = DomainError("bad_form", "The form did not arrive as it was shown. Look at the cost again.")
        return _show_plan(request, campaign, request.POST, refused=error)
    try:
        wave = plan_wave(
            campaign=campaign,
            n_hits=form.cleaned_data["n_hits"],
            token=form.cleaned_data["token"],
            site_url=site_url(request),
            max_cost=form.cleaned_data["max_cost"],
            is_confirmed="is_confirmed" in request.POST,
            user=request.user,
        )
    except DomainError as error:
        return _show_plan(request, campaign, request.POST, refused=error)
    messages.success(request, f"Wave {wave.number} is being published.")
    return redirect(url_of(campaign, "waves"))


def _show_plan(
    request: SignedInRequest, campaign: Campaign, data: object, refused: DomainError | None = None
) -> HttpResponse:
    """Show the cost of as many HITs as `data` asks for, or of a first wave."""
    n_left = unpublished_hits(campaign).count()
    form = WaveForm(n_left, data)
    asked = form.cleaned_data["n_hits"] if form.is_bound and form.is_valid() else None
    n_hits = form["n_hits"].initial if not form.is_bound else asked
    context = plan_page(campaign, n_hits=n_hits or 0, n_left=n_left, site_url=site_url(request))
    shown = {"token": uuid4(), "n_hits": n_hits, "max_cost": context["max_cost"]}
    context |= {"wave_form": form, "publish_form": PublishForm(initial=shown, auto_id=False), "refused": refused}
    is_bad = refused or (form.is_bound and not form.is_valid())
    return render(request, "crowd/plan.html", context, status=UNPROCESSABLE if is_bad else 200)


@require_POST
def stop(request: SignedInRequest, public_id: UUID, wave_id: int) -> HttpResponse:
    """Interrupt the publishing of a wave."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    wave = get_wave_of(campaign, wave_id)
    return do(request, campaign, partial(stop_wave, wave=wave), to="waves")


@require_POST
def resume(request: SignedInRequest, public_id: UUID, wave_id: int) -> HttpResponse:
    """Go on publishing a wave."""
    campaign = get_campaign_for(request.user, public_id, Role.EDITOR)
    wave = get_wave_of(campaign, wave_id)
    return do(request, campaign, partial(resume_wave, wave=wave), to="waves")


@require_safe
@never_cache
def wave_progress(request: SignedInRequest, public_id: UUID, wave_id: int) -> HttpResponse:
    """Answer with the state of the job that publishes a wave, for every member."""
    campaign = get_campaign_for(request.user, public_id)
    return JsonResponse(progress_shown(campaign, get_wave_of(campaign, wave_id)))
