"""Data of existing installations, migrated from the state before a change."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.db import IntegrityError, transaction

from analysis.models import (
    AnalysisRun,
    Judge,
    JudgeAnswer,
    MetricScores,
    PaperAnswer,
    PowerAnalysis,
    RatingsFile,
    ShareLink,
)
from analysis.results.stored import current
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner
from tests.databases import migrate_to, migrated_back, sqlite_at, sqlite_copy, using_database


class Stored(NamedTuple):
    """What an installation stored when these migrations were new, and how many rows their new tables had at first."""

    owner: User
    campaign: Campaign
    file: int
    first_run: int
    pilot: int
    run: int
    report: dict[str, Any]
    token: str
    scores: int
    n_links: int
    n_plans: int


@pytest.fixture(scope="module")
def stored(django_db_blocker: Any, session_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stored]:
    """An installation that was on each of these migrations once, in a database that no other module uses."""
    path = tmp_path_factory.mktemp("migrations") / "db.sqlite3"
    with django_db_blocker.unblock(), using_database(sqlite_at(path)):
        sqlite_copy(session_folder, path)
        owner = make_owner()
        campaign = make_campaign(owner)
        report: dict[str, Any] = {"summary": {"systems": []}}
        with migrated_back(("analysis", "0002_campaign_snapshots")) as old:
            file = old_file(old, owner)
            first_run = old_run(at("0005_first_report"), owner, {"summary": {}})
            old = at("0007_looks")
            n_links = old.get_model("analysis", "ShareLink").objects.count()
            pilot = old_run(old, owner, {"summary": {}})
            old = at("0008_power_analyses")
            n_plans = old.get_model("analysis", "PowerAnalysis").objects.count()
            run = old_run(old, owner, report)
            of_campaign = {"campaign_id": campaign.pk, "created_by_id": owner.pk}
            link = at("0009_metric_scores").get_model("analysis", "ShareLink").objects.create(**of_campaign)
            scores = at("0010_paper_answers").get_model("analysis", "MetricScores").objects
            kept = scores.create(**of_campaign, name="scores.csv")
        yield Stored(
            owner, campaign, file.pk, first_run.pk, pilot.pk, run.pk, report, link.token, kept.pk, n_links, n_plans
        )


def at(migration: str) -> Any:
    """Migrate on to a migration of analysis; return the models as they were then."""
    return migrate_to(("analysis", migration))


def old_file(old: Any, owner: User) -> Any:
    """Store a ratings file among models of before."""
    files = old.get_model("analysis", "RatingsFile").objects
    return files.create(owner_id=owner.pk, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64)


def old_run(old: Any, owner: User, report: dict[str, Any]) -> Any:
    """Store an analysis of a file among models of before."""
    runs = old.get_model("analysis", "AnalysisRun").objects
    file = old_file(old, owner)
    return runs.create(ratings_file=file, created_by_id=owner.pk, settings={}, mapping={}, report=report)


def test_files_of_before_are_utf8_and_on_0_to_100(stored: Stored) -> None:
    file = RatingsFile.objects.get(pk=stored.file)
    assert (file.encoding, file.scale, file.owner_id) == ("utf-8", None, stored.owner.pk)
    assert file.made_from == {}, "none is a table of another tool's file"
    assert file.reading == {}, "nobody knows how it was read"


def test_a_campaign_of_before_has_no_link_and_takes_one(stored: Stored) -> None:
    assert AnalysisRun.objects.get(pk=stored.first_run).report == current({"summary": {}})
    assert stored.n_links == 0
    owner = stored.owner
    links = [ShareLink.objects.create(campaign=make_campaign(owner), created_by=owner) for _ in range(2)]
    assert links[0].token != links[1].token and all(link.is_open for link in links)


def test_an_analysis_of_before_can_be_a_pilot(stored: Stored) -> None:
    assert stored.n_plans == 0
    kept = AnalysisRun.objects.get(pk=stored.pilot)
    plan = PowerAnalysis.objects.create(created_by=stored.owner, settings={}, pilot=kept)
    assert (plan.pilot, plan.campaign, plan.plan) == (kept, None, None)


def test_analyses_of_before_compare_no_metrics(stored: Stored) -> None:
    found = AnalysisRun.objects.get(pk=stored.run)
    assert (found.metrics, found.report) == ([], current(stored.report))


def test_links_of_before_stay_and_answers_are_kept_once(stored: Stored) -> None:
    link = ShareLink.objects.get(campaign=stored.campaign)
    assert link.token == stored.token
    answer = {"campaign": link.campaign, "question": "heds-5.1", "changed_by": stored.owner}
    PaperAnswer.objects.create(**answer, text="The board")
    with pytest.raises(IntegrityError), transaction.atomic():
        PaperAnswer.objects.create(**answer)


def test_scores_of_before_stay_and_judges_keep_each_call_once(stored: Stored) -> None:
    campaign = stored.campaign
    kept = MetricScores.objects.get(pk=stored.scores)
    owner = stored.owner
    judge = Judge.objects.create(campaign=campaign, created_by=owner, name="J", connector="openai-chat", scores=kept)
    answer = {"judge": judge, "output": add_outputs(campaign, 1, ["a"])[0], "attempt": 1}
    JudgeAnswer.objects.create(**answer)
    with pytest.raises(IntegrityError), transaction.atomic():
        JudgeAnswer.objects.create(**answer)
    with pytest.raises(IntegrityError), transaction.atomic():  # scored, but without a score
        JudgeAnswer.objects.create(**answer | {"attempt": 2, "state": JudgeAnswer.State.SCORED})
    with pytest.raises(IntegrityError), transaction.atomic():
        JudgeAnswer.objects.create(**answer | {"attempt": 2, "scores": {"1": 3}})
    kept.delete()
    judge.refresh_from_db()
    assert (judge.scores, judge.max_tokens, judge.answers.count()) == (None, 300, 1)
