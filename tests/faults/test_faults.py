"""A crowd rates while services are killed at random, and the disk is full: what was acknowledged is there, once.

`FAULT_SECONDS` is how long, `FAULT_SEED` how it goes (what the threads of a machine do when is never quite the same).
`make faults` has 200 workers for three minutes; among the tests there are few, for some seconds.
"""

import random
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dj_database_url
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Count, Q
from django.urls import resolve, reverse
from django.utils import timezone

from analysis.models import AnalysisRun
from annotation.models import Assignment, Event, Response
from annotation.queries import assignment_id_of
from annotation.raters.lists import by_name
from annotation.raters.queries import describe_raters, list_raters
from annotation.services.invitations import invite_raters
from campaigns.models import Campaign
from campaigns.queries import BUILD
from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.jobs.models import Job
from evalsite.lib.env import env_int
from tests import databases
from tests.annotation.open_campaigns import open_campaign
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner, signed_in
from tests.faults.installation import Installation, disk
from tests.faults.researcher import Researcher
from tests.faults.storm import Storm
from tests.faults.workers import TwoServers, Worker
from tests.services import wait_until

SECONDS, SEED = env_int("FAULT_SECONDS", 6), env_int("FAULT_SEED", 1)
IS_LONG = SECONDS >= 60
N_WORKERS, PAUSE_S, N_KILLS = (200, (3.0, 9.0), 10) if IS_LONG else (20, (0.5, 1.5), 4)
GAP_S, DOWN_S = ((2.0, 7.0), (0.3, 4.0)) if IS_LONG else ((0.3, 0.8), (0.2, 0.8))
N_HITS, SIZE, WORKERS_PER_HIT = (300, 5, 5) if IS_LONG else (150, 4, 5)
N_DRAFTS = 12 if IS_LONG else 2
N_AWAY, AWAY_S = (20, 70.0) if IS_LONG else (0, 0.0)
LONGEST_BACK_S = 30.0
"""Three times as long as pages may take on a machine of its own: tests share theirs."""


@pytest.fixture
def site(tmp_path: Path, installation: Path, session_folder: Path, django_db_blocker: Any) -> Iterator[Installation]:
    """All programs of an installation, and Django's connection to its database."""
    data = tmp_path / "data"
    data.mkdir()
    with (
        disk() as small,
        Installation(data, installation / "static", small) as started,
        django_db_blocker.unblock(),
    ):
        url = databases.postgres_copy(started.server_url, session_folder, "faults")
        with databases.using_database(dj_database_url.parse(url)):
            started.start(url)
            yield started


