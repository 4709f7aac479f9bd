"""What the pages of a campaign's results and workers show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from analysis.anonymity import anonymise
from analysis.live import Conducted, LiveWorker
from analysis.stats.quality import Verdict
from analysis.words import verdicts_of
from campaigns.models import Campaign
from evalsite.jobs.models import Job
from evalsite.jobs.queries import job_state

# A worker is suspicious whose ratings so often repeat the one before, spread so little, or come so fast.
MOST_REPEATED, LEAST_SD, MOST_FAST = 0.5, 5.0, 0.5


def shown_workers(preset: str) -> dict[str, str]:
    """Return which workers of a campaign with this worker test may be asked for, in words."""
    return {"": "all", **verdicts_of(preset), "suspicious": "suspicious", "active": "rating now"}


def job_shown(campaign: Campaign, job: Job) -> dict[str, Any]:
    """Return what a page shows of a job of a campaign's analysis, to be asked for where every member may ask."""
    return job_state(job) | {"url": reverse("analysis:campaign_job", args=[campaign.public_id, job.pk])}


@dataclass(frozen=True)
class LiveRow:
    """A worker of a campaign as the page shows them: by what name, and what is suspicious of them, in words."""

    name: str
    worker: LiveWorker
    reasons: list[str]

    @property
    def tags(self) -> set[str]:
        """Return by what the row may be asked for, of `shown_workers`."""
        tags = {self.worker.conduct.verdict}
        return tags | ({"suspicious"} if self.reasons else set()) | ({"active"} if self.worker.n_active else set())


def live_rows(workers: Iterable[LiveWorker], *, with_names: bool, show: str, search: str) -> list[LiveRow]:
    """Return the workers that match, those who need a look first. Without names, workers are hashes."""
    everyone = list(workers)
    hashes = {} if with_names else anonymise({worker.name for worker in everyone})
    rows = [LiveRow(hashes.get(each.name, each.name), each, _reasons(each.conduct)) for each in everyone]
    wanted = search.casefold()
    found = [row for row in rows if wanted in row.name.casefold() and (not show or show in row.tags)]

    def order(row: LiveRow) -> tuple[int, bool, float]:
        conduct = row.worker.conduct
        return -len(row.reasons), conduct.verdict != _FAILED, -(conduct.p or 0)

    return sorted(found, key=order)


_FAILED = Verdict.FAILED.name.lower()


def _reasons(conduct: Conducted) -> list[str]:
    """Return what is suspicious of a worker, in words."""
    return [
        words
        for words, is_so in {
            "repeats scores": (conduct.share_repeated or 0) > MOST_REPEATED,
            "little spread": conduct.sd is not None and conduct.sd < LEAST_SD,
            "very fast": (conduct.share_fast or 0) > MOST_FAST,
        }.items()
        if is_so
    ]
