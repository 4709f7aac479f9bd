"""Pictures in a browser: zoomed and moved in step by buttons, keys, wheel and mouse; plain ones without the script."""

from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import Browser, Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.services.assignments import start_assignment
from campaigns.contracts.protocol import Field, Screen
from campaigns.models import HitItem
from evalsite.accounts.models import User
from tests.annotation.cast import launch
from tests.campaigns.cast import make_campaign
from tests.campaigns.formats.pictures import build, drawn, file_of, import_files, zipped
from tests.e2e.answering import PHONE
from tests.e2e.watching import watch

pytestmark = pytest.mark.django_db(transaction=True)
HOSTILE = '"><script>document.title = 1</script>'
SCALE = "frame => new DOMMatrix(getComputedStyle(frame.firstElementChild).transform)"


@pytest.fixture
def item(owner_client: Client, owner: User, settings, tmp_path: Path) -> str:
    """The path of a HIT of a picture beside two that were made of it."""
    settings.MEDIA_ROOT = tmp_path / "media"
    campaign = make_campaign(owner, "preference")
    fields = (Field("image", "Picture", format="image"),)
    campaign.screen = Screen(fields=fields, output_label="Changed", output_format="image").to_json()
    campaign.save()
    rows = [f'p{k},s{k}.png,{s},{s}{k}.png,"{HOSTILE.replace(chr(34), chr(34) * 2)}"' for k in range(4) for s in "ab"]
    files = {f"{letter}{k}.png": file_of(drawn(9 * k + ord(letter), (900, 600))) for k in range(4) for letter in "abs"}
    content = "\n".join(["source_id,image,system,output,output_alt", *rows, ""]).encode()
    assert import_files(owner_client, campaign, ("a.csv", content), ("p.zip", zipped(files))).problems is None
    build(campaign, n_ordinary=4)
    launch(campaign)
    assert HitItem.objects.filter(hit__campaign=campaign).count() >= 4
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    return f"/rate/{token_of(assignment)}/"


def frames(page: Page) -> Locator:
    return page.locator("form .picture-frame")


def shown(page: Page) -> set[tuple[float, ...]]:
    """Return how each picture is zoomed, and by which share of its sides it is moved."""
    place = "frame => { const m = (" + SCALE + ")(frame), img = frame.firstElementChild; "
    place += "return [m.a, m.e / img.offsetWidth, m.f / img.offsetHeight].map(n => Math.round(n * 100) / 100) }"
    return {tuple(frame.evaluate(place)) for frame in frames(page).all()}


def test_pictures_are_zoomed_in_step_by_keys_buttons_wheel_and_mouse(
    page: Page, live_server, item: str, complaints: list[str]
) -> None:
    watch(page, complaints).goto(live_server.url + item)
    expect(frames(page)).to_have_count(3)
    assert shown(page) == {(1, 0, 0)}
    first = frames(page).first
    first.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    assert shown(page) == {(1.5, -0.4, -0.25)}
    page.get_by_role("button", name="Zoom in").last.click()
    assert {scale for scale, *_ in shown(page)} == {2.25}
    expect(page.get_by_text("225 %")).to_have_count(3)
    first.scroll_into_view_if_needed()
    box = first.bounding_box()
    assert box
    before = shown(page)
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 120)
    page.mouse.up()
    assert len(shown(page)) == 1 and shown(page) != before
    page.keyboard.press("0")
    assert shown(page) == {(1, 0, 0)}
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    expect(page.get_by_text("200 %")).to_have_count(3)
    assert len(shown(page)) == 1
    assert page.title() != "1"


def test_a_phone_has_large_buttons_and_nothing_moves_when_they_come(
    browser: Browser, live_server, item: str, complaints: list[str]
) -> None:
    context = browser.new_context(**PHONE)
    page = watch(context.new_page(), complaints)
    page.add_init_script("""
        window.moved = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((each) => { window.moved += each.value; }))
            .observe({ type: "layout-shift", buffered: true });
    """)
    page.goto(live_server.url + item)
    page.wait_for_load_state("networkidle")
    for button in page.locator(".picture-tools button").all():
        box = button.bounding_box()
        assert box and min(box["width"], box["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate("window.moved") < 0.01
    context.close()


def test_without_the_script_pictures_are_plain(browser: Browser, live_server, item: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(live_server.url + item)
    expect(page.locator("form .picture-frame img")).to_have_count(3)
    expect(page.locator(".picture-tools")).to_have_count(0)
    for image in page.locator("form .picture-frame img").all():
        box = image.bounding_box()
        assert box and abs(box["width"] / box["height"] - 1.5) < 0.02
    context.close()
