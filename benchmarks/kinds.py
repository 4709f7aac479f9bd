"""CPU seconds and peak memory of the jobs of a result, for each kind of response.

    python benchmarks/kinds.py [--quick | --size N] [--only PROTOCOL ...]

A finished campaign of 10⁶ answers (10⁵ with `--quick`; N a multiple of 6,000) of each of PROTOCOLS: 100 systems, as
many workers as there are thousands of answers, seven different answers to each criterion. `collect` takes them from the
database, `analyse` makes the result; each runs in a process of its own. The floor is a bare cursor that reads the
answers, and `json.loads` of each, in this process. `ratio` is both jobs' time over its, of the `worst` kind.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from benchmarks.api import N_WORKERS, PASSAGE, fill
from benchmarks.million import Jobs
from benchmarks.rating_cycle import in_new_site

PROTOCOLS = {
    "mrc-adequacy": 1, "likert": 1, "preference": 2, "ranking": 4, "best-worst": 4, "magnitude": 1, "esa": 1,
    "fact-count": 1, "option-selection": 1, "post-edit": 1,
}  # fmt: skip
"""How many outputs workers see at once."""
SIZE, QUICK_SIZE = 10**6, 10**5
_N_ANSWERS = 7


def vary(campaign: Any, n_outputs: int) -> None:
    """Give each criterion one of some answers, by assignment and item."""
    from django.db import connection

    from campaigns.contracts.protocol import Scope
    from campaigns.contracts.response import Subject

    rng = np.random.default_rng(2)
    for criterion in campaign.criteria.all():
        n = n_outputs if criterion.scope == Scope.PAGE else 1
        kind, settings = criterion.response_kind, criterion.settings
        subject = Subject(("Where was it rebuilt?",) * n, {"source": PASSAGE})
        with connection.cursor() as cursor:
            for k in range(_N_ANSWERS):
                sent = kind.simulate(rng.integers(0, 101, n).tolist(), settings, rng, subject)
                value = kind.clean(sent, settings, subject)
                cursor.execute(
                    "UPDATE annotation_response SET value = %s, score = %s "
                    f"WHERE criterion_id = %s AND (assignment_id * 13 + item_id * 7) %% {_N_ANSWERS} = %s",
                    [json.dumps(value), kind.score(value, settings), criterion.pk, k],
                )


def read_bare(campaign: Any) -> float:
    """Return the CPU seconds of reading all answers of a campaign and nothing else."""
    from django.db import connection

    start = time.process_time()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.assignment_id, r.item_id, r.value, r.score FROM annotation_response r "
            "JOIN annotation_assignment a ON a.id = r.assignment_id WHERE a.campaign_id = %s",
            [campaign.pk],
        )
        for _, _, value, _ in cursor:
            json.loads(value)
    return time.process_time() - start


def measure(user: Any, protocol: str, n: int) -> dict[str, float]:
    """Return what the jobs of a campaign of so many answers take, and the floor."""
    from django.utils import timezone

    from analysis.models import AnalysisRun
    from analysis.web.services.campaigns import request_analysis
    from campaigns.models import Campaign
    from campaigns.services.campaigns import create_campaign

    n_outputs = PROTOCOLS[protocol]
    campaign = create_campaign(owner=user, protocol=protocol)
    n_criteria = campaign.criteria.count()
    n_items = n * n_outputs // n_criteria
    fill(campaign, n_items, n_outputs, n_workers=max(n_items // 1000, N_WORKERS))
    vary(campaign, n_outputs)
    now = timezone.now()
    Campaign.objects.filter(pk=campaign.pk).update(
        status=Campaign.Status.CLOSED, launched_at=now, closed_at=now, workers_per_hit=N_WORKERS
    )
    jobs, closed = Jobs(), Campaign.objects.get(pk=campaign.pk)
    collected = jobs.run(f"{protocol}: collect", request_analysis(campaign=closed, user=user))
    analysed = jobs.run(f"{protocol}: analyse", AnalysisRun.objects.get(ratings_file__campaign=campaign).job)
    floor = read_bare(campaign)
    return {
        "collect": round(collected.cpu, 2),
        "analyse": round(analysed.cpu, 2),
        "peak_mb": round(max(collected.mb, analysed.mb)),
        "floor_seconds": round(floor, 2),
        "ratio": round((collected.cpu + analysed.cpu) / floor, 2),
    }


def run(protocols: list[str], n: int) -> None:
    """Measure, and print one JSON object last."""
    from django.db import connection

    from evalsite.accounts.models import User

    user = User.objects.create(email="owner@example.org")
    kinds = {protocol: measure(user, protocol, n) for protocol in protocols}
    worst = max(kinds, key=lambda protocol: kinds[protocol]["ratio"])
    print(
        json.dumps(
            {
                "benchmark": "kinds",
                "n": n,
                "kinds": kinds,
                "worst": worst,
                "ratio": kinds[worst]["ratio"],
                "peak_mb": max(each["peak_mb"] for each in kinds.values()),
                "database": connection.vendor,
                "cores": os.cpu_count(),
            }
        )
    )


def main() -> None:
    """Measure in a site of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10⁵ answers")
    parser.add_argument("--size", type=int, metavar="N", help="answers of each kind")
    parser.add_argument("--only", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS), metavar="PROTOCOL")
    options = parser.parse_args()
    in_new_site(lambda: run(options.only, options.size or (QUICK_SIZE if options.quick else SIZE)))


if __name__ == "__main__":
    main()
