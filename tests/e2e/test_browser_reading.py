"""How workers read: texts side by side, larger letters, spacing, dark, and how long the rest takes."""

import pytest
from playwright.sync_api import Locator, Page, expect

from annotation.access.tokens import token_of
from annotation.models import Response
from annotation.pages.text_images import LETTERS
from annotation.services.assignments import start_assignment
from campaigns.models import Campaign, HitItem, Source
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign
from tests.e2e.answering import PHONE, press
from tests.e2e.test_browser_kept import NO_STORAGE
from tests.e2e.watching import watch
from tests.services import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SOURCE = "Der Zug nach Basel fährt heute von Gleis 5. " * 5
OUTPUTS = (
    "The train to Basel leaves from platform 5 today.",
    "Platform 5. " * 60,
    "قطار بازل يغادر اليوم من الرصيف الخامس.",
)
N_ITEMS = 8


@pytest.fixture
def campaign(owner: User) -> Campaign:
    """Translations, each an item of its own, of which one is long and one runs from right to left."""
    campaign = open_campaign(owner, n_hits=1, size=N_ITEMS, protocol="da-translation")
    Source.objects.filter(campaign=campaign).update(fields={"source": SOURCE})
    for place, text in enumerate(OUTPUTS, start=1):
        HitItem.objects.filter(hit__campaign=campaign, position=place).update(text=text)
    return campaign


def address_of(live_server, campaign: Campaign) -> str:
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann", consented=True)
    return f"{live_server.url}/rate/{token_of(assignment)}/"


@pytest.fixture
def item(page: Page, live_server, campaign: Campaign, complaints: list[str]) -> Page:
    watch(page, complaints).goto(address_of(live_server, campaign))
    page.wait_for_load_state()
    return page


def box(shown: Locator) -> dict[str, float]:
    found = shown.bounding_box()
    assert found
    return dict(found)


def is_beside(page: Page) -> bool:
    boxes = "texts => texts.slice(0, 2).map((text) => text.getBoundingClientRect().toJSON())"
    source, output = page.locator(".text").evaluate_all(boxes)  # at once: images may still come
    if source["y"] == output["y"]:
        assert source["width"] == output["width"]
        assert source["x"] + source["width"] < output["x"]
        return True
    assert source["y"] + source["height"] <= output["y"]
    return False


def go_on(page: Page) -> None:
    before = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("slider").first.press("End")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("heading", level=1)).not_to_have_text(before)
    page.wait_for_load_state()


def fill_of(page: Page, place: int) -> float:
    """Return what share of the room of its card the image of a text takes."""
    card = page.locator(".text").nth(place)
    room = card.evaluate("el => el.clientWidth - 2 * parseFloat(getComputedStyle(el).paddingInlineStart)")
    return box(card.locator("img").first)["width"] / room


@pytest.mark.parametrize(("width", "wanted"), [(1440, True), (1000, True), (999, False), (768, False), (360, False)])
def test_browser_a_short_source_is_beside_every_output_where_there_is_room(
    item: Page, width: int, wanted: bool
) -> None:
    item.set_viewport_size({"width": width, "height": 900})
    for _ in OUTPUTS:
        assert is_beside(item) == wanted
        for place in (0, 1):
            assert 0.9 <= fill_of(item, place) <= 1.1
        assert item.evaluate("document.documentElement.scrollWidth") == width
        go_on(item)


def test_browser_a_long_source_is_above_every_output(item: Page, campaign: Campaign, live_server) -> None:
    longer = open_campaign(campaign.memberships.get().user, n_hits=1, size=3, protocol="da-translation")
    Source.objects.filter(campaign=longer).update(fields={"source": SOURCE * 8})
    item.goto(address_of(live_server, longer))
    item.wait_for_load_state()
    for _ in range(2):
        assert not is_beside(item)
        go_on(item)


def test_browser_segments_are_a_grid_that_scrolls_together(
    page: Page, live_server, owner: User, complaints: list[str]
) -> None:
    document = open_campaign(owner, n_hits=1, size=3, protocol="da-translation", page_kind="document")
    HitItem.objects.filter(hit__campaign=document).update(page=1)
    Source.objects.filter(campaign=document).update(fields={"source": SOURCE})
    watch(page, complaints).goto(address_of(live_server, document))
    segments = page.locator(".output").all()
    assert len(segments) == 3
    for segment in segments:
        source, output = (box(segment.locator(".text").nth(place)) for place in (0, 1))
        assert source["y"] == output["y"]
        assert source["x"] < output["x"]


def choose(page: Page, **names: str) -> None:
    """Choose how to read, in the dialog, by the legends of its choices."""
    page.get_by_role("button", name="Reading").click()
    dialog = page.get_by_role("dialog", name="Reading")
    for legend, name in names.items():
        dialog.get_by_role("group", name=legend).get_by_role("radio", name=name, exact=True).check()
    press(page, "Escape")
    expect(dialog).to_have_count(0)


