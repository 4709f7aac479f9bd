"""Whether anything but what is read tells a repeat or a degraded item from the others, in each format.

    python benchmarks/leaks.py [--quick]

A worker rates HITs of 60 ordinary items, 30 repeats and 30 degraded ones, in each format of outputs, on the pages of a
site in this process. Of each item are taken: the bytes of its page, of its headers and of its files, the milliseconds
until the page is there, and its place in the HIT. `auc` is the area under the curve by which each of these tells
repeats, or degraded items, from ordinary ones: .5 is chance. A page's bytes hold what is read, too.
"""

import argparse
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.rating_cycle import in_new_site

N_ORDINARY, N_COPIES = 60, 30
WORDS = str.split(
    "river stone market harbour letter winter garden street window morning bread paper light forest bridge summer "
    "village music number station coffee island mountain colour kitchen journey doctor teacher history weather"
)
_FILE = re.compile(r'src="([0-9a-f]{24}[a-zA-Z]\.img)"')
_PARTS = ("page", "headers", "files", "ms", "place")


def build(format: Any, seed: int) -> Any:
    """Return a launched campaign of one HIT whose outputs have the format."""
    from django.db import transaction

    from campaigns.models import Campaign, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from campaigns.services.hits import execute_build
    from evalsite.accounts.models import User

    rng = np.random.default_rng(seed)
    owner, _ = User.objects.get_or_create(email="owner@example.org")
    campaign = create_campaign(owner=owner, protocol="custom", name=format.slug)
    mix = {"n_ordinary": N_ORDINARY, "n_degraded": N_COPIES, "n_repeat": N_COPIES, "n_reference": 0, "n_hits": 1}
    screen = campaign.screen | {"output_format": format.slug}
    Campaign.objects.filter(pk=campaign.pk).update(**mix, screen=screen, instructions="Rate each.", seed=seed)
    systems = [System.objects.create(campaign=campaign, name=name) for name in ("alder", "birch")]
    for n in range(N_ORDINARY):
        source = Source.objects.create(campaign=campaign, name=f"s{n:03}", fields={"source": f"Question {n}"})
        for system in systems:
            said = " ".join(rng.choice(WORDS, int(rng.integers(30, 60))))
            text = format.read(format.example(said), is_output=True)
            Output.objects.create(source=source, system=system, text=text)
    campaign.refresh_from_db()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.RUNNING)
    return Campaign.objects.get(pk=campaign.pk)


def walk(campaign: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rate the HIT; return the kinds of its items, and what was seen of each, (n_items, 5)."""
    from django.test import Client
    from django.urls import reverse

    from annotation.access.tokens import token_of
    from annotation.services.assignments import start_assignment
    from campaigns.models import HitItem

    assignment = start_assignment(campaign=campaign, worker_key="a-worker", consented=True)
    path, client = reverse("rate:hit", args=[token_of(assignment)]), Client(SERVER_NAME="127.0.0.1")
    items = HitItem.objects.filter(hit=assignment.hit).order_by("position")
    kinds = np.array([item.kind for item in items])
    criterion = campaign.criteria.get()
    seen: list[list[float]] = []
    sent: dict[str, object] = {}
    for position in range(1, len(kinds) + 1):
        begin = time.perf_counter()
        page = client.post(path, sent) if sent else client.get(path)
        ms = (time.perf_counter() - begin) * 1000
        assert page.status_code == 200, page.status_code
        files = [len(client.get(f"{path}{name}").content) for name in dict.fromkeys(_FILE.findall(page.text))]
        seen.append([len(page.content), len(str(page.headers)), sum(files), ms, position])
        telemetry = {"shown_ms": 9000, "first_touch_ms": 4000, "n_moves": 4, "n_focus_lost": 0, "n_pastes": 0}
        sent = {"position": position, f"answer_{criterion.pk}": 50, **telemetry}
    return kinds, np.array(seen)


def area(of: np.ndarray, others: np.ndarray) -> float:
    """Return how often one of the first is greater than one of the others, ties counted half."""
    greater = (of[:, None] > others).mean() + (of[:, None] == others).mean() / 2
    return round(float(greater), 3)


def main() -> None:
    """Print the areas of each format and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one HIT of each format only")
    n_hits = 1 if parser.parse_args().quick else 4

    def act() -> None:
        from campaigns.design.composition import Kind
        from campaigns.formats import has_file_format, list_formats

        found: dict[str, dict[str, dict[str, float]]] = {}
        for format in list_formats():
            if not format.is_for_outputs or has_file_format([format.slug]):  # tests/campaigns/formats have files
                continue
            walks = [walk(build(format, seed)) for seed in range(1, n_hits + 1)]
            kinds, seen = (np.concatenate(each) for each in zip(*walks, strict=True))
            others = seen[kinds == Kind.ORDINARY]
            found[format.slug] = {
                name: dict(zip(_PARTS, (area(seen[kinds == kind][:, k], others[:, k]) for k in range(5)), strict=True))
                for name, kind in (("repeat", Kind.REPEAT), ("degraded", Kind.DEGRADED))
            }
            print(format.slug, found[format.slug])
        areas = [value for kinds in found.values() for parts in kinds.values() for value in parts.values()]
        print(json.dumps({"auc": found, "least": min(areas), "greatest": max(areas), "n_hits": n_hits}))

    in_new_site(act)


if __name__ == "__main__":
    main()
