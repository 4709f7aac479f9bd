"""The workers of a campaign as they are now, computed from the database whenever a HIT has ended.

What the ratings of workers say is kept in a file of each campaign, for all processes, without anybody's name.
"""

import hashlib
import json
import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings as django_settings
from django.db.models import TextChoices

from analysis.anonymity import anonymise
from analysis.finished_work import read_ratings
from analysis.settings import AnalysisSettings
from analysis.stats.conduct import compare_references, describe_conduct
from analysis.stats.quality import Verdict, run_worker_test
from analysis.stats.ratings import match_twins, or_none
from analysis.stats.scores import reverse_negative
from annotation.models import Assignment
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.models import Campaign
from evalsite.lib.drafts import draft_of

logger = logging.getLogger(__name__)

State = Assignment.State
_MOST_REPEATED, _LEAST_SD, _MOST_FAST = 0.5, 5.0, 0.5
_SHARES = ("difference", "share_repeated", "sd", "median_s", "share_fast")
_OF_ANY_SCALE = ("difference", "median_s", "share_fast")
_MANY_POINTS = 20
SUSPICIOUS, ACTIVE = "suspicious", "active"


class Suspicion(TextChoices):
    """What is suspicious of a worker: ratings that often repeat the one before, spread little, or come fast."""

    REPEATS = "repeats", "repeats scores"
    LITTLE_SPREAD = "little_spread", "little spread"
    FAST = "fast", "very fast"


@dataclass(frozen=True)
class Conducted:
    """What a worker's finished HITs say of them. Undefined numbers are None."""

    verdict: str
    p: float | None
    n_items: int
    n_compared: int
    difference: float | None
    share_repeated: float | None  # None on scales of few points, as `sd` is
    longest_run: int
    sd: float | None
    median_s: float | None
    share_fast: float | None
    reference_mean: float | None = None
    reference_distance: float | None = None

    @property
    def suspicions(self) -> list[Suspicion]:
        """What is suspicious of the worker."""
        found = {
            Suspicion.REPEATS: (self.share_repeated or 0) > _MOST_REPEATED,
            Suspicion.LITTLE_SPREAD: self.sd is not None and self.sd < _LEAST_SD,
            Suspicion.FAST: (self.share_fast or 0) > _MOST_FAST,
        }
        return [suspicion for suspicion, is_so in found.items() if is_so]


# By a worker's id: their finished assignments, and what these say.
_Known = dict[int, tuple[list[int], Conducted]]
UNTRIED = Conducted(Verdict.UNTESTED.name.lower(), None, 0, 0, None, None, 0, None, None, None)
TRUSTED = replace(UNTRIED, verdict=Verdict.TRUSTED.name.lower())


@dataclass
class LiveWorker:
    """A worker of a campaign: their HITs by how they ended, what they are doing, and what their ratings say."""

    name: str
    finished: list[int] = field(default_factory=list)  # ids of assignments
    n_left: int = 0
    n_active: int = 0
    seen_at: datetime | None = None
    conduct: Conducted = UNTRIED

    def is_in(self, state: str) -> bool:
        """Return whether the worker has this verdict, or is `SUSPICIOUS` or `ACTIVE`; anybody is in ""."""
        states = {SUSPICIOUS: bool(self.conduct.suspicions), ACTIVE: self.n_active > 0}
        return states.get(state, state in ("", self.conduct.verdict))


def find_workers(workers: Iterable[LiveWorker], *, state: str, search: str, with_names: bool) -> list[LiveWorker]:
    """Return the workers in a state whose name holds the text, those to check first.

    Without names, workers are hashes.
    """
    everyone = list(workers)
    if not with_names:
        hashes = anonymise({worker.name for worker in everyone})
        everyone = [replace(worker, name=hashes[worker.name]) for worker in everyone]
    wanted, failed = search.casefold(), Verdict.FAILED.name.lower()
    return sorted(
        (worker for worker in everyone if wanted in worker.name.casefold() and worker.is_in(state)),
        key=lambda w: (-len(w.conduct.suspicions), w.conduct.verdict != failed, -(w.conduct.p or 0)),
    )


