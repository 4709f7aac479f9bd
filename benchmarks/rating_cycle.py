"""Requests a second of a worker's item and save, against the least that a Django view can do.

    python benchmarks/rating_cycle.py [--quick]

Ours: one POST keeps an item's scores and answers with the page of the next item. The floor: a view that reads one row,
inserts one and renders a page of 5 KB. The same server (gunicorn, one process, four threads), the same middleware and
database (SQLite, or that of DATABASE_URL) and the same four clients, in turn, in the same run. Five kinds of HIT: 100
items with one slider, 20 items of one source with four, 50 comparisons of two outputs (preference), 20 documents of
one segment with errors and a score (ESA), 20 answers in Markdown with a table, code and formulas, rated on two scales.
`ratio` is the floor's throughput over ours in the second, `ratios` in each.
With SQLite a second server, in turn with the first, has `SQLITE_SYNCHRONOUS=NORMAL`; all numbers outside `synchronous`
are of the product's default, FULL, and `cost_of_full` is our throughput at NORMAL over that at FULL.
In each round we are also measured with images: after each page a client fetches those that it has not had, as a browser
does. `with_images` is the time of such an item over that of one without, `images_per_item` how many images that are.
`errors` counts answers that are neither pages nor images, and ratings that are missing or too many in the end.
"""

import argparse
import http.client
import json
import os
import platform
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urljoin

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

N_CLIENTS = 4
ROUNDS, QUICK_ROUNDS = 7, 3
N_PER_ROUND, QUICK_N_PER_ROUND = 60, 20
_FEWER_DRAWN = 3  # an item with its images takes up to six times as long
SHAPES = {"mrc-adequacy": 100, "qg": 20, "preference": 50, "esa": 20, "markdown": 20}
"""Pages of a HIT, by its protocol or by the format of its outputs."""
PROTOCOL_OF = {"markdown": "likert"}
ANSWER = r"""## Answer %d

It was **rebuilt in stone**, *not* in wood, after flood `%d`: see [the chronicle](https://example.org/harbour).

| Year | Works | Cost |
|:-----|-------|-----:|
| 1604 | The northern mole and its two lights | $x^2$ |
| 1611 | The market hall, in which fish is sold | $3x$ |

1. The mole was raised by two metres, and the lights were moved to its end.
2. Then the market moved to the northern side, where the boats now land.

```python
def height(year: int) -> float:
    # The height of the mole in metres.
    return 4.5 if year >= 1604 else 2.5
```

So the harbour has kept its form since, and the height of a flood of $n$ days follows $$h_n = \frac{n}{2} + \log n.$$
"""
"""A short answer of a language model, rendered anew for each item."""
OUTPUTS_OF_PAGE = {"preference": 2}
PASSAGE = "The harbour was rebuilt in stone after the flood, and the market moved to its northern side. " * 6
SHORT = {"question": "Where was the market moved when the harbour was rebuilt?", "reference": "To its northern side."}
"""Fields that are no passages, as long as in `examples/mrc`."""

_IMAGE = re.compile(rb'<img[^>]* src="([^"]+)"')

Request = tuple[str, str]


