"""`manage.py plan`: how often a design finds a difference, how many workers are enough, what they cost."""

import inspect
from argparse import ArgumentParser, ArgumentTypeError
from decimal import Decimal
from pathlib import Path
from typing import Any

from analysis.management.ratings_command import RatingsCommand
from analysis.methods import DEFAULT
from analysis.planning.methods import PLANNED
from analysis.planning.plans import LEVELS, OUTPUTS_PER_PAGE, SEED, SIMULATIONS
from analysis.results.exports import dump_json
from analysis.stats.power import TARGET
from campaigns.design.composition import Layout
from campaigns.design.worker_test import WORKER_TESTS
from evalsite.lib.arguments import amount, share, whole
from evalsite.library.analysis import analyse
from evalsite.library.planning import plan

_PASSED_ON = inspect.signature(plan).parameters.keys() - {"pilot", "progress"}


class Command(RatingsCommand):
    """Power, cost and time on standard output; progress on standard error."""

    help = "Plan a campaign: power by simulation, workers for 80 % power, what changes buy, cost and time."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the design, the pilot, and what work costs."""
        design = parser.add_argument_group("design")
        design.add_argument("--systems", type=whole(2), required=True, metavar="N")
        design.add_argument("--workers", type=whole(1), required=True, metavar="N")
        design.add_argument("--items", type=whole(1), required=True, metavar="N", help="ordinary items of a HIT")
        design.add_argument(
            "--difference",
            type=_positive,
            required=True,
            metavar="N",
            help="; ".join(f"{slug}: {planned.asked}" for slug, planned in PLANNED.items()),
        )
        design.add_argument(
            "--method", choices=list(PLANNED), default=DEFAULT, help=f"how responses are analysed ({DEFAULT})"
        )
        design.add_argument("--levels", type=whole(2), default=LEVELS, metavar="N", help=f"of ordinal ({LEVELS})")
        design.add_argument(
            "--outputs-per-page",
            type=whole(2),
            default=OUTPUTS_PER_PAGE,
            metavar="N",
            help=f"of ranking and best_worst ({OUTPUTS_PER_PAGE})",
        )
        design.add_argument("--sources", type=whole(1), metavar="N", help="each with an output of all systems (100)")
        design.add_argument("--hits-per-worker", type=whole(1), default=1, metavar="N", help="of each worker (1)")
        design.add_argument(
            "--workers-per-hit", type=whole(1), default=1, metavar="N", help="who rate the same HIT (1)"
        )
        design.add_argument(
            "--degraded", type=whole(0), metavar="N", help="degraded items of a HIT (a seventh of items)"
        )
        design.add_argument("--repeats", type=whole(0), default=0, metavar="N", help="repeats of a HIT (0)")
        design.add_argument("--criteria", type=whole(1), metavar="N", help="(1, or as the pilot)")
        design.add_argument("--layout", choices=[each.value for each in Layout], default=Layout.POOLED.value)
        design.add_argument("--worker-test", choices=list(WORKER_TESTS), metavar="PRESET", help=", ".join(WORKER_TESTS))
        design.add_argument("--careless", type=share, metavar="SHARE", help="of careless workers (0.25; as the pilot)")
        pilot = parser.add_argument_group("pilot")
        pilot.add_argument("--pilot", type=Path, metavar="RATINGS", help="ratings whose variances are taken")
        pilot.add_argument("--protocol", metavar="NAME", help="of the pilot: a protocol's name, or a JSON file")
        pilot.add_argument(
            "--metrics", type=Path, metavar="FILE", help="scores of outputs, to say what ratings they save"
        )
        pilot.add_argument("--scale", type=float, nargs=2, metavar=("LOW", "HIGH"), help="of the pilot's scores")
        pilot.add_argument("--score-columns", nargs="+", default=(), metavar="COLUMN", help="one for each criterion")
        pilot.add_argument("--encoding", choices=["windows-1252"], help="of CSV files that are not UTF-8")
        cost = parser.add_argument_group("cost and time")
        cost.add_argument("--reward", type=amount, metavar="AMOUNT", help="for a HIT")
        cost.add_argument("--fee", type=amount, default=Decimal(0), metavar="AMOUNT", help="of the platform, for a HIT")
        cost.add_argument("--currency", default="", metavar="CODE")
        cost.add_argument("--minutes", type=_positive, metavar="N", help="that a HIT takes")
        cost.add_argument("--hits-per-day", type=_positive, metavar="N", help="finished by all workers in a day")
        parser.add_argument("--target", type=share, default=TARGET, metavar="POWER", help=f"({TARGET})")
        parser.add_argument(
            "--simulations",
            type=whole(1),
            default=SIMULATIONS,
            metavar="N",
            help=f"campaigns of each design ({SIMULATIONS})",
        )
        parser.add_argument("--seed", type=whole(0), default=SEED, metavar="N", help=f"({SEED})")
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def run(self, options: dict[str, Any]) -> None:
        """Plan and print."""
        pilot = None
        if options["pilot"]:
            # All other options are of the plan.
            of_pilot = {name: options[name] for name in ("protocol", "scale", "score_columns", "encoding")}
            pilot = self.data_of(of_pilot | {"ratings": options["pilot"]})
            for note in analyse(pilot, brief=True).notes:
                self.stderr.write(f"{pilot.path.name}: {note}")
        found = plan(pilot=pilot, progress=self.say, **{name: options[name] for name in _PASSED_ON})
        for note in found.notes:
            self.stderr.write(note)
        if options["format"] == "json":
            self.stdout.write(dump_json(found.document | {"findings": found.findings}), ending="")
        else:
            self.stdout.write("\n\n".join(["\n".join(found.findings), *map(repr, found.tables)]), ending="")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ArgumentTypeError(f"a number above 0 is needed, not {text!r}")
    return value
