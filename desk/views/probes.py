"""What programs that watch the site ask for: whether it lives, whether it works, and what it does. No secrets."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from desk.health import readiness
from desk.metrics import site_measures
from evalsite.lib.measures import request_measures


@login_not_required
@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Say that this process answers; nothing else is asked."""
    return JsonResponse({"status": "alive"})


@login_not_required
@never_cache
@require_GET
def ready(request: HttpRequest) -> JsonResponse:
    """Say what works: 503 where no page does; with `?strict=1` also where the cache or all workers are away."""
    found = readiness.read()
    is_well = found.is_complete if request.GET.get("strict") == "1" else found.is_ready
    return JsonResponse({"status": found.status, "checks": found.checks}, status=200 if is_well else 503)


@login_not_required
@never_cache
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """Say what the site does, to who has METRICS_TOKEN; there is no such page without one."""
    if not settings.METRICS_TOKEN:
        raise Http404
    if not constant_time_compare(request.headers.get("Authorization", ""), f"Bearer {settings.METRICS_TOKEN}"):
        text = "Send the site's METRICS_TOKEN as a bearer token.\n"
        return HttpResponse(text, "text/plain", 401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(site_measures() + request_measures(), CONTENT_TYPE_PLAIN_0_0_4)
