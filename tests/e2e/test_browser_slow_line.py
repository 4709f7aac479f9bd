"""What has to come over a slow line before an item can be read and rated, from the server as it is installed."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Browser, expect

from annotation.access.tokens import token_of
from annotation.images.disguise import N_PADDING_BYTES
from annotation.services.assignments import start_assignment
from campaigns.models import HitItem, Source
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign

# At 30 kbit/s, in 6 s without 1 s for two round trips of 300 ms and what five requests take to be sent.
MOST_BYTES = 30_000 / 8 * (6 - 1)


@pytest.fixture
def item(address: str, in_site: None) -> str:
    """The address of an item of question generation, with a passage and a question of the example."""
    lines = (Path(settings.BASE_DIR) / "examples/qg/passages.jsonl").read_text().splitlines()
    example = sorted(map(json.loads, lines), key=lambda passage: len(passage["passage"]))[len(lines) // 2]
    campaign = open_campaign(User.objects.get(), protocol="qg", n_hits=1, layout="by-source")
    Source.objects.filter(campaign=campaign).update(fields={"passage": example["passage"], "answer": example["answer"]})
    HitItem.objects.filter(hit__campaign=campaign).update(text=example["question"])
    assignment = start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:ann")
    return f"{address}/rate/{token_of(assignment)}/"


@pytest.mark.parametrize(("width", "height", "scale"), [(1440, 900, 1), (360, 700, 3)], ids=["desktop", "phone"])
def test_browser_an_item_is_few_bytes_and_what_can_wait_comes_after_it(
    browser: Browser, item: str, width: int, height: int, scale: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": height}, device_scale_factor=scale)
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    names: dict[str, str] = {}
    arrived: dict[str, int] = {}
    asked: list[str] = []

    def note(event: dict[str, Any]) -> None:
        names[event["requestId"]] = event["request"]["url"]
        asked.append(event["request"]["url"])

    devtools.on("Network.requestWillBeSent", note)
    devtools.on(
        "Network.loadingFinished",
        lambda event: arrived.update({names[event["requestId"]]: round(event["encodedDataLength"])}),
    )
    page.goto(item)
    page.wait_for_load_state("networkidle")
    shown = page.locator(".text img").evaluate_all("images => images.map((image) => image.currentSrc)")
    assert len(shown) == 2
    ahead = [url for url in asked if url.endswith(".img") and url not in shown]
    assert ahead
    begin = asked.index(ahead[0])
    later = [url.rsplit("/", 1)[-1].partition(".")[0] for url in asked[begin + len(ahead) :]]
    assert asked[begin : begin + len(ahead)] == ahead, "the next item's images come after this one"
    assert sorted(later) == ["elements", "keys", "rate_reading", "tools"], "then what can wait"
    page.locator("[data-slider] input").first.press("End")
    expect(page.locator("[data-rating-left]")).to_contain_text("left to move")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")  # the policy allows the script in the page
    needed = {url: arrived[url] for url in asked[:begin] if url in arrived}
    drawn = sum(n_padding(page.request.get(url).body()) for url in shown)
    assert sum(needed.values()) - drawn + len(shown) * N_PADDING_BYTES // 2 <= MOST_BYTES, needed
    context.close()


def n_padding(image: bytes) -> int:
    """Return how many bytes were drawn to hide what an image shows: a different number in each, counted as the mean."""
    start = image.rindex(b"paDd")
    if image.startswith(b"RIFF"):
        return int.from_bytes(image[start + 4 : start + 8], "little")
    return int.from_bytes(image[start - 4 : start], "big")
