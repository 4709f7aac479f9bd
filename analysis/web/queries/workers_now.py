"""The workers of a campaign as they are now, computed from the database whenever a HIT has ended.

They are tested as the campaign's results test them: by the judgement of its method. Studies of direct assessment are
read as arrays; of other methods the same table is read as for the results, of those workers alone who did something
new. How workers rate (repeats, spread, seconds) is said wherever there are scores.

What the responses of workers say is kept in a file of each campaign, for all processes, without anybody's name.
"""

import hashlib
import json
import logging
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Count, Max, Q, TextChoices

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import AnalysisSettings, from_json
from analysis.methods.workers import judge_workers
from analysis.models import AnalysisRun
from analysis.results.anonymity import anonymise
from analysis.stats.conduct import compare_references, describe_conduct
from analysis.stats.quality import Verdict, run_worker_test
from analysis.stats.ratings import match_twins, or_nan, or_none
from analysis.stats.scores import reverse_negative
from analysis.web.queries.campaigns import has_scores, study_settings_of
from analysis.web.queries.finished_work import read_ratings, write_responses
from annotation.export.tables import table_of
from annotation.models import Assignment, Worker
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.models import Campaign
from evalsite.lib.caches import byte_cache
from evalsite.lib.media import get_media

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
# By a worker's id: p of the worker test, and how many items were compared.
_Tested = Mapping[int, tuple[float | None, int]]
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


def list_live_workers(
    campaign: Campaign, settings: AnalysisSettings, now: datetime, run: AnalysisRun | None = None
) -> list[LiveWorker]:
    """Return everyone who began a HIT of the campaign, by name, judged as the campaign's results judge them.

    What the responses of a worker say is kept until the worker finishes another HIT: finished assignments never change.
    Seven queries of a study, a few more of other methods; two if no HIT has ended since. `settings`: those of the
    campaign's results (`campaign_queries.judging_settings_of`). `run`: one whose results are there; where they are of
    all that is finished, its worker test is not repeated. Raises DomainError if the method cannot judge by these, or by
    what was answered: the results say the same.
    """
    workers = _workers_of(campaign, now)
    known = _read_kept(campaign, settings)
    stale = [pk for pk, worker in workers.items() if worker.finished and known.get(pk, ([],))[0] != worker.finished]
    if stale:
        if get_method(settings.method).is_study:
            found = _conduct_of(campaign, settings, stale)
        else:
            found = _judge(campaign, settings, stale, _tested_by(run, settings, workers) if run else None)
        known |= {pk: (workers[pk].finished, found.get(pk, UNTRIED)) for pk in stale}
        _keep(campaign, settings, known)
    for pk, worker in workers.items():
        if worker.finished:
            worker.conduct = known[pk][1]
        elif settings.preset == NO_TEST:
            worker.conduct = TRUSTED
    if not get_method(settings.method).is_study:
        _give_verdicts([worker for worker in workers.values() if worker.finished], settings)
    return sorted(workers.values(), key=lambda worker: worker.name)


def list_unjudged_workers(campaign: Campaign, now: datetime) -> list[LiveWorker]:
    """Return everyone who began a HIT of a campaign whose method cannot judge them, by name. Two queries."""
    workers = _workers_of(campaign, now).values()
    if campaign.worker_test == NO_TEST:
        for worker in workers:
            worker.conduct = TRUSTED
    return sorted(workers, key=lambda worker: worker.name)


def kept_file(public_id: UUID) -> str:
    """Return the name of the file of what the ratings of a campaign's workers say; it is there once somebody asked."""
    return f"workers/{public_id}.json"


def _key_of(settings: AnalysisSettings) -> str:
    return hashlib.sha256(json.dumps(settings.to_json(), sort_keys=True).encode()).hexdigest()


def _read_kept(campaign: Campaign, settings: AnalysisSettings) -> _Known:
    """Return what is kept by these settings; nothing if it was kept by others, or by another version."""
    try:
        key, known = _parse_kept(get_media().read(kept_file(campaign.public_id)))
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return dict(known) if key == _key_of(settings) else {}


# Of 5,000 workers it takes as long as all queries of a page.
@byte_cache(64 * 2**20, lambda found, content: 6 * len(content))
def _parse_kept(content: bytes) -> tuple[str, Mapping[int, tuple[list[int], Conducted]]]:
    """Return the key of the settings and what is kept of each worker, by id."""
    kept = json.loads(content)
    return kept["settings"], {
        int(pk): (finished, Conducted(**said)) for pk, (finished, said) in kept["workers"].items()
    }


def _keep(campaign: Campaign, settings: AnalysisSettings, known: _Known) -> None:
    """Keep what the ratings say; the page shows it also where that fails, as on a full disk."""
    workers = {pk: (finished, asdict(said)) for pk, (finished, said) in known.items()}
    try:
        text = json.dumps({"settings": _key_of(settings), "workers": workers})
        get_media().write(kept_file(campaign.public_id), text.encode())
    except OSError as error:
        logger.warning("What the workers' ratings say is not kept: %s", error)