def list_live_workers(campaign: Campaign, settings: AnalysisSettings, now: datetime) -> list[LiveWorker]:
    """Return everyone who began a HIT of the campaign, by name. Six queries; one if no HIT has ended since.

    What the ratings of a worker say is kept until the worker finishes another HIT: finished assignments never change.
    """
    workers = _workers_of(campaign, now)
    known = _read_kept(campaign, settings)
    stale = [pk for pk, worker in workers.items() if worker.finished and known.get(pk, ([],))[0] != worker.finished]
    if stale:
        for pk, conduct in _conduct_of(campaign, settings, stale).items():
            known[pk] = workers[pk].finished, conduct
        _keep(campaign, settings, known)
    for pk, worker in workers.items():
        if worker.finished:
            worker.conduct = known[pk][1]
        elif settings.preset == NO_TEST:
            worker.conduct = TRUSTED
    return sorted(workers.values(), key=lambda worker: worker.name)


def kept_file(public_id: UUID) -> Path:
    """Return the file of what the ratings of a campaign's workers say; it is there once somebody has asked."""
    return Path(django_settings.MEDIA_ROOT) / "workers" / f"{public_id}.json"


def _key_of(settings: AnalysisSettings) -> str:
    return hashlib.sha256(json.dumps(settings.to_json(), sort_keys=True).encode()).hexdigest()


def _read_kept(campaign: Campaign, settings: AnalysisSettings) -> _Known:
    """Return what is kept by these settings; nothing if it was kept by others, or by another version."""
    try:
        kept = json.loads(kept_file(campaign.public_id).read_text(encoding="utf-8"))
        if kept["settings"] != _key_of(settings):
            return {}
        return {int(pk): (finished, Conducted(**said)) for pk, (finished, said) in kept["workers"].items()}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _keep(campaign: Campaign, settings: AnalysisSettings, known: _Known) -> None:
    """Keep what the ratings say; the page shows it also where that fails, as on a full disk."""
    workers = {pk: (finished, asdict(said)) for pk, (finished, said) in known.items()}
    try:
        with draft_of(kept_file(campaign.public_id)) as draft:
            draft.write_text(json.dumps({"settings": _key_of(settings), "workers": workers}), encoding="utf-8")
    except OSError as error:
        logger.warning("What the workers' ratings say is not kept: %s", error)


def _workers_of(campaign: Campaign, now: datetime) -> dict[int, LiveWorker]:
    """Return each worker by id, without what their ratings say. One query."""
    workers: dict[int, LiveWorker] = {}
    found = Assignment.objects.filter(campaign=campaign).order_by("pk").select_related("worker")
    for assignment in found.only("state", "seen_at", "leased_until", "worker__key").iterator():
        worker = workers.setdefault(assignment.worker_id, LiveWorker(assignment.worker.name))
        if assignment.state == State.FINISHED:
            worker.finished.append(assignment.pk)
        elif assignment.state == State.ACTIVE and assignment.leased_until > now:
            worker.n_active += 1
        elif assignment.state != State.REJECTED:
            worker.n_left += 1
        worker.seen_at = max(worker.seen_at or assignment.seen_at, assignment.seen_at)
    return workers


def _is_fine(settings: AnalysisSettings) -> bool:
    """Tell whether scores have many values: on a few points, honest workers repeat them and differ little."""
    return all(high - low >= _MANY_POINTS for low, high in settings.scales)


def _conduct_of(campaign: Campaign, settings: AnalysisSettings, workers: list[int]) -> dict[int, Conducted]:
    """Return what the ratings of these workers' finished HITs say of each."""
    found = read_ratings(campaign, workers)
    ratings = found.ratings
    design = settings.design([])
    scores = reverse_negative(ratings.scores, design.is_negative)
    twin = match_twins(ratings)
    tests = run_worker_test(
        ratings, scores, twin, preset=design.preset, alpha=design.alpha, criteria=design.is_in_worker_test
    )
    tested, is_paired = scores[:, design.is_in_worker_test], WORKER_TESTS[design.preset].is_paired
    references = compare_references(ratings, scores, tests.counts)
    conduct = describe_conduct(ratings, tested, twin, found.seconds, is_paired=is_paired)
    shown = _SHARES if _is_fine(settings) else _OF_ANY_SCALE
    return {
        pk: Conducted(
            verdict=Verdict(int(tests.verdict[k])).name.lower(),
            p=or_none(tests.p_value[k]),
            n_compared=int(tests.n_compared[k]),
            longest_run=int(conduct.longest_run[k]),
            n_items=int(conduct.n_items[k]),
            reference_mean=or_none(references.mean[k]),
            reference_distance=or_none(references.distance[k]),
            **dict.fromkeys(_SHARES) | {name: or_none(getattr(conduct, name)[k]) for name in shown},
        )
        for k, pk in enumerate(found.worker_ids)
    }