def test_faults_lose_and_double_nothing(site: Installation) -> None:
    rng = random.Random(SEED)
    owner = make_owner()
    campaign, drafts = make_campaigns(owner)
    *links, link_of_another = invite_workers(campaign, N_WORKERS + 1)
    servers, is_over = TwoServers(site.urls), threading.Event()
    workers = [
        Worker(servers, link, random.Random(rng.random()), is_over, PAUSE_S, AWAY_S if k < N_AWAY else 0.0)
        for k, link in enumerate(links)
    ]
    _, token = create_token(user=owner, name="script", scopes=Scope.values, now=timezone.now())
    researcher = Researcher(
        servers, token, random.Random(rng.random()), is_over, str(campaign.public_id), drafts, PAUSE_S
    )
    storm = Storm(site, rng, pages_of(campaign, link_of_another), session_of(owner), GAP_S, DOWN_S)
    threads = [threading.Thread(target=each.work) for each in (*workers, researcher)]
    for thread in threads:
        thread.start()
    n_before_full = 0
    try:
        wait_until(lambda: n_acknowledged(workers) > N_WORKERS, 60, "workers rate")
        storm.blow(SECONDS / 2, N_KILLS // 2)
        if site.disk.is_small:
            is_felt = storm.fill_disk(lambda: any(status == 507 for status, _ in count_refusals(workers)), 40)
            assert is_felt, "nobody felt that the disk was full"
            n_before_full = n_acknowledged(workers)
        storm.blow(SECONDS / 2, N_KILLS - N_KILLS // 2)
        wait_until(lambda: n_acknowledged(workers) > n_before_full, 60, "workers go on")
    finally:
        is_over.set()
        for thread in threads:
            thread.join(90)
        servers.close()
    assert not any(thread.is_alive() for thread in threads)
    site.revive()
    connection.close()  # PostgreSQL may have ended it
    unfinished = Job.objects.filter(status__in=(Job.Status.QUEUED, Job.Status.RUNNING))
    report(storm, workers, researcher)
    wait_until(lambda: not unfinished.exists(), 120, "jobs end")

    faults_say_what_passes(site, workers, researcher)
    acknowledged_responses_are_there_once(campaign, workers)
    no_hit_has_too_many_workers(campaign)
    every_job_is_done_once(campaign, researcher)
    assert max(fault.back_s for fault in storm.faults) <= LONGEST_BACK_S


def make_campaigns(owner: User) -> tuple[Campaign, list[str]]:
    """Return a running campaign of personal links, and the ids of drafts whose HITs can be built."""
    campaign = open_campaign(
        owner,
        n_hits=N_HITS,
        size=SIZE,
        workers_per_hit=WORKERS_PER_HIT,
        hits_per_worker=None,
        lease_minutes=1,
        platform_settings={"access": "personal"},
    )
    drafts = [make_campaign(owner, "mrc-adequacy", name=f"Draft {k}") for k in range(N_DRAFTS)]
    for draft in drafts:
        add_outputs(draft, n_sources=10)
    return campaign, [str(draft.public_id) for draft in drafts]


def invite_workers(campaign: Campaign, n_workers: int) -> list[str]:
    """Return the personal links of all workers."""
    invite_raters(campaign=campaign, raters=by_name(f"worker {k}" for k in range(n_workers)))
    path = reverse("rate:welcome", args=[campaign.public_id])
    return [f"{path}?{rater.query}" for rater in describe_raters(campaign, list_raters(campaign))]


def session_of(user: User) -> dict[str, str]:
    return {settings.SESSION_COOKIE_NAME: signed_in(user).cookies[settings.SESSION_COOKIE_NAME].value}


def pages_of(campaign: Campaign, link: str) -> list[str]:
    """Return the addresses of pages that must be there again after each fault."""
    names = ("campaigns:campaign", "monitoring:progress", "monitoring:raters", "analysis:campaign_results")
    own = [reverse(name, args=[campaign.public_id]) for name in names]
    return [link, reverse("accounts:sign_in"), reverse("campaigns:list"), *own, "/ready/"]


def n_acknowledged(workers: list[Worker]) -> int:
    return sum(len(worker.acknowledged) for worker in workers)


def count_refusals(workers: list[Worker]) -> Counter[tuple[int, str]]:
    """Return how often each fault was answered, by status and heading."""
    return sum((Counter(dict(worker.refusals)) for worker in workers), Counter[tuple[int, str]]())


def report(storm: Storm, workers: list[Worker], researcher: Researcher) -> None:
    """Print what happened, which pytest shows where the test fails or is asked to."""
    n_hits, n_lost = sum(len(each.codes) for each in workers), sum(each.n_lost for each in workers)
    slowest_s, back_s = max(each.slowest_s for each in workers), max(each.back_s for each in storm.faults)
    lines = [
        f"seed {SEED}, {len(workers)} workers, {len(storm.faults)} faults",
        *map(str, storm.faults),
        f"acknowledged: {n_acknowledged(workers)} responses, {n_hits} HITs, {len(researcher.jobs)} jobs",
        f"{n_lost} times a worker did not know whether a response had arrived",
        *(f"{n} × {status} {said}" for (status, said), n in sorted(count_refusals(workers).items())),
        f"the slowest request of a worker took {slowest_s:.1f} s, the slowest page was back after {back_s:.1f} s",
    ]
    print("\n".join(lines))  # noqa: T201


def faults_say_what_passes(site: Installation, workers: list[Worker], researcher: Researcher) -> None:
    """No page broke: it said that the database was away or the disk full."""
    found = {status for status, _ in count_refusals(workers)}
    assert found | researcher.refusals <= {503, 507}
    assert 507 in found or not site.disk.is_small


def acknowledged_responses_are_there_once(campaign: Campaign, workers: list[Worker]) -> None:
    """Compare what workers know with what is stored: nothing is lost, doubled or changed, and nothing else is there."""
    stored = list(
        Response.objects.filter(assignment__campaign=campaign).values_list("assignment", "item__position", "score")
    )
    assert len(stored) == len({row[:2] for row in stored}), "a response is there twice"
    kept = {row[:2]: row[2] for row in stored}
    sent = {(assignment_at(path), position): score for each in workers for (path, position), score in each.sent.items()}
    acknowledged = [(assignment_at(r.path), r.position, r.score) for each in workers for r in each.acknowledged]
    assert len(acknowledged) > N_WORKERS
    lost = [row for row in acknowledged if kept.get(row[:2]) != row[2]]
    assert lost == []
    assert {key: score for key, score in kept.items() if sent.get(key) != score} == {}, "nobody has sent it"

    n_rated = Counter(key[0] for key in kept)
    for each in Assignment.objects.filter(campaign=campaign):
        assert each.n_rated == n_rated[each.pk]
    n_events = Event.objects.filter(assignment__campaign=campaign, kind=Event.Kind.RATED).count()
    assert n_events == len(stored)
    finished = campaign.assignments.filter(state=Assignment.State.FINISHED)
    codes = dict(finished.values_list("completion_code", "n_rated"))
    assert {code for each in workers for code in each.codes} <= set(codes)
    assert set(codes.values()) <= {SIZE}


def assignment_at(path: str) -> int:
    return assignment_id_of(resolve(path).kwargs["token"])


def no_hit_has_too_many_workers(campaign: Campaign) -> None:
    """Every place of a HIT is free or somebody's, and nobody has two places of one HIT or two HITs at once."""
    held = Count("assignments", filter=Q(assignments__state__in=("active", "finished", "rejected")))
    for hit in campaign.hits.annotate(n_held=held):
        assert hit.n_held + hit.n_places_left == WORKERS_PER_HIT, f"HIT {hit.number}"
    rows = list(campaign.assignments.values_list("worker", "hit"))
    assert len(rows) == len(set(rows))
    active = Counter(campaign.assignments.filter(state=Assignment.State.ACTIVE).values_list("worker", flat=True))
    assert set(active.values()) <= {1}


def every_job_is_done_once(campaign: Campaign, researcher: Researcher) -> None:
    """Each job that was acknowledged has succeeded, and what it makes is there once."""
    failed = Job.objects.exclude(status=Job.Status.SUCCEEDED)
    assert [(job.kind, job.error_code, job.error_details) for job in failed] == []
    jobs = set(map(str, Job.objects.values_list("pk", flat=True)))
    assert set(researcher.jobs.values()) <= jobs
    builds = {address for address, key in researcher.jobs if key.startswith("build")}
    assert builds
    for draft in Campaign.objects.filter(name__startswith="Draft"):
        if any(str(draft.public_id) in address for address in builds):
            assert Job.objects.filter(kind=BUILD, args={"campaign": draft.pk}).count() == 1
            numbers = list(draft.hits.order_by("number").values_list("number", flat=True))
            assert numbers == list(range(1, len(numbers) + 1)) != []
            sizes = draft.hits.annotate(n_items=Count("items")).values_list("n_items", flat=True)
            assert set(sizes) == {draft.hit_size}
    runs = AnalysisRun.objects.filter(ratings_file__campaign=campaign)
    analyses = {job for (_, key), job in researcher.jobs.items() if key.startswith("analyse")}
    assert runs.count() <= len(analyses) + 1
    assert len(set(runs.values_list("ratings_file", flat=True))) == runs.count()
    assert all(run.report is not None for run in runs)
