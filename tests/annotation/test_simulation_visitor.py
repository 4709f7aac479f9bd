"""One simulated worker on the real pages, on a line that loses requests and answers."""

import httpx
import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Assignment, Response
from annotation.simulation.pages import read_page
from annotation.simulation.running import make_crowd
from annotation.simulation.visitor import PATIENCE_PAGES, VisitError, Visitor
from campaigns.models import Campaign
from evalsite.lib.http import in_process, open_client
from tests.annotation.open_campaigns import open_campaign

pytestmark = pytest.mark.django_db(transaction=True)


class BadLine(httpx.BaseTransport):
    """Loses a request, loses an answer, or has a proxy answer instead, where `faults` say so, from the first on."""

    def __init__(self, faults: str) -> None:
        self._inner = in_process(WSGIHandler())
        self._faults = iter(faults)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        fault = next(self._faults, ".")
        if fault == "<":
            raise httpx.ConnectError("the request is lost", request=request)
        if fault == "5":
            return httpx.Response(502, text="<h1>Bad gateway</h1>")
        response = self._inner.handle_request(request)
        if fault == ">":
            raise httpx.ReadError("the answer is lost", request=request)
        return response


def visitor_of(campaign: Campaign, faults: str = "", **settings) -> Visitor:
    client = open_client("http://localhost", transport=BadLine(faults))
    worker = make_crowd(campaign, seed=3, n_workers=1).worker(0)
    arrival = reverse("rate:welcome", args=[campaign.public_id])
    return Visitor(client, worker, arrival, sleep=lambda seconds: None, **settings)


@pytest.mark.parametrize(
    "faults", ["", "<" * 6, ".>.>.>.>.>.>", ".<.<.<.<.<", "5.5.5.5", ".>>.><5>.<>5>.>", "..>>>><<<<5555"]
)
def test_whatever_is_lost_on_the_way_every_acknowledged_rating_is_stored_once(owner, faults):
    campaign = open_campaign(owner, n_hits=2, size=4)
    visitor = visitor_of(campaign, faults)
    visitor.work()
    stored = dict(Response.objects.order_by("pk").values_list("item", "score"))
    assert Response.objects.count() == len(stored) == 2 * 4
    assignments = Assignment.objects.in_bulk()
    assert [each.state for each in assignments.values()] == [Assignment.State.FINISHED] * 2
    assert visitor.codes == [each.completion_code for each in assignments.values()]
    for each in visitor.acknowledged:
        item = assignments[each.assignment_id].hit.items.get(position=each.position)
        assert (stored[item.pk],) == each.scores
    if not faults:
        assert len(visitor.acknowledged) == 8 and visitor.n_retries == 0


def test_a_server_that_stays_away_ends_the_visit_after_a_while(owner):
    visitor = visitor_of(open_campaign(owner), "<" * 1_000_000, patience_s=0.05)
    with pytest.raises(VisitError):
        visitor.work()


def test_a_page_that_never_takes_the_scores_ends_the_visit(owner, monkeypatch):
    visitor = visitor_of(open_campaign(owner))
    monkeypatch.setattr("annotation.views.worker.save_page", lambda **kwargs: Assignment.objects.get())
    with pytest.raises(VisitError, match=f"{PATIENCE_PAGES} times"):
        visitor.work()
    assert visitor.acknowledged == []


def test_a_paused_campaign_is_taken_for_what_it_is(owner):
    visitor = visitor_of(open_campaign(owner, status=Campaign.Status.PAUSED))
    visitor.work()
    assert visitor.n_retries == 0 and visitor.farewell


def test_who_may_do_one_hit_stops_after_it(owner):
    campaign = open_campaign(owner, n_hits=3, hits_per_worker=1)
    visitor = visitor_of(campaign)
    visitor.work()
    assert len(visitor.codes) == 1


@given(st.text())
def test_any_text_can_be_read_as_a_page(text):
    page = read_page(text)
    assert page.item is None or page.item.answers
