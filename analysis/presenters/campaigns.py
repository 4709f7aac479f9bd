"""What the pages of a campaign's results and workers show."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from analysis.anonymity import anonymise
from analysis.live import Conducted, LiveWorker
from analysis.methods.replication import compare_runs
from analysis.models import AnalysisRun
from analysis.stats.quality import Verdict
from analysis.templatetags.results import number, p_value, percent, signed
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


def replication(original: AnalysisRun, run: AnalysisRun) -> dict[str, Any]:
    """Return how far a finished run agrees with one of the campaign that it replicates, as the page shows it."""
    found = compare_runs((original.report or {})["summary"], (run.report or {})["summary"])
    correlations = {"Overall": found["overall"], **(found["criteria"] if len(found["criteria"]) > 1 else {})}
    return {
        "systems": found["systems"],
        "rows": [
            {"name": name, "values": [number(value) for value in values.values()]}
            for name, values in correlations.items()
        ],
        "same": [
            {"label": f"Same conclusions at p < {alpha}", "value": percent(share)}
            for alpha, share in found["same_conclusions"].items()
        ],
    }


def live_rows(workers: Iterable[LiveWorker], *, with_names: bool, show: str, search: str) -> list[dict[str, Any]]:
    """Return the workers that match, those who need a look first. Without names, workers are hashes."""
    everyone = list(workers)
    hashes = {} if with_names else anonymise({worker.name for worker in everyone})
    rows = [_live_row(worker, hashes.get(worker.name, worker.name)) for worker in everyone]
    wanted = search.casefold()
    found = [row for row in rows if wanted in row["name"].casefold() and (not show or show in row["tags"])]
    return sorted(found, key=lambda row: (-len(row["reasons"]), row["verdict"] != _FAILED, -(row["p"] or 0)))


_FAILED = Verdict.FAILED.name.lower()


def _live_row(worker: LiveWorker, name: str) -> dict[str, Any]:
    conduct = worker.conduct
    reasons = _reasons(conduct)
    tags = {conduct.verdict} | ({"suspicious"} if reasons else set()) | ({"active"} if worker.n_active else set())
    return {
        "name": name,
        "verdict": conduct.verdict,
        "p": conduct.p,
        "p_text": p_value(conduct.p),
        "n_finished": len(worker.finished),
        "n_left": worker.n_left,
        "n_items": conduct.n_items,
        "n_compared": conduct.n_compared,
        "difference": signed(conduct.difference, 1),
        "repeated": percent(conduct.share_repeated),
        "longest_run": conduct.longest_run,
        "sd": number(conduct.sd, 1),
        "reference": number(conduct.reference_mean, 1),
        "distance": signed(conduct.reference_distance, 1),
        "median_s": number(conduct.median_s, 1),
        "fast": percent(conduct.share_fast),
        "is_active": bool(worker.n_active),
        "seen_at": worker.seen_at,
        "reasons": reasons,
        "tags": tags,
    }


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
