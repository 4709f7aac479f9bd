"""Data of existing installations, migrated from the state before a change."""

from contextlib import AbstractContextManager
from typing import Any

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
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign
from tests.databases import migrated_back

pytestmark = pytest.mark.django_db(transaction=True)


def at(migration: str) -> AbstractContextManager[Any]:
    """Give the models as they were at a migration of analysis; migrate to the newest ones at the end."""
    return migrated_back(("analysis", migration))


def old_file(old: Any, owner: User) -> Any:
    """Store a ratings file among models of before."""
    files = old.get_model("analysis", "RatingsFile").objects
    return files.create(owner_id=owner.pk, title="Old", name="old.csv", file="old", size=1, sha256="0" * 64)


def old_run(old: Any, owner: User, report: dict[str, Any]) -> Any:
    """Store an analysis of a file among models of before."""
    runs = old.get_model("analysis", "AnalysisRun").objects
    file = old_file(old, owner)
    return runs.create(ratings_file=file, created_by_id=owner.pk, settings={}, mapping={}, report=report)


def test_files_of_before_are_utf8_and_on_0_to_100(owner: User) -> None:
    with at("0002_campaign_snapshots") as old:
        kept = old_file(old, owner)
    file = RatingsFile.objects.get(pk=kept.pk)
    assert (file.encoding, file.scale, file.owner_id) == ("utf-8", None, owner.pk)
    assert file.made_from == {}, "none is a table of another tool's file"


def test_a_campaign_of_before_has_no_link_and_takes_one(owner: User) -> None:
    with at("0005_first_report") as old:
        run = old_run(old, owner, {"summary": {}})
    assert AnalysisRun.objects.get(pk=run.pk).report == {"summary": {}}
    assert not ShareLink.objects.exists()
    links = [ShareLink.objects.create(campaign=make_campaign(owner), created_by=owner) for _ in range(2)]
    assert links[0].token != links[1].token and all(link.is_open for link in links)


def test_an_analysis_of_before_can_be_a_pilot(owner: User) -> None:
    with at("0007_looks") as old:
        run = old_run(old, owner, {"summary": {}})
    assert not PowerAnalysis.objects.exists()
    kept = AnalysisRun.objects.get(pk=run.pk)
    plan = PowerAnalysis.objects.create(created_by=owner, settings={}, pilot=kept)
    assert (plan.pilot, plan.campaign, plan.plan) == (kept, None, None)


def test_analyses_of_before_compare_no_metrics(owner: User) -> None:
    report = {"summary": {"systems": []}}
    with at("0008_power_analyses") as old:
        run = old_run(old, owner, report)
    found = AnalysisRun.objects.get(pk=run.pk)
    assert (found.metrics, found.report) == ([], report)


def test_links_of_before_stay_and_answers_are_kept_once(owner: User) -> None:
    link = ShareLink.objects.create(campaign=make_campaign(owner), created_by=owner)
    with at("0009_metric_scores"):
        pass
    assert ShareLink.objects.get().token == link.token
    answer = {"campaign": link.campaign, "question": "heds-5.1", "changed_by": owner}
    PaperAnswer.objects.create(**answer, text="The board")
    with pytest.raises(IntegrityError), transaction.atomic():
        PaperAnswer.objects.create(**answer)


def test_scores_of_before_stay_and_judges_keep_each_call_once(owner: User) -> None:
    campaign = make_campaign(owner)
    kept = MetricScores.objects.create(campaign=campaign, created_by=owner, name="scores.csv")
    with at("0010_paper_answers"):
        pass
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
