"""Lists of the API: whatever their length, each asks the database the same."""

import gc
import re
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import resolve
from django.utils import timezone

from analysis.models import AnalysisRun, Look, MetricScores, PowerAnalysis
from analysis.web.services.sharing import create_share_link
from annotation.raters.lists import by_name
from annotation.services.invitations import invite_raters
from api.operations import Operation
from campaigns.models import Campaign, Delivery, Upload
from campaigns.services.members import invite_member
from campaigns.services.webhooks import add_webhook
from evalsite.jobs.models import Job
from tests.permission_world import World, make_world
from tests.test_permission_matrix import ADDRESSES, TABLE, rows_of, url_of

# Their rows are made, one and five, in test_payments.py and test_waves.py.
TESTED_APART = {"api:waves", "api:orders", "api:discrepancies"}


def double(world: World) -> None:
    """Store a second one of what the world has one of."""
    campaign = Campaign.objects.get(public_id=world.arguments["rated"]["public_id"])
    invite_raters(campaign=campaign, raters=by_name(["ann", "ben"]))
    add_webhook(campaign=campaign, url="https://hooks.example.org/2", events=["job.failed"])
    counts = {"n_workers": 3, "n_pairs": 1, "n_decided": 0, "n_wanted": 1, "n_wanted_decided": 0}
    Look.objects.bulk_create(Look(campaign=campaign, n_assignments=n, **counts) for n in (2, 4))
    owner = campaign.memberships.get(role="owner").user
    create_share_link(campaign=campaign, user=owner)
    invite_member(campaign=campaign, email="another@example.org", role="viewer", by=owner, now=timezone.now())
    for delivery in Delivery.objects.all():
        delivery.pk, delivery.event_id = None, uuid4()
        delivery.save()
    judge = campaign.judges.get()
    twin = judge.answers.get()
    twin.pk, twin.attempt = None, 2
    twin.save(force_insert=True)
    judge.pk, judge.name = uuid4(), "another"
    judge.save(force_insert=True)
    for each in (row for model in (Upload, AnalysisRun, PowerAnalysis, MetricScores) for row in model.objects.all()):
        each.pk, each.job = uuid4(), Job.objects.create(kind="example.count", owner=campaign.memberships.first().user)
        each.save(force_insert=True)


@pytest.fixture(scope="module")
def world(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media")):
        world = make_world()
        double(world)
        yield world


def list_urls(world: World) -> Iterator[tuple[str, str]]:
    """Yield name and URL of each operation that returns a list."""
    for address in ADDRESSES:
        rows = [row for row in rows_of(address, TABLE) if "GET" in row.methods.split()] if address.is_operation else []
        for row in rows:
            url = url_of(world, address, row.kind)
            resource = getattr(resolve(url).func, "cls", None)
            found: Operation | None = getattr(getattr(resource, "get", None), "operation", None)
            if found and found.many:
                yield address.name, url


def test_no_list_asks_the_database_once_for_each_row(world: World) -> None:
    found = dict(list_urls(world))
    assert len(found) > 35
    for name, url in found.items():
        with CaptureQueriesContext(connection) as queries:
            answer = Client().get(url, headers={"Authorization": f"Bearer {world.tokens['all']}"})
        content = answer.json()
        rows = content["results"] if isinstance(content, dict) else content
        assert len(rows) > 1 or name in TESTED_APART, (name, "one row shows nothing")
        asked = Counter(re.sub(r"'[^']*'|\b\d+\b", "?", each["sql"]) for each in queries.captured_queries)
        assert not [sql for sql, n in asked.items() if n > 1], name


def n_left(url: str, token: str) -> int:
    """Return how many objects an answer leaves to the garbage collector, for which some other answer waits."""
    gc.collect()
    gc.disable()
    try:
        assert Client().get(url, headers={"Authorization": f"Bearer {token}"}).status_code == 200
        return gc.collect()
    finally:
        gc.enable()


def test_more_rows_leave_no_more_to_the_garbage_collector(world: World) -> None:
    for name, url in list_urls(world):
        n_left(url, world.tokens["all"])  # what is made once
        one, all_ = (n_left(f"{url}?limit={n}", world.tokens["all"]) for n in (1, 500))
        assert all_ < one + 30, name  # some answers leave a few, and so does what runs beside this