# Of each text's image: the name of its file, the widths that this and the text are drawn for, the width that is shown.
_SHOWN = """all => all.map((img) => {
    const file = img.currentSrc.split("/").at(-1), shown = img.getBoundingClientRect().width;
    const from = [...img.parentElement.children].find((each) => each.srcset.includes(file));
    const pixels = new RegExp(`${file} ([0-9]+)w`).exec(from.srcset)[1];
    return [img.complete && file, Number(pixels), Number(from.getAttribute("width")), shown];
})"""


def images_of(page: Page) -> list[tuple[str, float, float, float]]:
    """Return what `_SHOWN` says, once all files are there."""
    images = page.locator(".text img")
    wait_until(lambda: all(file for file, *_ in images.evaluate_all(_SHOWN)), 20, "images are there")
    return images.evaluate_all(_SHOWN)


def letters_of(page: Page) -> set[str]:
    """Return the letters that end the names of the images."""
    return {file.removesuffix(".img")[-1] for file, *_ in images_of(page)}


@pytest.mark.parametrize("has_storage", [True, False], ids=["with storage", "without storage"])
def test_browser_what_a_worker_has_chosen_stays(
    page: Page, live_server, campaign: Campaign, complaints: list[str], has_storage: bool
) -> None:
    if not has_storage:
        page.add_init_script(NO_STORAGE)
    watch(page, complaints).goto(address_of(live_server, campaign))
    light = {LETTERS[variant] for variant in LETTERS if variant.theme == "light"}
    assert letters_of(page) <= light
    choose(page, Letters="Larger", Spacing="Wide", Colours="Dark")
    for _ in range(3):
        expect(page.locator("html[data-theme=dark][data-size=larger][data-spacing=wide]")).to_have_count(1)
        assert not letters_of(page) & light
        go_on(page)
        page.reload()
    choose(page, Letters="Usual", Colours="As the system")
    expect(page.locator("html[data-theme=light]:not([data-size])")).to_have_count(1)
    assert letters_of(page) <= light
    assert page.context.cookies() == []


def are_sharp(page: Page, scale: float) -> bool:
    """Return whether images are shown so much larger than they are drawn for, of no less pixels than shown."""
    return all(shown >= scale * drawn and pixels >= shown - 1 for _, pixels, drawn, shown in images_of(page))


@pytest.mark.parametrize("width", [1440, 360])
def test_browser_lines_of_images_go_apart_and_nothing_is_stretched(item: Page, width: int) -> None:
    item.set_viewport_size({"width": width, "height": 900})
    for name, wanted in (("Wide", str.isupper), ("Usual", str.islower)):
        choose(item, Spacing=name)
        wait_until(lambda wanted=wanted: all(map(wanted, letters_of(item))), 20, f"lines are {name}")
        shapes = item.locator(".text img").evaluate_all(
            "all => all.map((img) => [img.width / img.height, img.naturalWidth / img.naturalHeight])"
        )
        assert all(abs(shown / drawn - 1) < 0.03 for shown, drawn in shapes), shapes


@pytest.mark.parametrize("width", [1440, 1100, 768, 360])
def test_browser_letters_of_images_grow_and_stay_sharp(item: Page, width: int) -> None:
    item.set_viewport_size({"width": width, "height": 900})
    least = {"Usual": 0.9, "Larger": 1.2, "Largest": 1.3}
    for name, wanted in least.items():
        choose(item, Letters=name)
        wait_until(lambda wanted=wanted: are_sharp(item, wanted), 20, f"letters are {name} and sharp")
        assert item.evaluate("document.documentElement.scrollWidth") == width


def test_browser_the_time_left_is_told_after_five_items(page: Page, live_server, campaign: Campaign) -> None:
    page.clock.install()
    page.goto(address_of(live_server, campaign))
    left = page.locator(".time-left")
    for seconds in (60, 120, 3_600, 120, 120):  # a break does not count
        expect(left).to_be_empty()
        page.clock.run_for(seconds * 1000)
        go_on(page)
    expect(left).to_have_text("about 6 minutes left")
    assert Response.objects.count() == 5
    page.reload()
    expect(left).to_have_text("about 6 minutes left")


def test_browser_on_a_phone_it_is_chosen_with_a_finger(browser, live_server, campaign: Campaign) -> None:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    page.goto(address_of(live_server, campaign))
    expect(page.locator(".tools-keys")).to_be_hidden()  # there is no keyboard
    page.get_by_role("button", name="Reading").tap()
    page.get_by_role("radio", name="Dark").tap()
    page.get_by_role("button", name="Close").tap()
    expect(page.locator("html[data-theme=dark]")).to_have_count(1)
    context.close()
