"""Rating with every kind of response: what a worker's page asks, what is kept, and what of it is analysed."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_json
from analysis.web.queries.campaigns import settings_of
from analysis.web.queries.finished_work import read_ratings
from analysis.web.queries.workers_now import list_live_workers
from annotation.export.downloads import count_rows
from annotation.export.rows import RATING_COLUMNS, rating_blocks, score_blocks
from annotation.models import Assignment, Response
from annotation.pages.questions import AnswerKey
from annotation.queries import criteria_of
from annotation.services.assignments import finish_assignment
from annotation.services.erasing import erase_worker
from annotation.services.ratings import save_page
from campaigns.models import Campaign, Criterion
from campaigns.services.criteria import change_criterion
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from evalsite.lib.tables.writing import write_csv
from tests.annotation.open_campaigns import open_campaign, rate_items
from tests.annotation.worker_pages import form_of, started, url

# Name, kind, settings, and what else is set.
CRITERIA: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("adequacy", "slider", {}, {}),
    ("quality", "scale", {"labels": "bad\nfair\ngood", "lowest": 1}, {"may_abstain": True}),
    ("errors", "number", {"least": "0", "greatest": "4"}, {"is_negative": True}),
    ("tone", "choice", {"options": "kind\nrude", "is_several": "yes"}, {"is_in_worker_test": False}),
    ("reason", "text", {"longest": 200}, {"is_required": False, "is_in_worker_test": False}),
]
ANSWERS = {"adequacy": ["70"], "quality": ["3"], "errors": ["1"], "tone": ["rude", "kind"], "reason": ["It is =true."]}


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """A running campaign with a criterion of each kind, whose HIT has three items."""
    campaign = open_campaign(owner, n_hits=1, size=3)
    campaign.criteria.all().delete()
    for order, (name, response, settings, fields) in enumerate(CRITERIA):
        Criterion.objects.create(
            campaign=campaign, order=order, name=name, statement=f"Its {name}.", response=response, settings=settings,
            **fields,
        )  # fmt: skip
    return campaign


def ids(campaign: Campaign) -> dict[str, AnswerKey]:
    return {criterion.name: AnswerKey(criterion.pk) for criterion in criteria_of(campaign)}


def sent(campaign: Campaign, **changes: Any) -> dict[AnswerKey, list[str]]:
    """Return an item's answers by criterion; None leaves one out."""
    return {ids(campaign)[name]: values for name, values in (ANSWERS | changes).items() if values is not None}


def save(assignment: Assignment, position: int = 1, abstained: dict[str, str] | None = None, **changes: Any) -> None:
    by_id = {ids(assignment.campaign)[name]: reason for name, reason in (abstained or {}).items()}
    answers = sent(assignment.campaign, **changes)
    save_page(assignment_id=assignment.pk, position=position, answers=answers, abstained=by_id)


def test_each_answer_is_kept_as_its_kind_keeps_it_and_with_its_score(campaign: Campaign) -> None:
    save(started(campaign))
    rows = Response.objects.order_by("criterion__order").values_list("criterion__name", "value", "score")
    assert list(rows) == [
        ("adequacy", 70, 70.0),
        ("quality", 3, 3.0),
        ("errors", 1, 1.0),
        ("tone", ["kind", "rude"], None),
        ("reason", "It is =true.", None),
    ]


