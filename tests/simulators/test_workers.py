"""Simulated workers come from a simulated platform, work on the real pages in this process, and hand in."""

import html
from collections import Counter
from uuid import uuid4

import pytest

from annotation.models import Assignment, Response
from annotation.simulation.crowd import HIGH_FROM
from annotation.simulation.running import open_site
from campaigns.models import Campaign
from campaigns.platforms.prolific.authenticity import completion_code
from crowd.simulation import PoolVisits, WorkerPool, read_handover
from evalsite.lib.http import in_process, open_client
from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.mturk.hits import OPERATIONS
from simulators.mturk_site import mturk_application
from simulators.portals import MTurkPortal, ProlificPortal
from simulators.prolific import ProlificApi
from simulators.prolific_site import prolific_application
from simulators.workers import Ending, WorkerBehaviour
from tests.annotation.open_campaigns import open_campaign, places_left
from tests.simulators.prolific_cast import study_body

MTURK_URL, PROLIFIC_URL = "http://mturk.example", "http://prolific.example"
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)
State = Assignment.State


@pytest.fixture(autouse=True)
def simulated(settings):
    settings.MTURK_SANDBOX_URL, settings.PROLIFIC_URL = MTURK_URL, PROLIFIC_URL


def make(owner, platform, **fields) -> Campaign:
    return open_campaign(owner, n_hits=2, platform=platform, workers_per_hit=1, **fields)


def address(campaign, hit_number):
    query = campaign.crowd_platform.arrival_query(campaign.ref, hit_number)
    return f"http://localhost/rate/c/{campaign.public_id}/?{query}"


@pytest.fixture
def turk(owner):
    """A campaign of two HITs, both of which are on Mechanical Turk."""
    campaign = make(owner, "mturk")
    api = MTurkApi(Ledger(), Faults())
    for hit in campaign.hits.all():
        create = {
            "Title": f"HIT {hit.number}",
            "Description": "A short task",
            "Reward": "1.00",
            "LifetimeInSeconds": 3600,
            "AssignmentDurationInSeconds": 1200,
            "MaxAssignments": 1,
            "Question": QUESTION.format(html.escape(address(campaign, hit.number))),
        }
        OPERATIONS["CreateHIT"](api.records, create)
    return campaign, api


@pytest.fixture
def prolific(owner):
    """A campaign of two HITs, with a study that has two places."""
    campaign = make(owner, "prolific")
    api = ProlificApi(Ledger(), token="a-token")
    code = completion_code(campaign.public_id)
    codes = [{"code": code, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}]
    study = api.studies.create(study_body(external_study_url=address(campaign, None), completion_codes=codes))
    api.studies.move(study["id"], "PUBLISH")
    return campaign, api


def send(api, n_workers=2, **pool):
    """Have workers come, one after the other, in this process; return what they did."""
    is_turk = isinstance(api, MTurkApi)
    url = MTURK_URL if is_turk else PROLIFIC_URL
    application = mturk_application(api) if is_turk else prolific_application(api)
    portal = MTurkPortal(api, url) if is_turk else ProlificPortal(api)
    with (
        open_client(url, transport=in_process(application)) as site,
        PoolVisits(portal, WorkerPool(n_workers, patience_s=0, **pool), site, lambda origin: open_site(None)) as visits,
    ):
        return visits.work()


def here(campaign):
    return Counter(campaign.assignments.values_list("state", flat=True))


def there(api):
    if isinstance(api, MTurkApi):
        return Counter(each["state"] for each in api.ledger.all("assignment").values())
    return Counter(each["status"] for study in api.all_studies() for each in api.studies.submissions(study["id"]))


def test_workers_of_mechanical_turk_finish_and_hand_in_every_hit(turk):
    campaign, api = turk
    outcome = send(api, max_tasks=1)
    assert (outcome.errors, outcome.endings) == ([], {Ending.SUBMITTED: 2})
    assert here(campaign) == {State.FINISHED: 2}
    assert there(api) == {"Submitted": 2}
    known = {each["worker_id"]: id for id, each in api.ledger.all("assignment").items()}
    done = campaign.assignments.values_list("worker__key", "platform_id")
    assert dict(done) == known
    for assignment in campaign.assignments.all():
        assert assignment.completion_code in api.records.assignment(assignment.platform_id)["answer"]


def test_one_worker_takes_one_hit_after_the_other(turk):
    _, api = turk
    assert send(api, n_workers=2).n_idle == 1
    assert len({each["worker_id"] for each in api.ledger.all("assignment").values()}) == 1


def test_participants_of_prolific_finish_and_complete(prolific):
    campaign, api = prolific
    outcome = send(api)
    assert (outcome.errors, outcome.endings) == ([], {Ending.SUBMITTED: 2})
    assert here(campaign) == {State.FINISHED: 2}
    assert there(api) == {"AWAITING REVIEW": 2}
    code = completion_code(campaign.public_id)
    assert {each.token for each in api.ledger.effects("submit")} == {code}
    assert {each.target for each in api.ledger.effects("submit")} == set(
        campaign.assignments.values_list("platform_id", flat=True)
    )


