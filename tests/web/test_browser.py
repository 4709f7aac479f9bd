"""What only a browser can show: themes, keyboard, widths, the content security policy, static/js."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from evalsite.accounts.models import User

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as BrowserTimeout

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.urls("tests.web.gallery")]
PASSWORD = "owner-password"


@pytest.fixture
def violations(page: Page) -> Iterator[list[str]]:
    """Fail the test if a page breaks the content security policy or a script fails."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if "Content Security" in message.text else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    yield found
    assert found == []


@pytest.fixture
def gallery(page: Page, live_server, owner: User, violations) -> Page:
    """Open the gallery as the signed-in owner."""
    client = Client()
    client.force_login(owner)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    page.goto(live_server.url + reverse("gallery"))
    return page


def _expect_theme(page: Page, theme: str) -> None:
    expect(page.locator("html")).to_have_attribute("data-theme", theme)


def test_theme_follows_the_system_until_chosen_and_then_persists(page: Page, live_server, violations) -> None:
    page.emulate_media(color_scheme="dark")
    page.goto(live_server.url + reverse("accounts:sign_in"))
    _expect_theme(page, "dark")
    page.emulate_media(color_scheme="light")
    _expect_theme(page, "light")

    page.get_by_role("button", name="Dark").click()
    page.goto(live_server.url + reverse("accounts:reset"))
    _expect_theme(page, "dark")
    expect(page.get_by_role("button", name="Dark")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 27)"