def test_a_browser_without_script_sends_the_page_and_what_it_refuses_is_named(
    campaign: Campaign, client: Client
) -> None:
    assignment = started(campaign)
    page = client.get(url("hit", assignment))
    names = {name: f"answer_{key.suffix}" for name, key in ids(campaign).items()}
    assert set(re.findall(r' name="(answer_\d+)"', page.text)) == {names[n] for n in ANSWERS if n != "adequacy"}
    values = {names[name]: values for name, values in ANSWERS.items()}
    bad = client.post(url("hit", assignment), form_of(page).hidden | values | {names["errors"]: "five"})
    assert bad.status_code == 422
    assert "A whole number from 0 to 4 is needed, not “five”." in bad.text
    assert not Response.objects.exists()
    assert client.post(url("hit", assignment), form_of(page).hidden | values).status_code == 200
    assert Response.objects.count() == 5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quality": None}, "Choose a point for every statement: 1 of 5 have no answer."),
        ({"quality": [""], "errors": None}, "Answer every statement: 2 of 5 have no answer."),
        ({"quality": ["4"]}, "Choose one of the 3 points."),
        ({"errors": ["1e309"]}, "A whole number from 0 to 4 is needed"),
        ({"tone": ["cold"]}, "“cold” is none of the options."),
        ({"reason": ["x" * 10_000_000]}, "at most 200 are kept"),
    ],
)
def test_nothing_is_kept_of_an_item_with_an_answer_that_cannot_be(campaign: Campaign, changes: dict, said: str) -> None:
    with pytest.raises(DomainError, match=re.escape(said)):
        save(started(campaign), **changes)
    assert not Response.objects.exists()


def test_an_optional_answer_may_be_left_out(campaign: Campaign) -> None:
    save(started(campaign), reason=None)
    assert not Response.objects.filter(criterion__name="reason").exists()


class TestAbstaining:
    def test_a_worker_who_cannot_judge_goes_on_and_the_reason_is_kept(self, campaign: Campaign) -> None:
        save(started(campaign), abstained={"quality": "yes"}, quality=None)
        found = Response.objects.get(criterion__name="quality")
        assert (found.value, found.score, found.abstained) == (None, None, "cannot judge")

    def test_it_goes_before_an_answer(self, campaign: Campaign) -> None:
        save(started(campaign), abstained={"quality": "yes"})
        assert Response.objects.get(criterion__name="quality").score is None

    def test_only_reasons_that_are_offered_are_taken(self, campaign: Campaign) -> None:
        campaign.criteria.filter(name="quality").update(abstain_reasons="no context\nnot my language")
        assignment = started(campaign)
        with pytest.raises(DomainError, match="is none of the reasons"):
            save(assignment, abstained={"quality": "bored"})
        save(assignment, abstained={"quality": "not my language"})
        assert Response.objects.get(criterion__name="quality").abstained == "not my language"

    def test_nobody_abstains_where_that_is_not_offered(self, campaign: Campaign) -> None:
        with pytest.raises(DomainError, match="1 of 5 have no answer"):
            save(started(campaign), abstained={"adequacy": "yes"}, adequacy=None)


@pytest.fixture
def finished(campaign: Campaign) -> Campaign:
    """A campaign of which one HIT is finished, with one abstention."""
    assignment = started(campaign)
    save(assignment)
    save(assignment, 2, {"quality": "yes"})
    save(assignment, 3, reason=None, errors=["4"])
    finish_assignment(assignment_id=assignment.pk)
    return campaign


def test_files_have_every_answer_and_the_score_of_those_that_have_one(finished: Campaign) -> None:
    rows = [dict(zip(RATING_COLUMNS, row, strict=True)) for row in in_rows(rating_blocks(finished))]
    first = {row["criterion"]: (row["score"], row["response"], row["abstained"]) for row in rows[:5]}
    assert first == {
        "adequacy": (70, "", ""),
        "quality": (3, "", ""),
        "errors": (1, "", ""),
        "tone": (None, json.dumps(["kind", "rude"]), ""),
        "reason": (None, "It is =true.", ""),
    }
    assert [type(row["score"]) for row in rows[:3]] == [int, int, int]
    assert [row["abstained"] for row in rows if row["criterion"] == "quality"] == ["", "cannot judge", ""]
    assert len(rows) == 14


def test_scores_between_bounds_are_analysed_on_one_scale_and_nothing_is_imputed(finished: Campaign) -> None:
    settings = settings_of(finished)
    assert {criterion.name: criterion.scale for criterion in settings.criteria} == {
        "adequacy": None,
        "quality": (1.0, 3.0),
        "errors": (0.0, 4.0),
    }
    assert [row[-2:] for row in in_rows(score_blocks(finished))][:3] == [
        ("adequacy", 70),
        ("quality", 3),
        ("errors", 1),
    ]
    found = read_ratings(finished)
    scores = found.ratings.scores.tolist()
    assert scores[0] == [70, 100, 25]
    assert [row[0] for row in scores] == [70, 70, 70]
    assert scores[1][1] != scores[1][1], "who could not judge gave no score"
    assert scores[2][2] == 100


