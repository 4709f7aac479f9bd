"""Campaigns in which workers rate each reply of a chat: a crowd chats and answers, and the true order comes out."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.utils import timezone

from analysis.data.ratings.loading import load_ratings
from analysis.models import AnalysisRun
from analysis.web.queries.campaigns import study_settings_of
from analysis.web.queries.finished_work import read_ratings
from analysis.web.queries.workers_now import list_live_workers
from annotation.models import Response
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.models import Campaign, Criterion
from campaigns.queries import find_tested, get_campaign_for
from evalsite.accounts.models import User
from evalsite.lib.tables import TableError
from tests.analysis.campaigns import analysed
from tests.analysis.test_downloads import replicated_elsewhere
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db
CHATBOTS = ("Amber", "Birch", "Coral")
QUALITY = dict(zip(CHATBOTS, (-1.5, 0.0, 1.5), strict=True))
TRUE_ORDER = ["Coral", "Birch", "Amber"]


def crowded(campaign: Campaign, *, n_workers: int, careless: float = 0) -> Campaign:
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=4, n_workers=n_workers, quality=QUALITY, careless=careless)
        outcome = run_crowd(campaign, crowd, client)
    assert outcome.errors == []
    return campaign


def opened(owner: User, protocol: str, *, n_hits: int, min_inputs: int, **fields: Any) -> Campaign:
    campaign = open_live_campaign(owner, protocol, chatbots=CHATBOTS, n_hits=n_hits, seed=20, **fields)
    campaign.chat |= {"min_inputs": min_inputs}
    campaign.save()
    return campaign


@pytest.fixture(scope="module")
def ssa_campaign(module_db: None) -> Campaign:
    campaign = opened(make_owner(), "ssa-chat", n_hits=6, min_inputs=3, hits_per_worker=3)
    return crowded(campaign, n_workers=2)


@pytest.fixture(scope="module")
def rated(module_db: None) -> Campaign:
    """Two sliders about the whole chat, and two about each reply, of which one is negative."""
    campaign = opened(
        User.objects.first() or make_owner(),
        "dialogue-free",
        n_hits=4,
        min_inputs=2,
        hits_per_worker=1,
        worker_test="none",
    )
    campaign.criteria.exclude(name__in=("fun", "interesting")).delete()
    asked = {"campaign": campaign, "scope": "turn"}
    Criterion.objects.create(**asked, order=8, name="apt", statement="The reply is apt.")
    Criterion.objects.create(**asked, order=9, name="dull", statement="The reply is dull.", is_negative=True)
    return crowded(campaign, n_workers=4)


def of_replies(campaign: Campaign, name: str) -> dict[str, list[np.ndarray]]:
    """Return the scores of the replies of each ordinary chat, by chatbot."""
    chats: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    rows = Response.objects.filter(assignment__campaign=campaign, criterion__name=name, item__kind=0)
    for system, assignment, item, score in rows.values_list(
        "item__output__system__name", "assignment", "item", "score"
    ):
        chats[system, assignment, item].append(score)
    found = defaultdict(list)
    for (system, _, _), scores in chats.items():
        found[system].append(np.array(scores))
    return found


# --- Sensible and specific


def test_each_reply_counts_for_the_share_of_sensible_and_specific_ones(ssa_campaign: Campaign) -> None:
    run = analysed(ssa_campaign)
    summary = run.report["summary"]
    assert [row["system"] for row in summary["systems"]] == TRUE_ORDER
    sensible, specific = of_replies(ssa_campaign, "sensible"), of_replies(ssa_campaign, "specific")
    for row in summary["systems"]:
        answers = np.concatenate(sensible[row["system"]])
        n_specific = sum(scores.sum() for scores in specific[row["system"]])
        assert row["criteria"]["sensible"] == pytest.approx(answers.mean())
        assert row["criteria"]["specific"] == pytest.approx(n_specific / answers.size), "not asked counts as no"
        assert row["n"] == 2 * answers.size
    n_chats = sum(map(len, sensible.values()))
    assert summary["clusters"] == {"worker": 2, "chat": n_chats}
    assert any("without being asked" in warning["message"] for warning in run.report["warnings"])


def test_the_worker_test_compares_replies_with_those_of_the_degraded_chatbot(ssa_campaign: Campaign) -> None:
    summary = analysed(ssa_campaign).report["summary"]
    assert summary["worker_test"]["preset"] == "unpaired-ranksum"
    assert summary["workers"] == {"total": 2, "passed": 2, "failed": 0, "untested": 0}


def test_the_downloaded_file_is_analysed_alike(ssa_campaign: Campaign, tmp_path: Path) -> None:
    run = analysed(ssa_campaign)
    with default_storage.open(f"{run.folder}/package.zip") as package:
        summary, printed = replicated_elsewhere(package.read(), tmp_path)
    assert printed == summary


# --- Sliders


def whole_alone(campaign: Campaign) -> dict[str, Any]:
    """Return the results of a campaign as if nobody had been asked about single replies."""
    Response.objects.filter(assignment__campaign=campaign, turn__gt=0).delete()
    campaign.criteria.filter(scope="turn").delete()
    return analysed(campaign).report


def test_scores_of_whole_chats_are_the_same_digit_for_digit(rated: Campaign) -> None:
    run = analysed(rated)
    with_replies = run.report
    assert set(with_replies["summary"]["systems"][0]["criteria"]) == {"fun", "interesting"}
    alone = whole_alone(rated)
    assert "replies" not in alone
    for name in ("systems", "significance", "workers", "clusters"):
        assert with_replies["summary"][name] == alone["summary"][name], name
    for name in ("intervals", "comparisons", "worker_table", "settings"):
        assert with_replies[name] == alone[name], name


def test_replies_have_a_section_of_their_own(rated: Campaign) -> None:
    run = analysed(rated)
    apt, dull = run.report["replies"]
    assert [each["criterion"] for each in (apt, dull)] == ["apt", "dull"]
    for each, sign in ((apt, 1), (dull, -1)):
        assert [row["system"] for row in each["systems"]] == TRUE_ORDER
        assert each["clusters"] == {"worker": 4, "chat": 12}
        chats = of_replies(rated, each["criterion"])
        for row in each["systems"]:
            means = np.array([scores.mean() for scores in chats[row["system"]]])
            means = means if sign > 0 else 100 - means
            assert row["mean"] == pytest.approx(means.mean())
            assert row["interval"][0] < row["mean"] < row["interval"][1]
            assert (row["n_chats"], row["n_replies"]) == (means.size, sum(map(len, chats[row["system"]])))
    assert [pair["systems"] for pair in apt["pairs"]] == [["Coral", "Birch"], ["Coral", "Amber"], ["Birch", "Amber"]]
    assert apt["pairs"][1]["p_holm"] < 0.05
    section = next(each for each in run.result.sections if each.slug == "replies")
    assert [len(table.rows) for table in section.tables] == [6, 6]


def test_the_package_gives_the_same_again(rated: Campaign, tmp_path: Path) -> None:
    run = analysed(rated)
    with default_storage.open(f"{run.folder}/package.zip") as package:
        summary, printed = replicated_elsewhere(package.read(), tmp_path)
    assert printed == summary


def test_without_scores_of_whole_chats_the_mean_of_its_replies_is_that_of_a_chat(rated: Campaign) -> None:
    whole = rated.criteria.exclude(scope="turn")
    Response.objects.filter(criterion__in=whole).delete()
    whole.delete()
    run = analysed(rated)
    summary = run.report["summary"]
    assert [row["system"] for row in summary["systems"]] == TRUE_ORDER
    chats = of_replies(rated, "dull")
    for row in summary["systems"]:
        means = [100 - scores.mean() for scores in chats[row["system"]]]
        assert row["criteria"]["dull"]["raw"] == pytest.approx(np.mean(means))
    assert any("mean of its replies" in note for note in run.report["notes"])
    live = read_ratings(rated)
    stored = load_ratings(
        Path(django_settings.MEDIA_ROOT) / AnalysisRun.objects.get(pk=run.pk).ratings_file.file.name,
        criteria=["apt", "dull"],
    )
    assert sorted(live.ratings.scores.round(9).tolist()) == sorted(stored.ratings.scores.round(9).tolist())


def test_workers_at_work_are_judged_by_whole_chats(rated: Campaign) -> None:
    assert study_settings_of(rated).criterion_names == ["interesting", "fun"]
    assert read_ratings(rated).ratings.scores.shape == (4 * 4, 2)
    assert {each.name for each in find_tested(rated, rated.criteria.all())} == {"interesting", "fun"}


def test_what_is_asked_of_the_whole_hit_is_about_no_chat(rated: Campaign) -> None:
    rated.criteria.exclude(scope="turn").update(scope="assignment")
    assert study_settings_of(rated).criterion_names == ["apt", "dull"]
    assert read_ratings(rated).ratings.scores.shape == (4 * 4, 2)
    assert {"apt", "dull"} <= {each.name for each in find_tested(rated, rated.criteria.all())}
    owner = rated.members.get()
    workers = list_live_workers(get_campaign_for(owner, rated.public_id), study_settings_of(rated), timezone.now())
    assert {worker.conduct.n_items for worker in workers} == {4}


# --- Files


def ratings_file(tmp_path: Path, rows: list[str], header: str = "worker,position,system,criterion,score,turn") -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_a_reply_is_rated_once(tmp_path: Path) -> None:
    rows = ["w,1,A,apt,50,2", "w,1,A,apt,60,4", "w,1,A,apt,70,4"]
    with pytest.raises(TableError, match="row 3 rates the same item"):
        load_ratings(ratings_file(tmp_path, rows), criteria=["apt"])


def test_an_empty_turn_is_the_whole_chat(tmp_path: Path) -> None:
    rows = ["w,1,A,fun,50,", "w,1,A,apt,60,4", "w,1,A,apt,70,6", "w,2,B,apt,10,2"]
    found = load_ratings(ratings_file(tmp_path, rows), criteria=["apt", "fun"])
    assert (found.criteria, found.ratings.scores.tolist()) == (["fun"], [[50]])
    assert found.replies is not None
    assert (found.replies.item.tolist(), found.replies.score.tolist()) == ([0, 0], [60, 70])
    assert found.replies.n_left_out == 1
    assert [warning.code for warning in found.warnings if warning.code == "replies_alone"] == ["replies_alone"]


def test_a_column_of_turns_without_any_changes_nothing(tmp_path: Path) -> None:
    header = "worker,position,system,score"
    plain = load_ratings(ratings_file(tmp_path, ["w,1,A,50", "w,2,B,9"], header), criteria=["x"])
    found = load_ratings(ratings_file(tmp_path, ["w,1,A,50,", "w,2,B,9,"], f"{header},turn"), criteria=["x"])
    assert found.replies is None
    assert found.fingerprint == plain.fingerprint