def _workers_of(campaign: Campaign, now: datetime) -> dict[int, LiveWorker]:
    """Return each worker by id, without what their ratings say. Two queries, which the database sums up."""
    mine = Assignment.objects.filter(campaign=campaign).order_by()
    is_active = Q(state=State.ACTIVE, leased_until__gt=now)
    is_left = ~is_active & ~Q(state__in=(State.FINISHED, State.REJECTED))
    counted = mine.values_list("worker", "worker__key").annotate(
        n_left=Count("pk", filter=is_left), n_active=Count("pk", filter=is_active), seen=Max("seen_at")
    )
    workers = {
        pk: LiveWorker(Worker(key=key).name, [], n_left, n_active, seen)
        for pk, key, n_left, n_active, seen in counted.iterator()
    }
    finished = mine.filter(state=State.FINISHED).order_by("pk").values_list("worker", "pk")
    for worker, pk in finished.iterator():
        workers[worker].finished.append(pk)
    return workers


def _is_fine(settings: AnalysisSettings) -> bool:
    """Tell whether scores have many values: on a few points, honest workers repeat them and differ little."""
    return all(high - low >= _MANY_POINTS for low, high in settings.scales)


def _judge(
    campaign: Campaign, settings: AnalysisSettings, workers: list[int], tested: _Tested | None
) -> dict[int, Conducted]:
    """Return what these workers' finished HITs say of each, by the campaign's method; verdicts are given later.

    `tested`: what the worker test says of everybody, if that is known. Who has nothing to compare is untested beside
    others who were tested, and trusted where nobody was.
    """
    scores = study_settings_of(campaign) if has_scores(campaign) else None
    found = _conduct_of(campaign, scores, workers) if scores else {}
    if tested is None:
        tested = {} if settings.preset == NO_TEST else _tested(campaign, settings, workers)
    return {
        pk: replace(found.get(pk, UNTRIED), p=p, n_compared=n, verdict=UNTRIED.verdict)
        for pk, (p, n) in ((pk, tested.get(pk, (None, 0))) for pk in workers)
    }


def _tested_by(run: AnalysisRun, settings: AnalysisSettings, workers: Mapping[int, LiveWorker]) -> _Tested | None:
    """Return p of the worker test and what was compared, by worker, as a run's results have them.

    None if they are not of just what is finished, test otherwise, or somebody is called otherwise by now. One query.
    """
    finished = {pk: worker for pk, worker in workers.items() if worker.finished}
    counts = {worker.name: len(worker.finished) for worker in finished.values()}
    rows = {row.worker: row for row in run.result.workers}
    is_same = len(counts) == len(finished) and counts == {name: row.n_assignments for name, row in rows.items()}
    if not is_same or _what_tests(from_json(run.settings)) != _what_tests(settings):
        return None
    file = run.ratings_file
    if Assignment.objects.filter(campaign=file.campaign_id, ended_at__gt=file.uploaded_at).exists():
        return None
    return {pk: (row.p, row.n_compared) for pk, row in ((pk, rows[each.name]) for pk, each in finished.items())}


def _what_tests(settings: AnalysisSettings) -> tuple[Any, ...]:
    """Return what p of the worker test depends on."""
    return settings.method, settings.preset, settings.criteria, settings.scale, settings.options


def _tested(campaign: Campaign, settings: AnalysisSettings, workers: list[int]) -> _Tested:
    """Return p of the worker test and what was compared, by worker, of those whose answers the method reads."""
    method = get_method(settings.method)
    with tempfile.NamedTemporaryFile(prefix="workers-") as copy:
        table = table_of(campaign, method.table, has_style=False)
        if not write_responses(copy, campaign, table, names=lambda worker: str(worker.pk), workers=workers):
            return {}
        judged = method.judge(method.read(ResponsesFile(Path(copy.name)), settings), settings)
    if judged is None:
        return {}
    both = zip(judged.names, judged.p_value, judged.n_compared, strict=True)
    return {int(name): (or_none(p), int(n)) for name, p, n in both}


def _give_verdicts(workers: list[LiveWorker], settings: AnalysisSettings) -> None:
    """Judge workers by their p, all of them together, as the results do."""
    said = [worker.conduct for worker in workers]
    n_compared = np.array([each.n_compared for each in said], np.int64)
    judged = judge_workers([worker.name for worker in workers], or_nan(each.p for each in said), n_compared, settings)
    for worker, verdict in zip(workers, judged.verdict, strict=True):
        worker.conduct = replace(worker.conduct, verdict=Verdict(int(verdict)).name.lower())


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