def test_seconds_of_an_item_are_its_own_where_the_one_before_has_no_score(campaign: Campaign) -> None:
    campaign.criteria.exclude(name="quality").delete()
    assignment = started(campaign)
    for position, reason in ((1, {}), (2, {"quality": "yes"}), (3, {})):
        save(assignment, position, reason, adequacy=None, errors=None, tone=None, reason=None)
    finish_assignment(assignment_id=assignment.pk)
    start = Assignment.objects.get().started_at
    for position, seconds in ((1, 5), (2, 65), (3, 67)):
        at = start + timedelta(seconds=seconds)
        Response.objects.filter(item__position=position).update(rated_at=at)
    assert read_ratings(campaign).seconds.tolist() == [5, 2]


def test_the_file_of_all_answers_can_be_analysed_as_it_is(finished: Campaign, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    with path.open("w", newline="") as stream:
        write_csv(stream, RATING_COLUMNS, in_rows(rating_blocks(finished)))
    settings = settings_of(finished)
    loaded = load_ratings(path, criteria=settings.criterion_names, scale=settings.scales)
    assert np.nan_to_num(loaded.ratings.scores, nan=-1).tolist() == [[70, 3, 1], [70, -1, 1], [70, 3, 4]]
    assert [(w.code, w.count) for w in loaded.warnings if w.code == "unscored"] == [("unscored", 6)]


def test_few_points_make_nobody_suspicious(finished: Campaign, owner: User) -> None:
    (worker,) = list_live_workers(finished, settings_of(finished), timezone.now())
    assert (worker.conduct.share_repeated, worker.conduct.sd) == (None, None)
    of_sliders = open_campaign(owner, n_hits=1)
    finish_assignment(assignment_id=rate_items(started(of_sliders)).pk)
    (worker,) = list_live_workers(of_sliders, settings_of(of_sliders), timezone.now())
    assert (worker.conduct.share_repeated, worker.conduct.sd) == (1, 0)


def test_who_says_on_which_scale_a_file_is_is_believed() -> None:
    settings = from_json({"criteria": [{"name": name, "scale": [1, 5]} for name in ("clarity", "usefulness")]})
    assert settings.scales == [(1, 5), (1, 5)]
    assert settings.on_scale((1, 7)).scales == [(1, 7), (1, 7)]
    assert settings.on_scale(None) == settings


def test_ratings_are_counted_where_not_all_were_given(finished: Campaign) -> None:
    assert count_rows(finished, timezone.now()).n_ratings == Response.objects.count() == 14


def test_a_campaign_without_scores_says_where_its_answers_are(finished: Campaign) -> None:
    finished.criteria.exclude(response__in=["choice", "text"]).update(response="text", settings={})
    for ask in (settings_of, read_ratings):
        with pytest.raises(DomainError, match="among the downloads") as error:
            ask(finished)
        assert error.value.code == "bad_settings"


def test_texts_that_a_worker_wrote_are_erased_with_the_rest(finished: Campaign, owner: User) -> None:
    worker = Assignment.objects.select_related("worker").get(campaign=finished).worker
    erase_worker(campaign=finished, worker=worker, wants={"feedback"}, user=owner)
    texts = Response.objects.filter(criterion__name="reason")
    assert [response.value for response in texts] == ["[erased]"] * 2
    assert Response.objects.filter(criterion__name="adequacy", score=70).count() == 3


def test_another_kind_begins_with_its_defaults(campaign: Campaign) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(status="draft", launched_at=None)
    campaign.refresh_from_db()
    criterion = campaign.criteria.get(name="quality")
    change_criterion(campaign=campaign, criterion=criterion, changes={"response": "slider"})
    criterion.refresh_from_db()
    ends = {"left_label": "strongly disagree", "right_label": "strongly agree"}
    assert criterion.settings == ends | {"labels_between": ""}
