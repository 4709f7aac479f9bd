"""What the whole site does, as Prometheus reads it: jobs, workers of jobs, work under way, disk."""

from collections.abc import Iterator

from django.db.models import Count
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from annotation.models import Assignment, Conversation
from campaigns.models import Campaign
from desk.health import readiness
from desk.storage import get_disk
from evalsite.jobs.queries import count_jobs, get_workers


class _Site(Collector):
    """The state of the site now, in eleven queries at most."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = readiness.read()
        ready = GaugeMetricFamily("evalsite_ready", "1 if the part works, else 0.", labels=["part"])
        for part, state in found.checks.items():
            ready.add_metric([part], float(state == "ok"))
        yield ready
        disk = get_disk()
        yield GaugeMetricFamily("evalsite_disk_free_bytes", "Free on the disk of the data folder.", disk.free)
        yield GaugeMetricFamily("evalsite_disk_bytes", "Size of the disk of the data folder.", disk.total)
        if found.is_ready:
            yield from _work()


def _work() -> Iterator[GaugeMetricFamily]:
    now = timezone.now()
    jobs = GaugeMetricFamily("evalsite_jobs", "Jobs that are kept, by status.", labels=["status"])
    for status, n in count_jobs().items():
        jobs.add_metric([status], n)
    yield jobs
    workers = get_workers(now)
    waited = (now - workers.waiting_since).total_seconds() if workers.waiting_since else 0.0
    yield GaugeMetricFamily("evalsite_jobs_due", "Jobs that could run now.", workers.n_due)
    yield GaugeMetricFamily("evalsite_jobs_waiting_seconds", "How long the first of them has waited.", waited)
    yield GaugeMetricFamily("evalsite_job_workers", "Processes that run jobs and live.", len(workers.alive))
    campaigns = GaugeMetricFamily("evalsite_campaigns", "Campaigns, by status.", labels=["status"])
    for status, n in Campaign.objects.order_by().values_list("status").annotate(n=Count("pk")):
        campaigns.add_metric([status], n)
    yield campaigns
    under_way = Assignment.objects.filter(state=Assignment.State.ACTIVE, leased_until__gt=now).count()
    yield GaugeMetricFamily("evalsite_assignments_active", "HITs that somebody works on.", under_way)
    waiting = Conversation.objects.filter(asked_until__gt=now).count()
    yield GaugeMetricFamily("evalsite_chats_waiting", "Chats that wait for a chatbot's reply.", waiting)


def site_measures() -> bytes:
    """Return the state of the site as Prometheus reads it; without the database only that, and the disk."""
    registry = CollectorRegistry()
    registry.register(_Site())
    return generate_latest(registry)
