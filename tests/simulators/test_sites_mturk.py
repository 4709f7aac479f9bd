"""The web site of the simulated Mechanical Turk, as a worker uses it."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import boto3
import httpx
import pytest

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.mturk_site import mturk_application
from simulators.pages import SANDBOX
from simulators.server import Served
from simulators.tls import self_signed

QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)
ANN = "A1ANN"


@pytest.fixture
def api():
    return MTurkApi(Ledger(), Faults(), access_key="key")


@pytest.fixture
def site(api, the_stage):
    the_stage.application = mturk_application(api)
    return the_stage.url


def publish(site, *, title="Rate answers", url="http://127.0.0.1:1/rate?hit=1", n_places=2, **client):
    requester = boto3.client(
        "mturk",
        region_name="us-east-1",
        endpoint_url=site,
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        **client,
    )
    made = requester.create_hit(
        Title=title,
        Description="A short task",
        Reward="1.50",
        LifetimeInSeconds=3600,
        AssignmentDurationInSeconds=1200,
        MaxAssignments=n_places,
        Question=QUESTION.format(html.escape(url)),
    )
    requester.close()
    return made["HIT"]["HITId"]


def frame_of(page):
    """Return the attributes of the frame of a page."""
    tag = re.search(r"<iframe[^>]*>", page.text)
    assert tag, page.text
    return {name: html.unescape(value) for name, value in re.findall(r'([a-z-]+)="([^"]*)"', tag[0])}


def parameters(url):
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def accept(site, hit, worker=ANN):
    """Accept a HIT and return the page with the task."""
    return httpx.post(f"{site}/accept", data={"hit": hit, "worker": worker}, follow_redirects=True)


def states(api):
    return {each["worker_id"]: each["state"] for each in api.ledger.all("assignment").values()}


def test_a_worker_finds_previews_accepts_and_submits(api, site):
    hit = publish(site)
    listed = httpx.get(site, params={"worker": ANN}).text
    assert "Rate answers" in listed and "$1.50" in listed
    seen = parameters(frame_of(httpx.get(f"{site}/hit", params={"hit": hit, "worker": ANN}))["src"])
    assert seen == {"hit": "1", "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": hit}
    assert states(api) == {}
    given = parameters(frame_of(accept(site, hit))["src"])
    assert given["turkSubmitTo"] == site
    assert (given["hit"], given["hitId"], given["workerId"]) == ("1", hit, ANN)
    form = {"assignmentId": given["assignmentId"], "code": "ABC"}
    assert httpx.post(f"{site}/mturk/externalSubmit", data=form).status_code == 200
    assert states(api) == {ANN: "Submitted"}
    assert [each.target for each in api.ledger.effects("submit")] == [given["assignmentId"]]
    assert "ABC" in api.records.assignment(given["assignmentId"])["answer"]


def test_a_form_with_no_more_than_the_assignment_is_refused(api, site):
    given = parameters(frame_of(accept(site, publish(site)))["src"])
    answer = httpx.post(f"{site}/mturk/externalSubmit", data={"assignmentId": given["assignmentId"]})
    assert answer.is_error
    assert states(api) == {ANN: "Accepted"}


@pytest.mark.parametrize(
    "form", [{"code": "ABC"}, {"assignmentId": "", "code": "ABC"}, {"assignmentId": "X", "c": "1"}]
)
def test_a_form_without_an_assignment_is_refused(site, form):
    assert httpx.post(f"{site}/mturk/externalSubmit", data=form).status_code in (400, 404)


def test_submitting_is_a_post(api, site):
    given = parameters(frame_of(accept(site, publish(site)))["src"])
    query = {"assignmentId": given["assignmentId"], "code": "ABC"}
    assert httpx.get(f"{site}/mturk/externalSubmit", params=query).status_code == 405
    assert states(api) == {ANN: "Accepted"}


def test_submitting_twice_has_one_effect(api, site):
    given = parameters(frame_of(accept(site, publish(site)))["src"])
    form = {"assignmentId": given["assignmentId"], "code": "ABC"}
    assert [httpx.post(f"{site}/mturk/externalSubmit", data=form).is_success for _ in range(2)] == [True, False]
    assert len(api.ledger.effects("submit")) == 1


def test_a_worker_returns_and_somebody_else_takes_the_place(api, site):
    hit = publish(site, n_places=1)
    given = parameters(frame_of(accept(site, hit))["src"])
    assert accept(site, hit, "A2BEN").status_code == 409
    answer = httpx.post(f"{site}/return", data={"assignment": given["assignmentId"]})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/?worker={ANN}")
    assert states(api) == {ANN: "Returned"}
    assert accept(site, hit, "A2BEN").status_code == 200


def test_who_accepts_again_goes_on_with_the_same_assignment(api, site):
    hit = publish(site)
    first, again = (parameters(frame_of(accept(site, hit))["src"]) for _ in range(2))
    assert first == again
    assert f"/work?assignment={first['assignmentId']}" in html.unescape(httpx.get(f"{site}/?worker={ANN}").text)


def test_the_frame_may_run_scripts_and_send_forms_and_not_lead_the_page_away(site):
    page = accept(site, publish(site))
    allowed = frame_of(page)["sandbox"].split()
    assert {"allow-scripts", "allow-forms"} <= set(allowed)
    assert not [each for each in allowed if each.startswith("allow-top-navigation")]
    assert frame_of(page)["sandbox"] == SANDBOX
    assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]


def test_what_a_requester_writes_is_shown_as_text(site):
    title = '<script>alert("title")</script>'
    hit = publish(site, title=title, url="http://127.0.0.1:1/?a=1&b=%22")
    for page in (httpx.get(f"{site}/?worker={ANN}"), accept(site, hit)):
        assert html.escape(title) in page.text
        assert "<script>alert" not in page.text


def test_over_tls_work_is_submitted_over_tls(api, tmp_path, monkeypatch):
    certificate = self_signed(tmp_path)
    trusted = certificate.for_client()
    with Served(mturk_application(api, is_secure=True), tls=certificate.for_server()) as served:
        hit = publish(served.url, verify=str(certificate.cert))
        taken = {"hit": hit, "worker": ANN}
        page = httpx.post(f"{served.url}/accept", data=taken, follow_redirects=True, verify=trusted)
        assert parameters(frame_of(page)["src"])["turkSubmitTo"] == served.url


@pytest.mark.parametrize(("path", "status"), [("/hit?hit=X", 404), ("/work?assignment=X", 404), ("/work", 400)])
def test_what_does_not_exist(site, path, status):
    assert httpx.get(site + path).status_code == status
