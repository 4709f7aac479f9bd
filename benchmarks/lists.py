"""Processor seconds of the lists of campaigns and of ratings files, of a user who has many.

    python benchmarks/lists.py [--size N | --files N]

A user with 1,000 campaigns, or so many, or 1,000 ratings files, opens each page that lists them, as in a browser, in
this process: medians of five. The floor is the page of tokens, of which there are none: `ratio`. `kb` is the length
of each page; `errors` counts pages that did not open. The last line is JSON.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rating_cycle import in_new_site

N, REPEATS = 1000, 5
PAGES = {
    "campaigns": ("campaigns:list", "campaigns:new", "campaigns:commands"),
    "files": ("analysis:ratings", "analysis:compare_any", "campaigns:commands"),
}


def make(what: str, n: int) -> Any:
    """Return a user who has so many campaigns or files, each with a name of its own."""
    from analysis.models import RatingsFile
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    if what == "campaigns":
        for k in range(n):
            create_campaign(owner=user, protocol="qg", name=f"Campaign {k}")
    else:
        RatingsFile.objects.bulk_create(
            RatingsFile(owner=user, title=f"Ratings {k}", name="a.csv", file=f"{k}.csv", size=1, sha256=f"{k:064}")
            for k in range(n)
        )
    return user


def measure(what: str, n: int) -> dict[str, Any]:
    """Return what each page takes, in turn with the floor."""
    from django.test import Client
    from django.urls import reverse

    client = Client(headers={"host": "localhost"})
    client.force_login(make(what, n))
    taken: dict[str, list[float]] = {name: [] for name in (*PAGES[what], "accounts:tokens")}
    kb, errors = {}, 0
    for _ in range(REPEATS + 1):
        for name, seconds in taken.items():
            start = time.process_time()
            answer = client.get(reverse(name))
            seconds.append(time.process_time() - start)
            errors += answer.status_code != 200
            kb[name] = len(answer.content) / 1000
    found = {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}  # the first warms up
    floor = found.pop("accounts:tokens")
    pages = {name: {"seconds": round(s, 4), "ratio": round(s / floor, 2), "kb": kb[name]} for name, s in found.items()}
    return {"pages": pages, "floor_seconds": round(floor, 4), "errors": errors}


def main() -> None:
    """Measure in a site of its own, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, metavar="N", default=N, help="campaigns")
    parser.add_argument("--files", type=int, metavar="N", help="ratings files, and no campaigns")
    options = parser.parse_args()
    what, n = ("files", options.files) if options.files else ("campaigns", options.size)
    in_new_site(lambda: print(json.dumps({"benchmark": "lists", what: n} | measure(what, n))))


if __name__ == "__main__":
    main()
