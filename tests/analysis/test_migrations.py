"""Data of existing installations, migrated from the state before a change."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from analysis.models import AnalysisRun, PaperAnswer, PowerAnalysis, RatingsFile, ShareLink
from tests.campaigns.cast import make_campaign

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = [("analysis", "0002_campaign_snapshots")]


def test_files_of_before_are_utf8_and_on_0_to_100(owner) -> None:
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(BEFORE)
    try:
        old: Any = executor.loader.project_state(BEFORE).apps.get_model("analysis", "RatingsFile")
        sender = old._meta.get_field("owner").related_model.objects.get(pk=owner.pk)
        kept = old.objects.create(owner=sender, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64)
    finally:
        MigrationExecutor(connection).migrate(latest)
    file = RatingsFile.objects.get(pk=kept.pk)
    assert (file.encoding, file.scale, file.owner_id) == ("utf-8", None, owner.pk)


def test_a_campaign_of_before_has_no_link_and_takes_one(owner) -> None:
    executor = MigrationExecutor(connection)
    latest, before = executor.loader.graph.leaf_nodes(), [("analysis", "0005_first_report")]
    executor.migrate(before)
    try:
        old: Any = executor.loader.project_state(before).apps
        file = old.get_model("analysis", "RatingsFile").objects.create(
            owner_id=owner.pk, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64
        )
        run = old.get_model("analysis", "AnalysisRun").objects.create(
            ratings_file=file, created_by_id=owner.pk, settings={}, mapping={}, report={"summary": {}}
        )
    finally:
        MigrationExecutor(connection).migrate(latest)
    assert AnalysisRun.objects.get(pk=run.pk).report == {"summary": {}}
    assert not ShareLink.objects.exists()
    links = [ShareLink.objects.create(campaign=make_campaign(owner), created_by=owner) for _ in range(2)]
    assert links[0].token != links[1].token and all(link.is_open for link in links)


def test_an_analysis_of_before_can_be_a_pilot(owner) -> None:
    executor = MigrationExecutor(connection)
    latest, before = executor.loader.graph.leaf_nodes(), [("analysis", "0007_looks")]
    executor.migrate(before)
    try:
        old: Any = executor.loader.project_state(before).apps
        file = old.get_model("analysis", "RatingsFile").objects.create(
            owner_id=owner.pk, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64
        )
        run = old.get_model("analysis", "AnalysisRun").objects.create(
            ratings_file=file, created_by_id=owner.pk, settings={}, mapping={}, report={"summary": {}}
        )
    finally:
        MigrationExecutor(connection).migrate(latest)
    assert not PowerAnalysis.objects.exists()
    kept = AnalysisRun.objects.get(pk=run.pk)
    plan = PowerAnalysis.objects.create(created_by=owner, settings={}, pilot=kept)
    assert (plan.pilot, plan.campaign, plan.plan) == (kept, None, None)


def test_analyses_of_before_compare_no_metrics(owner) -> None:
    executor, before = MigrationExecutor(connection), [("analysis", "0008_power_analyses")]
    latest = executor.loader.graph.leaf_nodes()
    executor.migrate(before)
    try:
        apps = executor.loader.project_state(before).apps
        old_file: Any = apps.get_model("analysis", "RatingsFile")
        old_run: Any = apps.get_model("analysis", "AnalysisRun")
        sender = old_file._meta.get_field("owner").related_model.objects.get(pk=owner.pk)
        kept = old_file.objects.create(owner=sender, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64)
        report = {"summary": {"systems": []}}
        run = old_run.objects.create(ratings_file=kept, created_by=sender, settings={}, mapping={}, report=report)
    finally:
        MigrationExecutor(connection).migrate(latest)
    found = AnalysisRun.objects.get(pk=run.pk)
    assert (found.metrics, found.report) == ([], report)


def test_links_of_before_stay_and_answers_are_kept_once(owner) -> None:
    executor = MigrationExecutor(connection)
    latest, before = executor.loader.graph.leaf_nodes(), [("analysis", "0009_metric_scores")]
    link = ShareLink.objects.create(campaign=make_campaign(owner), created_by=owner)
    executor.migrate(before)
    MigrationExecutor(connection).migrate(latest)
    assert ShareLink.objects.get().token == link.token
    answer = {"campaign": link.campaign, "question": "heds-5.1", "changed_by": owner}
    PaperAnswer.objects.create(**answer, text="The board")
    with pytest.raises(IntegrityError), transaction.atomic():
        PaperAnswer.objects.create(**answer)
