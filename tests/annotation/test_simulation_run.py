"""A simulated crowd on the real pages, in this process."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from annotation.models import Assignment, Response
from annotation.simulation.crowd import Crowd
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.models import Campaign
from evalsite.lib.errors import DomainError
from tests.annotation.cast import build, launch
from tests.campaigns.cast import make_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(owner) -> Campaign:
    """A running QG campaign of four HITs with three systems: five items each."""
    campaign = make_campaign(owner, "qg", name="Tiny")
    build(campaign, n_systems=3)
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.n_reference = 3, 1, 1, 0
    campaign.save()
    return launch(campaign)


def simulate(campaign, *args, **options):
    out, err = StringIO(), StringIO()
    call_command("simulate", str(campaign.public_id), *args, stdout=out, stderr=err, **options)
    return out.getvalue()


def run(campaign, n_workers=4, max_hits=None, **crowd):
    with open_site(None) as client:
        made = make_crowd(campaign, seed=5, n_workers=n_workers, **crowd)
        visitors = []
        outcome = run_crowd(campaign, made, client, max_hits=max_hits, on_done=visitors.append)
    return outcome, visitors


def ratings_of(campaign):
    """Every score that is stored, by assignment and position, in the order of the criteria."""
    rows = Response.objects.filter(assignment__campaign=campaign).order_by("criterion__order")
    stored = {}
    for assignment, position, score in rows.values_list("assignment", "item__position", "score"):
        stored.setdefault((assignment, position), []).append(score)
    return {key: tuple(scores) for key, scores in stored.items()}


def test_a_crowd_finishes_a_campaign_and_every_acknowledged_rating_is_stored(campaign):
    outcome, visitors = run(campaign)
    assert outcome.errors == []
    assert outcome.n_hits == 4 and outcome.n_ratings == 4 * 5 * 4
    acknowledged = {
        (each.assignment_id, each.position): each.scores for visitor in visitors for each in visitor.acknowledged
    }
    assert acknowledged == ratings_of(campaign)
    campaign.refresh_from_db()
    assert campaign.status == Campaign.Status.CLOSED
    codes = set(campaign.assignments.values_list("completion_code", flat=True))
    assert {code for visitor in visitors for code in visitor.codes} == codes


def test_each_worker_does_as_many_hits_as_they_may(campaign):
    outcome, visitors = run(campaign, n_workers=3, max_hits=1)
    assert outcome.n_hits == 3
    assert [len(visitor.codes) for visitor in visitors] == [1, 1, 1]
    assert not campaign.assignments.exclude(state=Assignment.State.FINISHED).exists()


def test_who_leaves_midway_keeps_a_lease_open(campaign):
    outcome, _ = run(campaign, n_workers=4, leaving=1.0)
    assert outcome.n_left == 4 and outcome.n_hits == 0
    left = campaign.assignments.filter(state=Assignment.State.ACTIVE)
    assert left.filter(n_rated__gt=0, n_rated__lt=F("n_items")).count() == 4


def test_invited_workers_come_by_their_own_links(campaign):
    campaign.platform_settings = {"access": "personal"}
    campaign.save()
    outcome, visitors = run(campaign, n_workers=4, max_hits=1)
    assert outcome.errors == [] and outcome.n_hits == 4
    rated = {assignment.worker.name for assignment in campaign.assignments.select_related("worker")}
    assert rated == {visitor.worker.name for visitor in visitors}


def test_a_consent_text_is_agreed_to(campaign):
    campaign.consent = "You may stop at any time."
    campaign.save()
    outcome, _ = run(campaign, n_workers=1, max_hits=2)
    assert outcome.n_hits == 2
    assert {each.consent_version for each in campaign.assignments.all()} == {campaign.consent_version}


def test_scores_do_not_depend_on_the_order_of_arrival(owner, monkeypatch):
    def rated_by_all(name):
        campaign = make_campaign(owner, "qg", name)
        campaign.workers_per_hit, campaign.platform_settings = 3, {"access": "personal"}
        build(campaign, n_hits=2, n_systems=3)
        run(launch(campaign), n_workers=3)
        places = campaign.assignments.values_list("pk", "worker__key", "hit__number")
        who = {pk: (key.rpartition(":")[2], number) for pk, key, number in places}
        return {(*who[pk], position): scores for (pk, position), scores in ratings_of(campaign).items()}

    arrivals = Crowd.arrivals
    first = rated_by_all("One")
    monkeypatch.setattr(Crowd, "arrivals", lambda crowd: arrivals(crowd)[::-1])
    assert len(first) == 3 * 2 * 5
    assert rated_by_all("Another") == first


def test_the_command_says_what_was_done(campaign):
    printed = simulate(campaign, "--workers", "5", "--careless", "0.4", "--verbose")
    assert "4 HITs finished, 80 ratings" in printed
    assert "2 careless" in printed and "human +1.00" in printed


def test_the_command_takes_a_name_and_given_qualities(campaign, tmp_path):
    systems = list(campaign.systems.values_list("name", flat=True))
    path = tmp_path / "quality.json"
    path.write_text(json.dumps({name: 0.1 * k for k, name in enumerate(systems)}))
    out = StringIO()
    call_command("simulate", "Tiny", "--workers=1", f"--quality={path}", "--verbose", stdout=out, stderr=StringIO())
    assert f"{systems[-1]} +0.20" in out.getvalue()


@pytest.mark.parametrize("quality", ["{", "[1]", '{"human": 1}', "missing"])
def test_qualities_that_do_not_fit_are_refused(campaign, tmp_path, quality):
    path = tmp_path / "quality.json"
    if quality != "missing":
        path.write_text(quality)
    with pytest.raises(CommandError):
        simulate(campaign, "--workers=1", f"--quality={path}")
    assert not campaign.assignments.exists()


def test_an_output_of_twice_as_many_words_is_liked_by_as_much_as_is_said(campaign):
    source = campaign.sources.first()
    texts = ("one two", "one two three four", "one two three four five six seven eight")
    outputs = list(source.outputs.filter(system__is_degraded=False).select_related("system"))
    for output, text in zip(outputs, texts, strict=True):
        output.text = text
        output.save()
    liking = make_crowd(campaign, seed=0, n_workers=1, likes_length=0.3).liking
    assert [liking[source.name, output.system.name] for output in outputs] == pytest.approx([-0.3, 0, 0.3])
    assert make_crowd(campaign, seed=0, n_workers=1).liking == {}


@pytest.mark.parametrize("value", [4, "high", None, True, float("nan")])
def test_a_quality_is_a_number_from_minus_3_to_3(campaign, value):
    quality = dict.fromkeys(campaign.systems.values_list("name", flat=True), 0.0) | {"human": value}
    with pytest.raises(DomainError) as refused:
        make_crowd(campaign, seed=0, n_workers=1, quality=quality)
    assert refused.value.code == "bad_quality"


def test_a_campaign_that_gives_no_hits_out_is_refused(campaign):
    campaign.status = Campaign.Status.PAUSED
    campaign.save()
    with pytest.raises(CommandError):
        simulate(campaign, "--workers=1")


def test_a_campaign_with_nothing_left_is_an_error(campaign):
    campaign.hits.update(n_places_left=0)
    with pytest.raises(CommandError):
        simulate(campaign, "--workers=1")


def test_an_unknown_campaign_is_refused(db):
    with pytest.raises(CommandError):
        call_command("simulate", "Nobody's", "--workers=1")


def test_an_address_without_a_server_is_an_error(campaign):
    with pytest.raises(CommandError):
        simulate(campaign, "--workers=2", "--threads=1", "--patience=0", "--url=http://127.0.0.1:9")