@contextmanager
def serving(port: int, synchronous: str) -> Iterator[int]:
    """Run the server with SQLite so set; yield the id of its process."""
    environment = os.environ | {"SQLITE_SYNCHRONOUS": synchronous}
    command = [sys.executable, "-m", "gunicorn", "evalsite.wsgi", "--bind", f"127.0.0.1:{port}", "--log-level", "error"]
    server = subprocess.Popen([*command, "--workers", "1", "--threads", str(N_CLIENTS)], cwd=ROOT, env=environment)
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield server.pid
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def prepare(protocol: str, n_hits: int) -> tuple[Any, list[list[Request]]]:
    """Make a running campaign and assignments; return it and, for each client, the requests that rate them."""
    from django.urls import reverse
    from django.utils import timezone

    from annotation.access.tokens import token_of
    from annotation.pages.questions import asked_on
    from annotation.queries import criteria_of, pages_of
    from annotation.services.assignments import start_assignment
    from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
    from campaigns.services.campaigns import create_campaign
    from evalsite.accounts.models import User

    n_pages, n_at_once = SHAPES[protocol], OUTPUTS_OF_PAGE.get(protocol, 1)
    size, rng = n_pages * n_at_once, np.random.default_rng(1)
    user, _ = User.objects.get_or_create(email="owner@example.org")
    campaign = create_campaign(owner=user, protocol=PROTOCOL_OF.get(protocol, protocol))
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.RUNNING, launched_at=timezone.now())
    campaign.refresh_from_db()
    text = "Where was harbour %d rebuilt after flood number %d?"
    if protocol == "markdown":
        text, campaign.screen["output_format"] = ANSWER, "markdown"
        campaign.save()
    fields = {field["name"]: SHORT.get(field["name"], PASSAGE) for field in campaign.screen["fields"]}
    systems = System.objects.bulk_create(System(campaign=campaign, name=f"system-{k}") for k in range(size))
    requests: list[list[Request]] = [[] for _ in range(N_CLIENTS)]
    for number in range(n_hits * N_CLIENTS):
        source = Source.objects.create(campaign=campaign, name=f"source-{number}", fields=fields)
        outputs = Output.objects.bulk_create(
            Output(source=source, system=system, text=text % (number, k)) for k, system in enumerate(systems)
        )
        hit = Hit.objects.create(campaign=campaign, number=number + 1)
        HitItem.objects.bulk_create(
            HitItem(hit=hit, position=k + 1, kind=0, output=output, text=output.text, page=k // n_at_once + 1)
            for k, output in enumerate(outputs)
        )
        assignment = start_assignment(campaign=campaign, worker_key=f"worker-{number}")
        path = reverse("rate:hit", args=[token_of(assignment)])
        telemetry = {"shown_ms": 9000, "first_touch_ms": 4000, "n_moves": 4, "n_focus_lost": 0, "n_pastes": 0}
        for page in pages_of(assignment).values():
            answers = {
                f"answer_{asked.key.suffix}": asked.criterion.response_kind.simulate(
                    [50] * len(asked.subject.outputs), asked.criterion.settings, rng, asked.subject
                )
                for asked in asked_on(page, criteria_of(campaign))
            }
            sent = {"position": page.position, **answers, **telemetry}
            requests[number % N_CLIENTS].append((path, urlencode(sent, doseq=True)))
    return campaign, requests


class Posted(NamedTuple):
    """How long it took to post requests, bytes of the largest page, how many failed, how many images came."""

    seconds: float
    n_bytes: int
    n_errors: int
    n_images: int


def post_all(port: int, requests: list[list[Request]], has_images: bool = False) -> Posted:
    """Let every client post its requests at once and, if `has_images`, fetch the images of each page once."""
    errors: list[int] = []
    sizes: list[int] = []
    images: list[bytes] = []

    def ask(connection: http.client.HTTPConnection, *request: Any) -> bytes:
        connection.request(*request)
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            errors.append(response.status)
        return content

    def client(mine: list[Request]) -> None:
        connection, seen = http.client.HTTPConnection("127.0.0.1", port, timeout=60), set[str]()
        for path, body in mine:
            page = ask(connection, "POST", path, body, {"Content-Type": "application/x-www-form-urlencoded"})
            sizes.append(len(page))
            new = {urljoin(path, each.decode()) for each in _IMAGE.findall(page)} - seen if has_images else set()
            images.extend(ask(connection, "GET", url) for url in new)
            seen |= new
        connection.close()

    threads = [threading.Thread(target=client, args=(mine,)) for mine in requests]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Posted(time.perf_counter() - start, max(sizes), len(errors), len(images))


Round = tuple[Posted, Posted, Posted]
"""Ours, the floor, ours with images."""


def measure(ports: dict[str, int], protocol: str, rounds: int, n_per_round: int) -> dict[str, dict[str, float]]:
    """Return, for each server by its `synchronous`, requests a second of ours and of the floor, ratios, sizes, errors.

    `n_per_round` is of one client. The servers take turns: ours, the floor and ours with images, in every round.
    """
    from annotation.models import Response
    from benchmarks.floor.models import Text

    n_drawn = max(n_per_round // _FEWER_DRAWN, 1)
    n_requests = (n_per_round + n_drawn) * (rounds + 1) * len(ports)
    campaign, requests = prepare(protocol, -(-n_requests // SHAPES[protocol]))
    text = Text.objects.create(text="A row of a table")
    floor_round = [[(f"/floor/{text.pk}/", "score=50")] * n_per_round] * N_CLIENTS
    taken: dict[str, list[Round]] = {name: [] for name in ports}
    remaining = [iter(mine) for mine in requests]
    for _ in range(rounds + 1):
        for name, port in ports.items():
            plain, drawn = ([list(islice(mine, n)) for mine in remaining] for n in (n_per_round, n_drawn))
            taken[name].append((post_all(port, plain), post_all(port, floor_round), post_all(port, drawn, True)))
    given = Response.objects.filter(assignment__campaign=campaign).count()
    n_missing = abs(given - n_requests * N_CLIENTS * campaign.criteria.count())
    errors = n_missing + sum(each.n_errors for rows in taken.values() for row in rows for each in row)
    last = taken[list(ports)[-1]][1:]  # the first round warms up
    n = n_per_round * N_CLIENTS, n_drawn * N_CLIENTS
    return {name: {**_summary(rows[1:], last, *n), "errors": errors} for name, rows in taken.items()}


def _summary(rows: list[Round], last: list[Round], n: int, n_drawn: int) -> dict[str, float]:
    """Return what rounds of `n` requests of a server say, `n_drawn` with images; its cost is against the last."""
    return {
        "requests_per_s": n / statistics.median(ours.seconds for ours, _, _ in rows),
        "floor_requests_per_s": n / statistics.median(floor.seconds for _, floor, _ in rows),
        "ratio": statistics.median(ours.seconds / floor.seconds for ours, floor, _ in rows),
        "with_images": statistics.median(drawn.seconds / n_drawn / (ours.seconds / n) for ours, _, drawn in rows),
        "images_per_item": statistics.mean(drawn.n_images for _, _, drawn in rows) / n_drawn,
        "cost": statistics.median(a.seconds / b.seconds for (a, *_), (b, *_) in zip(rows, last, strict=True)),
        "bytes": max(ours.n_bytes for ours, _, _ in rows),
        "floor_bytes": max(floor.n_bytes for _, floor, _ in rows),
    }


def peak_mb(pid: int) -> float:
    """Return the peak memory of the server's largest process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = [Path(f"/proc/{each}/status").read_text() for each in [str(pid), *children]]
    return max(int(text.split("VmHWM:")[1].split()[0]) for text in status) / 1000


def in_new_site(act: Callable[[], None]) -> None:
    """Call `act` with a data folder of its own, with its tables, under the benchmark's settings."""
    with tempfile.TemporaryDirectory(prefix="rating-cycle-") as folder:
        os.environ |= {"EVALSITE_DATA": folder, "DJANGO_SETTINGS_MODULE": "benchmarks.floor.settings"}
        os.environ |= {"JOBS_IN_PROCESS": "false", "LOG_LEVEL": "WARNING"}
        import django
        from django.apps import apps
        from django.conf import settings
        from django.core.management import call_command
        from django.test.utils import override_settings

        django.setup()
        from evalsite.accounts.kept_keys import store_keys

        # Tables come from the models, as in tests: migrations make the same ones in half a minute.
        with override_settings(MIGRATION_MODULES={app.label: None for app in apps.get_app_configs()}):
            call_command("migrate", run_syncdb=True, verbosity=0)
        call_command("migrate", fake=True, verbosity=0)
        store_keys(settings.SECRET_KEY)  # as a migration does: else each name that is hashed asks for them
        call_command("collectstatic", interactive=False, verbosity=0)
        act()


def main() -> None:
    """Measure every kind of HIT and print the table and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds of few items only")
    options = parser.parse_args()
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    n_per_round = QUICK_N_PER_ROUND if options.quick else N_PER_ROUND
    in_new_site(lambda: run(rounds, n_per_round))


def run(rounds: int, n_per_round: int) -> None:
    """Serve, measure, print."""
    import django
    from django.db import connection

    ports = {name: free_port() for name in (["FULL", "NORMAL"] if connection.vendor == "sqlite" else ["FULL"])}
    measured: dict[str, dict[str, dict[str, float]]] = {}
    with ExitStack() as stack:
        pids = {name: stack.enter_context(serving(port, name)) for name, port in ports.items()}
        for protocol in SHAPES:
            measured[protocol] = measure(ports, protocol, rounds, n_per_round)
            for name, row in measured[protocol].items():
                print(
                    f"{protocol:>12} {name:>6}: {row['requests_per_s']:6.0f} items/s of {row['bytes'] / 1000:.1f} kB, "
                    f"floor {row['floor_requests_per_s']:6.0f}/s of {row['floor_bytes'] / 1000:.1f} kB, "
                    f"ratio {row['ratio']:.2f}, "
                    f"with {row['images_per_item']:.1f} images {row['with_images']:.2f} times as long",
                    flush=True,
                )
        memory = peak_mb(pids["FULL"])
    last = measured["qg"]
    cost = last["FULL"].pop("cost")
    speeds = ("requests_per_s", "floor_requests_per_s", "ratio")
    result: dict[str, Any] = {
        "benchmark": "rating_cycle",
        **{name: round(value, 2) for name, value in last["FULL"].items()},
        "errors": sum(rows["FULL"]["errors"] for rows in measured.values()),
        "peak_mb": round(memory, 1),
        "sizes": list(SHAPES.values()),
        "ratios": {protocol: round(rows["FULL"]["ratio"], 2) for protocol, rows in measured.items()},
        "images": {
            protocol: {key: round(rows["FULL"][key], 2) for key in ("with_images", "images_per_item")}
            for protocol, rows in measured.items()
        },
        "clients": N_CLIENTS,
        "database": connection.vendor,
        "versions": {"python": platform.python_version(), "django": django.__version__},
        "cores": os.cpu_count(),
    }
    if connection.vendor == "sqlite":
        result["synchronous"] = {name: {key: round(row[key], 2) for key in speeds} for name, row in last.items()}
        result["cost_of_full"] = round(cost, 2)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
