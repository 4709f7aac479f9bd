"""How many requests each page has, and how long they take, in the format of Prometheus."""

import os
import time
from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

# The library's: where processes share what they count. It must be set before the library is imported.
_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

REQUEST_SECONDS = Histogram(
    "evalsite_request_seconds",
    "Seconds from a request to its response, by the name of its address.",
    ("view", "method", "status"),
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def measure_requests(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Measure each request. Middleware; without METRICS_TOKEN there is none."""
    if not settings.METRICS_TOKEN:
        raise MiddlewareNotUsed

    def respond(request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        response = get_response(request)
        # The name, never the address: that may hold a worker's token, and there are too many.
        view = getattr(request.resolver_match, "view_name", "") or "none"
        method = request.method if request.method in _METHODS else "other"
        status = f"{response.status_code // 100}xx"
        REQUEST_SECONDS.labels(view, method, status).observe(time.perf_counter() - begun)
        return response

    return respond


def request_measures() -> bytes:
    """Return what was measured since the start, as Prometheus reads it: by all processes that share a folder."""
    registry = CollectorRegistry()
    if os.environ.get(_FOLDER):
        MultiProcessCollector(registry)
    else:
        registry.register(REQUEST_SECONDS)
    return generate_latest(registry)
