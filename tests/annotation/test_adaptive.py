"""HITs that are drawn at random, those of undecided pairs more often: with which probability is kept, and used."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from analysis.data.dialogues.loading import load_work
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import load_settings
from analysis.methods.study.recommended_comparison import RecommendedComparison
from analysis.methods.study.study import Study, run_study
from analysis.results.sections import Output
from analysis.web.services.looks import take_look
from annotation.export.attributes import DRAWN, weigh_draws
from annotation.export.rows import ASSIGNMENT_COLUMNS, iter_assignments
from annotation.models import Assignment
from annotation.services.assignments import start_assignment
from campaigns.contracts.platform import Place
from campaigns.design.drawing import FLOOR
from campaigns.models import Campaign, HitItem
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.test_downloads import replicated
from tests.annotation.open_campaigns import open_campaign
from tests.databases import on_both
from tests.results import tables_of

pytestmark = on_both
N_HITS = 4


def adaptive(owner: User, **more) -> Campaign:
    campaign = open_campaign(owner, n_hits=N_HITS, is_adaptive=True, **more)
    campaign.hits.filter(number=1).update(weight=0)
    return campaign


def test_a_hit_of_decided_pairs_is_drawn_less_often_and_the_probability_is_kept(owner: User) -> None:
    campaign = adaptive(owner)
    first = start_assignment(campaign=campaign, worker_key="ann")
    of_first, of_others = FLOOR / N_HITS, FLOOR / N_HITS + (1 - FLOOR) / (N_HITS - 1)
    assert first.draw_probability == pytest.approx(of_first if first.hit.number == 1 else of_others)
    assert first.even_probability == pytest.approx(1 / N_HITS)
    for name in ("ben", "cem", "dee"):
        last = start_assignment(campaign=campaign, worker_key=name)
    assert (last.draw_probability, last.even_probability) == (1, 1)
    assert sorted(campaign.assignments.values_list("hit__number", flat=True)) == [1, 2, 3, 4]
    row = dict(zip(ASSIGNMENT_COLUMNS, next(iter_assignments(campaign)), strict=True))
    assert row["draw_probability"] == first.draw_probability and row["even_probability"] == first.even_probability


def test_without_the_setting_or_with_a_hit_that_the_platform_names_nothing_is_drawn(owner: User) -> None:
    plain = start_assignment(campaign=open_campaign(owner), worker_key="ann")
    assert (plain.hit.number, plain.draw_probability, plain.even_probability) == (1, None, None)
    named = start_assignment(campaign=adaptive(owner), worker_key="ben", place=Place("p-1", hit_number=1))
    assert (named.hit.number, named.draw_probability) == (1, None)


def test_a_draw_takes_as_many_queries_however_many_hits_there_are(owner: User, django_assert_max_num_queries) -> None:
    campaign = open_campaign(owner, n_hits=30, is_adaptive=True)
    with django_assert_max_num_queries(40):
        start_assignment(campaign=campaign, worker_key="ann")


def test_a_worker_sees_nothing_of_it(owner: User, client: Client) -> None:
    campaign = adaptive(owner, platform_settings={"access": "open"})
    page = client.get(reverse("rate:welcome", args=[campaign.public_id])).text
    assert "probab" not in page and "undecided" not in page


def lopsided(owner: User) -> Campaign:
    """Return a campaign of which three of six HITs are finished; its last HIT has one system's outputs only."""
    campaign = rated_campaign(
        owner, n_hits=6, n_rated=3, n_careless=0, worker_test="none", is_adaptive=True, stopping_rule="among",
        stopping_systems=["system-a", "system-b"],
    )  # fmt: skip
    campaign.stopping_systems = sorted(campaign.systems.values_list("name", flat=True))[:2]
    campaign.save()
    ordinary = HitItem.objects.filter(hit__campaign=campaign, hit__number=6, kind=0)
    ordinary.exclude(output__system__name__in=campaign.stopping_systems).delete()
    return campaign


def test_a_look_weighs_hits_by_what_is_undecided(owner: User) -> None:
    campaign = lopsided(owner)
    look = take_look(campaign=campaign)
    assert (look.n_wanted, look.has_closed) == (1, False)
    weights = dict(campaign.hits.values_list("number", "weight"))
    assert weights[6] == 1 and weights[1] == pytest.approx(1 / 3)


def test_results_are_weighted_by_the_probabilities_and_say_so(owner: User, tmp_path: Path) -> None:
    campaign = rated_campaign(owner, n_rated=3, n_careless=0, worker_test="none", is_adaptive=True)
    drawn = Assignment.objects.filter(campaign=campaign, state="finished")
    for assignment, probability in zip(drawn.order_by("started_at", "pk"), (0.1, 0.5, 0.6), strict=True):
        assignment.draw_probability, assignment.even_probability = probability, 0.25
        assignment.save()
    keys = list(drawn.order_by("started_at", "pk").values_list("pk", flat=True))
    weights = weigh_draws(campaign, drawn.values_list(*DRAWN))
    np.testing.assert_allclose(
        [weights[key] for key in keys], [1 + 1 / 3 * 1.5, 1 - 1 / 2 * 0.5, 0.25 / 0.6], rtol=1e-6
    )

    run = analysed(campaign)
    report = run.report

    folder = tmp_path / "package"
    summary, printed = replicated((Path(settings.MEDIA_ROOT) / run.folder / "package.zip").read_bytes(), folder)
    assert printed == summary
    again = load_settings(str(folder / "protocol.json"))
    loaded = load_ratings(folder / "ratings.csv", criteria=again.criterion_names)
    study = run_study(loaded, again, work=load_work(folder / "assignments.csv", None))

    def differences(study: Study) -> list[float]:
        return [pair["difference"] for pair in RecommendedComparison().detail(study)["recommended"]["pairs"]]

    assert [pair["difference"] for pair in report["recommended"]["pairs"]] == pytest.approx(differences(study))
    assert differences(study) != pytest.approx(differences(replace(study, work=())))
    assert report["recommended"]["is_weighted"]
    table = next(table for table in tables_of(report, Output.FILES) if table.name == "recommended")
    assert "weighted by the inverse of the probabilities" in table.caption


def test_where_all_hits_hold_the_same_the_page_says_that_there_is_nothing_to_choose(
    owner: User, owner_client: Client
) -> None:
    campaign = rated_campaign(owner, n_rated=0, is_adaptive=True)
    url = reverse("campaigns:settings", args=[campaign.public_id])
    assert "there is nothing to choose" in owner_client.get(url).text
    HitItem.objects.filter(hit__campaign=campaign, hit__number=2, kind=0).first().delete()
    assert "there is nothing to choose" not in owner_client.get(url).text
    Campaign.objects.filter(pk=campaign.pk).update(platform="mturk")
    assert "so none is drawn here" in owner_client.get(url).text
