"""Seconds until a page with two long answers is ready on a slow line: what a worker on a phone waits for.

    python benchmarks/slow_line.py [--quick]

The first item of a HIT of `llm-pair` in Chromium, whose line gives 1 Mbit/s and 100 ms until the first byte, with an
empty cache each time: two answers in Markdown of at least 1,500 words each, with code, tables and lists, joined from
different requests of `examples/llm/outputs.csv`. The site is served by gunicorn as in production, with what WhiteNoise
compressed. `ready`: the page is parsed, its scripts have run (`DOMContentLoaded`) and its images are there; `all`: also
what comes after it, for the next page. `bytes` are those of all answers until ready, headers with them. The fastest
possible is what as many bytes take at that speed, after one wait for the page and one for what it names (`floor_s`).
"""

import argparse
import csv
import json
import statistics
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rating_cycle import free_port, in_new_site, serving
from tests.services import CHROMIUM_ARGS, CHROMIUM_NAMES, HEADLESS_NAMES, find_program

N_LOADS, QUICK_N_LOADS = 5, 2
BITS_PER_S, LATENCY_MS = 1_000_000, 100
N_WORDS = 1500
WIDTHS = {"phone": 360, "desktop": 1440}
LINE = {
    "offline": False,
    "latency": LATENCY_MS,
    "downloadThroughput": BITS_PER_S / 8,
    "uploadThroughput": BITS_PER_S / 8,
}
_READY = "[...document.images].every((image) => image.complete || image.loading === 'lazy')"
_READY_MS = """() => {
    const [page] = performance.getEntriesByType("navigation");
    const shown = new Set([...document.images].map((image) => image.currentSrc));
    const images = performance.getEntriesByType("resource").filter((each) => shown.has(each.name));
    return Math.max(page.domContentLoadedEventEnd, ...images.map((each) => each.responseEnd));
}"""


def write_answers() -> tuple[str, str]:
    """Return two answers of different systems, each with code and at least `N_WORDS` words, none said twice."""
    with (ROOT / "examples/llm/outputs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return _join(rows, "wordy"), _join(rows[::-1], "careful")


def _join(rows: list[dict[str, str]], system: str) -> str:
    """Return outputs of a system under their requests as headings, those with code first."""
    own = sorted((row for row in rows if row["system"] == system), key=lambda row: "```" not in row["output"])
    parts: list[str] = []
    for row in own:
        parts.append(f"## {row['prompt'].splitlines()[0]}\n\n{row['output']}")
        if sum(len(part.split()) for part in parts) >= N_WORDS:
            return "\n\n".join(parts)
    raise ValueError(f"the example has fewer than {N_WORDS} words of {system}")


def make_link(answers: tuple[str, str]) -> str:
    """Make a running campaign with one HIT of two such pages; return the path at which a worker rates it."""
    from django.utils import timezone

    from annotation.access.tokens import token_of
    from annotation.services.assignments import start_assignment
    from campaigns.design.composition import Kind
    from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol="llm-pair", name="Slow line")
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.RUNNING, launched_at=timezone.now())
    campaign.refresh_from_db()
    systems = System.objects.bulk_create(System(campaign=campaign, name=name) for name in ("alder", "birch"))
    hit = Hit.objects.create(campaign=campaign, number=1, n_places_left=1)
    for page in (1, 2):
        fields = {"prompt": "Answer all of these questions, each with an example."}
        source = Source.objects.create(campaign=campaign, name=f"source-{page}", fields=fields)
        for place, (system, text) in enumerate(zip(systems, answers, strict=True)):
            output = Output.objects.create(source=source, system=system, text=text)
            position = 2 * page - 1 + place
            HitItem.objects.create(hit=hit, position=position, page=page, output=output, kind=Kind.ORDINARY, text=text)
    worker = f"{campaign.public_id}:ann"
    return f"/rate/{token_of(start_assignment(campaign=campaign, worker_key=worker, consented=True))}/"


def load(browser: Any, url: str, width: int) -> dict[str, float]:
    """Open a page once, with an empty cache; return milliseconds and bytes."""
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", LINE)
    arrived: list[tuple[float, int]] = []
    devtools.on(
        "Network.loadingFinished", lambda event: arrived.append((event["timestamp"], event["encodedDataLength"]))
    )
    began: list[float] = []
    devtools.on("Network.requestWillBeSent", lambda event: began.append(event["timestamp"]))
    page.goto(url, wait_until="load")
    page.wait_for_function(_READY)
    ready_ms = page.evaluate(_READY_MS)
    page.wait_for_load_state("networkidle")
    assert page.locator(".fold").count() == 2, "both answers are there"
    until = began[0] + ready_ms / 1000
    n_bytes = sum(n for at, n in arrived if at <= until)
    all_ms = 1000 * (max(at for at, _ in arrived) - began[0])
    context.close()
    return {"ready_ms": ready_ms, "all_ms": all_ms, "bytes": n_bytes, "all_bytes": sum(n for _, n in arrived)}


def run(n_loads: int) -> None:
    """Serve, measure, print."""
    from playwright.sync_api import sync_playwright

    answers = write_answers()
    path, port = make_link(answers), free_port()
    found: dict[str, dict[str, float]] = {}
    with serving(port, "FULL"), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_program(*HEADLESS_NAMES, *CHROMIUM_NAMES), args=CHROMIUM_ARGS
        )
        for name, width in WIDTHS.items():
            loads = [load(browser, f"http://127.0.0.1:{port}{path}", width) for _ in range(n_loads + 1)][1:]
            found[name] = {key: round(statistics.median(each[key] for each in loads)) for key in loads[0]}
            found[name]["slowest_ms"] = round(max(each["ready_ms"] for each in loads))
            found[name]["floor_ms"] = round(2 * LATENCY_MS + 1000 * found[name]["bytes"] * 8 / BITS_PER_S)
            print(f"{name:>8}: {found[name]}", flush=True)
        browser.close()
    words = [len(each.split()) for each in answers]
    line = {"bits_per_s": BITS_PER_S, "latency_ms": LATENCY_MS}
    print(json.dumps({"benchmark": "slow_line", "words": words, "loads": n_loads, **line, "pages": found}))


def main() -> None:
    """Measure the page at two widths; print a line each and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few loads")
    n_loads = QUICK_N_LOADS if parser.parse_args().quick else N_LOADS
    in_new_site(lambda: run(n_loads))


if __name__ == "__main__":
    main()
