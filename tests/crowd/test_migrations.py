"""Rows of an installation that was made before a rename are kept."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from annotation.models import Worker
from crowd.models import Posting, Submission, Wave
from evalsite.accounts.models import User
from tests.crowd.campaigns import SITE, make_crowd_campaign

pytestmark = pytest.mark.django_db(transaction=True)
_BEFORE, _NOW = ("crowd", "0003_notifications"), ("crowd", "0004_plain_names")


@pytest.fixture
def migrated_back() -> Iterator[None]:
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.usefixtures("migrated_back")
def test_discrepancies_polls_and_payloads_survive_their_new_names(owner: User) -> None:
    campaign = make_crowd_campaign(owner, "mturk", n_hits=1)
    wave = Wave.objects.create(campaign=campaign, number=1, n_hits=1, n_places=2, max_cost=2, site_url=SITE)
    posting = Posting.objects.create(campaign=campaign, wave=wave, n_places=2)
    worker, at = Worker.objects.create(platform="mturk", key="A1WORKER"), timezone.now()
    MigrationExecutor(connection).migrate([_BEFORE])
    old = MigrationExecutor(connection).loader.project_state([_BEFORE]).apps
    old.get_model("crowd", "Posting").objects.filter(pk=posting.pk).update(look_at=at)
    fields = {"campaign_id": posting.campaign_id, "posting_id": posting.pk, "worker_id": worker.pk}
    old.get_model("crowd", "Submission").objects.create(
        platform_id="S1", state="submitted", trouble="wrong-code", told={"Answer": "x"}, dismissed_at=at, **fields
    )

    MigrationExecutor(connection).migrate([_NOW])

    assert Posting.objects.get().poll_at == at
    submission = Submission.objects.get()
    assert (submission.discrepancy, submission.payload) == ("wrong-code", {"Answer": "x"})
    assert submission.dismissed_at == at