@pytest.mark.parametrize(
    ("behaviour", "ending", "state_here", "on_turk", "on_prolific"),
    [
        (WorkerBehaviour(returning=1), Ending.RETURNED, State.ACTIVE, "Returned", "RETURNED"),
        (WorkerBehaviour(abandoning=1), Ending.ABANDONED, State.ACTIVE, "Abandoned", "TIMED-OUT"),
        (WorkerBehaviour(unfinished=1), Ending.UNFINISHED, State.ACTIVE, "Submitted", "AWAITING REVIEW"),
        (WorkerBehaviour(forgetting=1), Ending.FORGOTTEN, State.FINISHED, "Accepted", "ACTIVE"),
    ],
)
@pytest.mark.parametrize("platform", ["turk", "prolific"])
def test_workers_who_do_otherwise(request, platform, behaviour, ending, state_here, on_turk, on_prolific):
    campaign, api = request.getfixturevalue(platform)
    outcome = send(api, n_workers=1, max_tasks=1, behaviour=behaviour)
    assert (outcome.errors, outcome.endings) == ([], {ending: 1})
    assert here(campaign) == {state_here: 1}
    assert there(api) == {on_turk if platform == "turk" else on_prolific: 1}
    assert sum(places_left(campaign)) == 1


def test_who_is_turned_away_gives_the_task_back_and_goes_home(turk):
    campaign, api = turk
    Campaign.objects.update(hits_per_worker=1)
    outcome = send(api, n_workers=1)
    assert (outcome.errors, outcome.endings) == ([], {Ending.SUBMITTED: 1, Ending.REFUSED: 1})
    assert there(api) == {"Submitted": 1, "Returned": 1}
    assert here(campaign) == {State.FINISHED: 1}


def test_who_cannot_go_on_gives_the_task_back_and_says_why(turk):
    _, api = turk
    Campaign.objects.update(public_id=uuid4())
    outcome = send(api, n_workers=1)
    assert len(outcome.errors) == 1 and "404" in outcome.errors[0]
    assert there(api) == {"Returned": 1}


def test_a_campaign_of_another_database_is_named(prolific):
    campaign, api = prolific
    Campaign.objects.update(public_id=uuid4())
    outcome = send(api, n_workers=1)
    assert len(outcome.errors) == 1 and str(campaign.public_id) in outcome.errors[0]
    assert there(api) == {"RETURNED": 1}


@pytest.mark.parametrize(("careless", "is_high"), [(0.0, False), (1.0, True)])
def test_careless_workers_rate_blindly(turk, careless, is_high):
    campaign, api = turk
    blind_and_high = 2  # the seed with which the only worker, if careless, is one who always clicks high
    send(api, n_workers=1, careless=careless, seed=blind_and_high)
    scores = Response.objects.filter(assignment__campaign=campaign).values_list("score", flat=True)
    assert (min(scores) >= HIGH_FROM) is is_high


def test_habits_end_visits_by_their_shares_and_the_same_again():
    behaviour = WorkerBehaviour(returning=0.2, abandoning=0.1, unfinished=0.1, forgetting=0.1)
    endings = [behaviour.ending(3, worker, visit=0) for worker in range(2000)]
    assert endings == [behaviour.ending(3, worker, visit=0) for worker in range(2000)]
    shares = {ending: n / 2000 for ending, n in Counter(endings).items()}
    assert shares == pytest.approx(
        {
            Ending.RETURNED: 0.2,
            Ending.ABANDONED: 0.1,
            Ending.UNFINISHED: 0.1,
            Ending.FORGOTTEN: 0.1,
            Ending.SUBMITTED: 0.5,
        },
        abs=0.03,
    )


def test_more_than_all_workers_cannot_do_otherwise():
    with pytest.raises(ValueError, match="more than all"):
        WorkerBehaviour(returning=0.6, forgetting=0.6)


@pytest.mark.parametrize(
    ("page", "form_url", "link_url"),
    [
        (
            '<form method="post" action="http://turk/s"><input type="hidden" name="a" value="1"></form>',
            "http://turk/s",
            "",
        ),
        (
            '<a href="http://prolific/complete?cc=A&amp;b=1" target="_top">Back</a>',
            "",
            "http://prolific/complete?cc=A&b=1",
        ),
    ],
)
def test_a_page_hands_over_by_a_form_or_a_link(page, form_url, link_url):
    found = read_handover(page)
    assert (found.form_url, found.link_url) == (form_url, link_url)
    assert dict(found.fields) == ({"a": "1"} if form_url else {})


@pytest.mark.parametrize(
    "page", ['<form method="post" action="next/"></form>', '<a href="/rate/" target="_top">On</a>', ""]
)
def test_a_page_that_stays_here_hands_nothing_over(page):
    assert read_handover(page) is None