def test_sign_in_by_keyboard_alone(page: Page, live_server, owner: User, violations) -> None:
    page.goto(live_server.url + reverse("accounts:sign_in"))
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.keyboard.type("OWNER@example.org")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Components")

    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_user_menu_by_keyboard(gallery: Page) -> None:
    menu = gallery.locator("details[data-menu]")
    gallery.locator("details[data-menu] > summary").focus()
    gallery.keyboard.press("Enter")
    expect(menu).to_have_attribute("open", "")
    gallery.keyboard.press("Escape")
    expect(menu).not_to_have_attribute("open", "")
    gallery.keyboard.press("Enter")
    gallery.get_by_role("button", name="Sign out").click()
    expect(gallery.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_no_page_scrolls_sideways_on_a_phone_or_breaks_the_policy(gallery: Page, live_server) -> None:
    gallery.set_viewport_size({"width": 360, "height": 700})
    addresses = [
        *(reverse(name) for name in ("gallery", "gallery_refuse", "accounts:password", "accounts:reset")),
        reverse("gallery") + "?errors",
        "/nothing/here/",
    ]
    for address in addresses:
        gallery.goto(live_server.url + address)
        assert gallery.evaluate("document.documentElement.scrollWidth") <= 360, address


def test_a_table_sorts_up_down_and_back(gallery: Page) -> None:
    table = gallery.locator("table[data-sortable]")
    names = table.locator("tbody th")
    head = table.get_by_role("columnheader", name="z")
    for order, state in (
        (["Drift", "Alder", "Bramble", "Copper"], "ascending"),
        (["Copper", "Bramble", "Alder", "Drift"], "descending"),
    ):
        head.get_by_role("button").click()
        expect(names).to_have_text(order)
        expect(head).to_have_attribute("aria-sort", state)
    expect(table).to_have_class(re.compile("is-resorted"))
    head.get_by_role("button").click()
    expect(names).to_have_text(["Copper", "Bramble", "Alder", "Drift"])
    expect(table).not_to_have_class(re.compile("is-resorted"))
    table.get_by_role("columnheader", name="n", exact=True).get_by_role("button").click()
    expect(names).to_have_text(["Drift", "Bramble", "Alder", "Copper"])


def test_a_confirmed_form_is_sent_only_after_yes(gallery: Page) -> None:
    gallery.get_by_role("button", name="Delete analysis").click()
    dialog = gallery.get_by_role("dialog")
    expect(dialog).to_contain_text("The ratings stay.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    assert gallery.get_by_text("Deleted:").count() == 0

    gallery.get_by_role("button", name="Delete analysis").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(gallery.get_by_text("Deleted: analysis.")).to_be_visible()


def test_a_changed_select_sends_its_form(gallery: Page) -> None:
    expect(gallery.get_by_role("button", name="Show")).to_be_hidden()
    gallery.get_by_label("Show").select_option("few")
    gallery.wait_for_url("**show=few")


def test_an_upload_refuses_a_large_file_shows_errors_and_follows_the_redirect(gallery: Page, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * (1024 * 1024 + 1))
    posts: list[str] = []
    gallery.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    field, send = gallery.get_by_label("Ratings"), gallery.get_by_role("button", name="Upload")
    field.set_input_files(large)
    expect(gallery.locator("[data-drop-error]")).to_contain_text("large.csv is 1.0 MB; at most 1 MB")
    send.click()
    assert posts == []

    empty = {"name": "empty.csv", "mimeType": "text/csv", "buffer": b""}
    field.set_input_files(empty)
    send.click()
    expect(gallery.locator("#id_file_error")).to_contain_text("empty")
    # The answer's form is in the page, and its behaviours with it.
    field.set_input_files({**empty, "name": "ratings.csv", "buffer": b"worker,score\n"})
    expect(gallery.locator("[data-drop-file]")).to_have_text("ratings.csv (1 KB)")
    send.click()
    expect(gallery.get_by_text("ratings.csv was imported.")).to_be_visible()
    expect(gallery).to_have_url(re.compile(r"\?page=2$"))
    assert len(posts) == 2


def test_a_job_shows_its_progress_a_missing_worker_and_a_lost_connection(gallery: Page) -> None:
    job = gallery.locator("[data-job-progress]")
    expect(job.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "62")
    expect(job.locator("[data-job-bar]")).to_have_attribute("style", "width: 62%;")
    expect(job.locator("[data-job-stage]")).to_have_text("Tests between systems: 1,240 of 2,000")
    expect(job.locator("[data-job-no-worker]")).to_be_visible()
    expect(job.locator("[data-job-offline]")).to_be_hidden()

    gallery.context.set_offline(True)
    expect(job.locator("[data-job-offline]")).to_be_visible()
    gallery.context.set_offline(False)
    expect(job.locator("[data-job-offline]")).to_be_hidden()


def test_a_finished_job_reloads_the_page(gallery: Page) -> None:
    done = {"status": "done", "stage": "", "done": 1, "total": 1, "percent": 100, "error": None}
    with gallery.expect_navigation():
        gallery.route(
            "**/gallery/job/**",
            lambda route: route.fulfill(json={**done, "worker_alive": True, "finished": True}),
        )
    # The page that comes then still says "running": that must not make it reload again and again.
    with pytest.raises(BrowserTimeout), gallery.expect_navigation(timeout=1500):
        pass


def test_a_number_says_what_it_means_on_hover_on_focus_and_on_tap(gallery: Page) -> None:
    tip, table = gallery.locator("[role=tooltip]"), gallery.get_by_role("table", name="Mean standardised scores")
    z = table.get_by_role("button", name="z", exact=True)
    n_stops = table.locator("[tabindex='0'], button").count()
    assert n_stops == 6, "one for each heading that sorts, none for a cell"
    expect(z).to_have_accessible_description("0 is an average output.")

    table.get_by_text("−0.370").hover()
    expect(tip).to_have_text("0 is an average output.")
    gallery.mouse.move(0, 0)
    expect(tip).to_be_hidden()

    table.get_by_role("button", name="n", exact=True).focus()
    gallery.keyboard.press("Tab")
    expect(tip).to_be_visible()
    gallery.keyboard.press("Escape")
    expect(tip).to_be_hidden()

    table.get_by_text("0.131").click()
    expect(tip).to_be_visible()
    table.get_by_text("998").click()
    expect(tip).to_be_hidden()
