"""Judges of a campaign's outputs: which are added, and what is removed with them."""

import pytest

from analysis.models import Judge, JudgeAnswer, MetricScores
from analysis.web.services.judges import remove_judge, start_judge
from campaigns.models import Campaign
from campaigns.services.deletion import execute_deletion, refusals_of, request_deletion
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import make_campaign
from tests.databases import on_both
from tests.metrics.judges import added, fresh, run


def test_names_are_taken_once(owner, rated, server):
    added(rated, owner, server)
    with pytest.raises(DomainError, match="Another judge"):
        added(rated, owner, server)
    MetricScores.objects.create(campaign=rated, created_by=owner, name="x.csv", metrics=[{"name": "K: mean"}])
    with pytest.raises(DomainError, match="There are scores"):
        added(rated, owner, server, name="K")


def test_live_chats_and_drafts_are_not_judged(owner, rated, server):
    rated.launched_at = None
    rated.save()
    with pytest.raises(DomainError, match="Launch the campaign"):
        added(rated, owner, server)
    with pytest.raises(DomainError, match="Workers chat"):
        added(make_campaign(owner, "dialogue-free"), owner, server)


@on_both
def test_removing_a_judge_removes_answers_scores_and_job(owner, rated, server):
    judge = added(rated, owner, server)
    start_judge(judge=judge, user=owner, limits={"max_calls": 3})
    with pytest.raises(DomainError, match="Stop it first"):
        remove_judge(judge=judge)
    judge = run(fresh(judge))
    remove_judge(judge=judge)
    assert not (JudgeAnswer.objects.exists() or MetricScores.objects.exists() or Judge.objects.exists())
    assert not Job.objects.filter(kind="analysis.judge").exists()


def test_a_campaign_is_deleted_with_its_judges_but_not_while_one_is_asked(owner, rated, server):
    judge = added(rated, owner, server)
    Campaign.objects.filter(pk=rated.pk).update(status=Campaign.Status.CLOSED)
    rated.refresh_from_db()
    start_judge(judge=judge, user=owner, limits={"max_calls": 3})
    assert any("being computed" in text for text in refusals_of(rated))
    run(fresh(judge))
    request_deletion(campaign=rated, user=owner, name=rated.name)
    rated.refresh_from_db()
    execute_deletion(campaign=rated, on_progress=lambda done, total, stage: None)
    assert not (Campaign.objects.exists() or Judge.objects.exists() or JudgeAnswer.objects.exists())
