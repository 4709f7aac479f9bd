"""An installation of its own, as in production, with a server that runs its jobs, and a researcher's browser."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.test import override_settings
from django.test.testcases import LiveServerThread
from playwright.sync_api import Browser, Locator, Page, Response, StorageState, expect

from campaigns.platforms.link.plugin import Link
from tests.jobs.processes import EMAIL, PASSWORD, Site
from tests.services import free_port, site_answers, wait_until

START_S, RESULT_MS = 120, 120_000


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, installation: Path) -> Iterator[Site]:
    """An installation on SQLite that one researcher may sign in to."""
    with Site(tmp_path_factory.mktemp("site"), DJANGO_SETTINGS_MODULE="evalsite.settings") as site:
        yield site.install(installation)
        assert "Traceback" not in site.log()


@pytest.fixture(scope="session")
def address(site: Site) -> str:
    """The address at which the installation is served."""
    return serve(site)


def serve(site: Site) -> str:
    """Start the server of an installation, which runs its jobs; return its address."""
    port = free_port()
    site.start("-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "4")
    url = f"http://127.0.0.1:{port}"
    wait_until(lambda: site_answers(url), START_S, "the server answers")
    return url


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """What the browser's console complains of (`watching.watch`) fails the test."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def in_site(site: Site, django_db_blocker: Any) -> Iterator[None]:
    """Let Django's connection be one to the installation's database: services and commands act in it."""
    with django_db_blocker.unblock(), site.database():
        yield


@pytest.fixture(scope="module")
def framed_address(django_db_setup: None) -> Iterator[str]:
    """The address of a server of this process, whose pages those of other sites may have in a frame."""
    with pytest.MonkeyPatch.context() as patch, override_settings(WHITENOISE_USE_FINDERS=True):
        patch.setattr(Link, "frame_ancestors", ("http://127.0.0.1:*",))
        # WhiteNoise serves the scripts with the headers of production.
        server = LiveServerThread("localhost", static_handler=lambda application: application)
        server.daemon = True
        server.start()
        server.is_ready.wait()
        if server.error:
            raise server.error
        yield f"http://localhost:{server.port}"
        server.terminate()


def sign_in(page: Page) -> Page:
    """Sign the researcher in."""
    page.goto("/")
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
    return page


@pytest.fixture(scope="session")
def researchers_cookies(browser: Browser, address: str) -> StorageState:
    """What a browser keeps of the researcher, who signs in by the form once: it takes long to check a password."""
    context = browser.new_context(base_url=address)
    sign_in(context.new_page())
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture(scope="module")
def signed_in(browser: Browser, address: str, researchers_cookies: StorageState) -> Iterator[Page]:
    """One tab of the researcher, who is signed in; its tests fail if a script or a policy does."""
    context = browser.new_context(
        base_url=address, viewport={"width": 1440, "height": 900}, storage_state=researchers_cookies
    )
    page = context.new_page()
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Campaigns")
    yield page
    context.close()


@pytest.fixture
def tab(signed_in: Page) -> Iterator[Page]:
    """The researcher's tab; what the console complains of fails the test."""
    found: list[str] = []

    def on_console(message) -> None:
        if message.type in ("error", "warning"):
            found.append(message.text)

    def on_error(error) -> None:
        found.append(str(error))

    signed_in.on("console", on_console)
    signed_in.on("pageerror", on_error)
    yield signed_in
    signed_in.remove_listener("console", on_console)
    signed_in.remove_listener("pageerror", on_error)
    assert found == []


@pytest.fixture(scope="module")
def dialogues(signed_in: Page, shared_data: Path) -> str:
    """The address of a finished run of the published dialogues, made by hand from the upload on."""
    return analyse(signed_in, shared_data / "dialogue-run1/ratings.csv", "dialogue-free")


def analyse(page: Page, path: Path, protocol: str) -> str:
    """Upload a file, take over what is guessed of its columns, analyse it; return the address of its ranking."""
    page.goto("/analysis/")
    page.get_by_role("link", name="Upload ratings").first.click()
    page.get_by_label("Ratings file", exact=True).set_input_files(path)
    page.get_by_label("Title").fill(path.parent.name)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which column is which?")
    for name in ("Worker", "System", "Kind", "Criterion", "Score"):
        expect(page.get_by_label(re.compile(f"^{name}( |$)"))).to_have_value(name.lower())
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/protocol/")  # with the script that sends what is selected
    page.get_by_label("Protocol", exact=True).select_option(protocol)
    page.wait_for_url(f"**/protocol/?protocol={protocol}")
    expect(page.get_by_label("Protocol", exact=True)).to_have_value(protocol)
    return started_by(page, lambda: page.get_by_role("button", name="Analyse").click())


def started_by(page: Page, act: Callable[[], None]) -> str:
    """Do what starts a run, see its progress and wait for its ranking; return its address."""
    before = page.url
    act()
    page.wait_for_url(lambda url: url != before and re.search(r"/runs/[0-9a-f-]{36}/$", url) is not None)
    expect(page.get_by_role("heading", name="Ranking")).to_be_visible(timeout=RESULT_MS)
    expect(page.get_by_text("LaTeX tables")).to_be_visible(timeout=RESULT_MS)  # it is not the ranking alone any more
    page.wait_for_load_state()  # the tables are whole
    return page.url


def address_of_campaign(page: Page) -> str:
    """Wait for a page of a campaign that was just made; return the campaign's address."""
    page.wait_for_url(re.compile(r"/campaigns/[0-9a-f-]{36}/"))
    found = re.search(r".*/campaigns/[0-9a-f-]{36}/", page.url)
    assert found
    return found.group()


@contextmanager
def saving(page: Page, field: Locator) -> Iterator[None]:
    """Wait until the field that the block changes has been saved by itself.

    Only its own post counts: a field that is left for this one may be saved once more.
    """
    name = field.get_attribute("name") or ""

    def is_its_own(response: Response) -> bool:
        return response.ok and name in parse_qs(response.request.post_data or "", keep_blank_values=True)

    with page.expect_response(is_its_own):
        yield
    expect(page.locator(".saving-status").first).to_have_text("Saved")
