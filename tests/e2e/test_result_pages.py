"""Every page of a result of every kind of response, in a browser: a small campaign of each, which a crowd has answered.

Django draws the pages in this process (`page_server.py`); figures are blank here, as to draw them takes long.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from django.db import transaction
from django.test import Client, override_settings
from django.urls import reverse
from playwright.sync_api import Browser, Page

from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.contracts.protocol import Protocol
from campaigns.design.paging import PageKind
from campaigns.models import Campaign
from campaigns.protocols import list_protocols
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed
from tests.annotation.cast import launch
from tests.campaigns.cast import add_outputs, make_campaign
from tests.conftest import make_owner, signed_in
from tests.e2e.page_server import PageServer
from tests.e2e.test_browser_protocols import TRIALS, text_of

NARROW = {"width": 360, "height": 740}
N_WORKERS, N_HITS = 3, 3
QUALITY = {"alpha": 1.2, "beta": 0.0, "gamma": -1.2}
FIGURE = '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300"/>'
PROTOCOLS = {each.method: each for each in reversed(list_protocols()) if not each.chat}
"""The first protocol of every response method."""
BEFORE_OWN = ["Findings", "Pairs", "Workers", "Reliability", "Groups", "Sensitivity", "Metrics"]
AFTER_OWN = ["Compare", "Paper and downloads"]
OWN = "pages of the method"


@pytest.fixture(scope="module")
def owner(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media")):
        yield make_owner()


def answered(owner: User, protocol: type[Protocol]) -> Campaign:
    """Return a campaign of a protocol that a crowd has answered, with its result."""
    campaign, trial = make_campaign(owner, protocol.slug), TRIALS[protocol.slug]
    add_outputs(campaign, N_HITS * trial.design["n_ordinary"], list(QUALITY))
    for n, source in enumerate(campaign.sources.order_by("name")):
        dialogues = (field for field in protocol.screen.fields if field.format == "dialogue")
        source.fields |= {field.name: text_of(field.format, n) for field in dialogues} | dict(trial.texts)
        if protocol.page_kind is PageKind.DOCUMENT:
            source.document, source.place = f"document-{n // 2}", n % 2 + 1
        source.save()
    fields = dict(trial.design) | {"n_hits": N_HITS, "workers_per_hit": 2, "hits_per_worker": 2, "seed": 7}
    for name, value in fields.items():
        setattr(campaign, name, value)
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    launch(campaign)
    with open_site(None) as client:
        outcome = run_crowd(campaign, make_crowd(campaign, seed=3, n_workers=N_WORKERS, quality=QUALITY), client)
    assert (outcome.errors, outcome.n_hits) == ([], N_WORKERS * 2), protocol.slug
    analysed(campaign)
    return campaign


@pytest.fixture(scope="module")
def client(owner: User) -> Client:
    return signed_in(owner)


@pytest.fixture(scope="module")
def server(module_db: None) -> Iterator[PageServer]:
    with PageServer([]) as server:
        yield server


@pytest.fixture(scope="module")
def phone(browser: Browser, server: PageServer) -> Iterator[Page]:
    context = browser.new_context(base_url=server.address, reduced_motion="reduce", viewport=NARROW)
    context.route("**/*.svg", lambda route: route.fulfill(content_type="image/svg+xml", body=FIGURE))
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def links_of(owner: User, client: Client, server: PageServer, phone: Page) -> Callable[[str], dict[str, str]]:
    """Return the pages of the result of a method, which is made when it is first asked for: what its findings name."""

    @cache
    def links(method: str) -> dict[str, str]:
        campaign = answered(owner, PROTOCOLS[method])
        return open_page(phone, server, client, reverse("analysis:campaign_results", args=[campaign.public_id]))

    return links


@pytest.fixture
def tab(phone: Page) -> Iterator[Page]:
    """A phone's tab; what the console complains of fails the test."""
    complaints: list[str] = []

    def note(said: Any) -> None:
        if getattr(said, "type", "error") in ("error", "warning"):
            complaints.append(getattr(said, "text", str(said)))

    phone.on("console", note)
    phone.on("pageerror", note)
    yield phone
    phone.remove_listener("console", note)
    phone.remove_listener("pageerror", note)
    assert complaints == []


def open_page(tab: Page, server: PageServer, client: Client, address: str) -> dict[str, str]:
    """Open a page of a result, check it, and return the addresses in its side bar by their titles, in order."""
    answer = server.draw(client, address)
    assert answer.status_code == 200
    tab.goto(address)
    assert tab.locator("main").locator("table, p, figure").count(), "it shows something, or says why not"
    assert tab.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    links = tab.locator("//h2[starts-with(., 'Results')]/following-sibling::ul[1]/li/a")
    return dict(links.evaluate_all("links => links.map(link => [link.textContent, link.getAttribute('href')])"))


@pytest.mark.parametrize("page", [*BEFORE_OWN, OWN, *AFTER_OWN])
@pytest.mark.parametrize("method", PROTOCOLS)
def test_browser_each_page_of_each_kind_of_result(
    tab: Page,
    server: PageServer,
    client: Client,
    links_of: Callable[[str], dict[str, str]],
    method: str,
    page: str,
) -> None:
    links = links_of(method)
    own = list(links)[len(BEFORE_OWN) : -len(AFTER_OWN)]
    assert list(links) == [*BEFORE_OWN, *own, *AFTER_OWN]
    assert not {*own} & {*BEFORE_OWN, *AFTER_OWN}
    for title in own if page == OWN else [page]:
        assert open_page(tab, server, client, links[title]) == links, "the side bar is the same everywhere"
        assert tab.get_by_role("heading", level=1).inner_text() == title
