"""The web site of the simulated Prolific, as a participant uses it."""

import html
import re
from contextlib import contextmanager

import httpx
import pytest

from simulators.ledger import Ledger
from simulators.prolific import ProlificApi
from simulators.prolific_site import prolific_application

ANN, BEN = "a" * 24, "b" * 24
ARRIVAL = "http://127.0.0.1:1/rate?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


@pytest.fixture
def api():
    return ProlificApi(Ledger(), token="a-token")


@pytest.fixture
def site(api, the_stage):
    the_stage.application = prolific_application(api)
    return the_stage.url


@contextmanager
def sign_in(site, participant):
    with httpx.Client(base_url=site, trust_env=False) as client:
        assert client.get("/", params={"participant": participant}, follow_redirects=True).status_code == 200
        yield client


@pytest.fixture
def ann(site):
    with sign_in(site, ANN) as client:
        yield client


def publish(api, name="Rate answers", code="DONE1", n_places=2):
    study = api.studies.create(
        {
            "name": name,
            "description": "A short study",
            "external_study_url": ARRIVAL,
            "prolific_id_option": "url_parameters",
            "completion_codes": [{"code": code, "code_type": "COMPLETED", "actions": [{"action": "MANUALLY_REVIEW"}]}],
            "total_available_places": n_places,
            "estimated_completion_time": 10,
            "reward": 250,
        }
    )
    api.studies.move(study["id"], "PUBLISH")
    return study["id"]


def take_part(client, study):
    """Take a place and return the address of the session's page."""
    answer = client.post("/take", data={"study": study})
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def states(api, study):
    return {each["participant"]: each["status"] for each in api.studies.submissions(study)}


def test_a_participant_takes_part_and_completes(api, ann):
    study = publish(api)
    assert "2.50" in ann.get("/").text
    page = take_part(ann, study)
    session = page.partition("session=")[2]
    assert "Rate answers" in ann.get(page).text
    away = ann.get("/open", params={"session": session})
    assert away.headers["Location"] == (
        f"http://127.0.0.1:1/rate?PROLIFIC_PID={ANN}&STUDY_ID={study}&SESSION_ID={session}"
    )
    assert states(api, study) == {ANN: "ACTIVE"}
    assert ann.get("/submissions/complete", params={"cc": "DONE1"}).status_code == 200
    assert states(api, study) == {ANN: "AWAITING REVIEW"}
    assert [(each.target, each.token) for each in api.ledger.effects("submit")] == [(session, "DONE1")]


def test_the_cookie_tells_who_completes_a_study_that_several_work_at(api, site, ann):
    study = publish(api)
    with sign_in(site, BEN) as ben:
        take_part(ann, study)
        take_part(ben, study)
        assert httpx.get(f"{site}/submissions/complete?cc=DONE1").status_code == 400
        assert ben.get("/submissions/complete", params={"cc": "DONE1"}).status_code == 200
    assert states(api, study) == {ANN: "RESERVED", BEN: "AWAITING REVIEW"}


def test_without_a_cookie_the_only_session_is_meant(api, site, ann):
    study = publish(api)
    take_part(ann, study)
    assert httpx.get(f"{site}/submissions/complete?cc=DONE1").status_code == 200
    assert states(api, study) == {ANN: "AWAITING REVIEW"}


def test_the_code_tells_which_of_two_studies_is_complete(api, ann):
    first, second = publish(api, code="FIRST"), publish(api, code="OTHER")
    take_part(ann, first)
    take_part(ann, second)
    ann.get("/submissions/complete", params={"cc": "OTHER"})
    assert states(api, first) == {ANN: "RESERVED"}
    assert states(api, second) == {ANN: "AWAITING REVIEW"}


def test_completing_twice_changes_nothing(api, ann):
    study = publish(api)
    take_part(ann, study)
    for status in (200, 400):
        assert ann.get("/submissions/complete", params={"cc": "DONE1"}).status_code == status
    assert len(api.ledger.effects("submit")) == 1


def test_who_stops_without_completing_frees_the_place(api, ann):
    study = publish(api, n_places=1)
    page = take_part(ann, study)
    session = page.partition("session=")[2]
    assert ann.post("/return", data={"session": session}).status_code == 303
    assert states(api, study) == {ANN: "RETURNED"}
    api.add_participant(BEN)
    assert [each["id"] for each in api.open_studies(BEN)] == [study]


def test_nobody_opens_or_returns_what_somebody_else_does(api, site, ann):
    page = take_part(ann, publish(api))
    session = page.partition("session=")[2]
    with sign_in(site, BEN) as ben:
        assert ben.get("/open", params={"session": session}).status_code == 404
        assert ben.post("/return", data={"session": session}).status_code == 404
    assert httpx.get(f"{site}/open?session={session}").status_code == 403


def test_what_a_study_is_called_is_shown_as_text(api, ann):
    name = '<img src=x onerror="alert(1)">'
    publish(api, name=name)
    text = ann.get("/").text
    assert html.escape(name) in text
    assert "<img" not in text


def test_an_id_that_is_none_is_refused(site):
    assert httpx.get(f"{site}/?participant=ann").status_code == 400
    assert not re.search("participant=", httpx.get(f"{site}/").headers.get("Set-Cookie", ""))


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "/take", 405)])
def test_addresses_that_do_not_exist(site, method, path, status):
    assert httpx.request(method, site + path).status_code == status


def test_the_interface_has_the_same_origin(site):
    me = httpx.get(f"{site}/api/v1/users/me/", headers={"Authorization": "Token a-token"})
    assert me.status_code == 200
    assert me.headers["Content-Type"].startswith("application/json")
