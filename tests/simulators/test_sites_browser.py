"""The web sites of the simulated platforms in a browser, on a phone, with a requester on another origin."""

import html
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Browser, Page, expect

from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.mturk.hits import OPERATIONS
from simulators.mturk_site import mturk_application
from simulators.prolific import ProlificApi
from simulators.prolific_site import prolific_application
from simulators.server import Served
from tests.simulators.prolific_cast import study_body

WIDTH = 360
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>'
)
LONG = "Rate answers to questions about passages of the encyclopaedia " + "x" * 60


def requester(environ, start_response):
    """Answer as a requester's page: a form that hands in what was accepted, or a link to the completion page."""
    given = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    if "prolific" in given:
        body = f'<a href="{html.escape(given["prolific"])}/submissions/complete?cc=ABC" target="_top">Back</a>'
    elif "turkSubmitTo" in given:
        body = (
            f'<form method="post" action="{html.escape(given["turkSubmitTo"])}/mturk/externalSubmit">'
            f'<input type="hidden" name="assignmentId" value="{html.escape(given["assignmentId"])}">'
            '<input type="hidden" name="code" value="ABC"><button>Hand in</button></form>'
        )
    else:
        body = "<p>A preview</p>"
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
    return [f"<!doctype html><title>Task</title>{body}".encode()]


@pytest.fixture(scope="module")
def task():
    """The address of a requester's page, by name: another site than 127.0.0.1, where the platform is."""
    with Served(requester) as served:
        yield served.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def phone(browser: Browser):
    context = browser.new_context(viewport={"width": WIDTH, "height": 740}, color_scheme="dark")
    page = context.new_page()
    page.trouble = []
    page.on("console", lambda message: message.type == "error" and page.trouble.append(message.text))
    yield page
    context.close()
    assert page.trouble == []


def scrolls_sideways(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def test_a_hit_is_previewed_accepted_and_handed_in_on_a_phone(phone: Page, task):
    api = MTurkApi(Ledger(), Faults())
    create = {
        "Title": LONG,
        "Description": LONG,
        "Reward": "1.00",
        "LifetimeInSeconds": 3600,
        "AssignmentDurationInSeconds": 1200,
        "MaxAssignments": 1,
        "Question": QUESTION.format(task),
    }
    OPERATIONS["CreateHIT"](api.records, create)
    with Served(mturk_application(api)) as served:
        phone.goto(served.url)
        phone.get_by_label("Worker id").fill("A1ANN")
        phone.get_by_role("button", name="Sign in").click()
        expect(phone.get_by_role("link", name="Preview")).to_be_visible()
        assert not scrolls_sideways(phone)
        phone.get_by_role("link", name="Preview").click()
        expect(phone.frame_locator("iframe").get_by_text("A preview")).to_be_visible()
        assert not scrolls_sideways(phone)
        phone.get_by_role("button", name="Accept").click()
        hand_in = phone.frame_locator("iframe").get_by_role("button", name="Hand in")
        expect(hand_in).to_be_visible()
        assert not scrolls_sideways(phone)
        background = phone.evaluate("getComputedStyle(document.documentElement).colorScheme")
        assert background == "light dark"
        hand_in.click()
        expect(phone.get_by_role("link", name="More HITs")).to_be_visible()
    assert [each["state"] for each in api.ledger.all("assignment").values()] == ["Submitted"]


def test_a_study_is_opened_in_the_whole_window_and_completed(phone: Page, task):
    api = ProlificApi(Ledger(), token="a-token")
    with Served(prolific_application(api)) as served:
        names = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
        body = study_body(name=LONG, external_study_url=f"{task}/?prolific={served.url}&{names}")
        api.studies.move(api.studies.create(body)["id"], "PUBLISH")
        phone.goto(served.url)
        phone.get_by_role("button", name="Sign in").click()
        expect(phone.get_by_role("button", name="Take part in this study")).to_be_visible()
        assert not scrolls_sideways(phone)
        phone.get_by_role("button", name="Take part in this study").click()
        phone.get_by_role("link", name="Open the study").click()
        phone.get_by_role("link", name="Back").click()
        expect(phone.get_by_role("heading", name="Submission complete")).to_be_visible()
    assert [each.token for each in api.ledger.effects("submit")] == ["ABC"]
