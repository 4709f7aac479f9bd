"""`manage.py agreement RATINGS`: how far workers agree on what several of them judged."""

from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from analysis.management.ratings_command import ALONE, RatingsCommand
from analysis.questions.coefficients import N_BINS
from analysis.results.answers import SharedCoefficients
from analysis.results.exports import dump_json
from analysis.results.result import AppliedTest
from evalsite.lib.arguments import whole
from evalsite.lib.typed_json import to_json
from evalsite.library.analysis import analyse
from evalsite.library.measures import Reliability, agreement


class Command(RatingsCommand):
    """Krippendorff's α, intraclass correlations, κ and others: those that fit what workers answered."""

    help = "Measure how far workers agree: Krippendorff's α, ICC(2,1) and ICC(2,k), Fleiss' κ."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument(
            "--workers", choices=["passed", "all"], default="passed", help="whose ratings count (passed)"
        )
        parser.add_argument(
            "--bins", type=whole(2), default=N_BINS, metavar="N", help=f"categories of scores for Fleiss' κ ({N_BINS})"
        )
        parser.add_argument("--format", choices=["text", "json"], default="text")

    def run(self, options: dict[str, Any]) -> None:
        """Measure and print; several tasks of one file each by itself."""
        found = self.by_task(options, self._measure)
        if options["format"] == "json":
            documents = {task: _as_json(*of_task) for task, of_task in found.items()}
            self.stdout.write(dump_json(documents.get(ALONE, {"tasks": documents})), ending="")
            return
        for task, (_, reliability) in found.items():
            self.stdout.write((task and f"{task}\n") + "\n".join(map(repr, reliability.tables)), ending="")

    def _measure(self, options: dict[str, Any]) -> tuple[dict[str, Any], Reliability]:
        data, test = self.data_of(options), {name: options[name] for name in ("worker_test", "alpha")}
        reliability = agreement(data, workers=options["workers"], bins=options["bins"], **test)
        analysis = analyse(data, brief=True, progress=self.say, **test)
        for note in (*analysis.notes, *reliability.notes):
            self.stderr.write(f"{data.path.name}: {note}")
        applied = analysis.result.summary.worker_test or AppliedTest(analysis.settings.preset, analysis.settings.alpha)
        return {"protocol": data.method, "worker_test": asdict(applied), "workers": options["workers"]}, reliability


_GROUPED = {"alpha": "krippendorff_alpha", "icc": "icc"}


def _as_json(analysed_by: dict[str, Any], reliability: Reliability) -> dict[str, Any]:
    """Return by the name of each criterion what an answer is, and coefficients: between workers, and `within` them.

    Those of Krippendorff's α and of intraclass correlation are each in one object.
    """
    criteria = {
        criterion.name: {
            "answer": criterion.answer,
            **_grouped(criterion.between),
            "within": _grouped(criterion.within),
        }
        for criterion in reliability.agreement.criteria
    }
    of_numbers = {key: value for key, value in to_json(reliability.agreement).items() if value is not None}
    return {**analysed_by, **of_numbers, "criteria": criteria}


def _grouped(shared: SharedCoefficients) -> dict[str, Any]:
    found: dict[str, Any] = to_json(shared)
    for key, value in found.pop("coefficients").items():
        group, _, which = key.partition("_")
        if group in _GROUPED:
            found.setdefault(_GROUPED[group], {})[which] = value
        else:
            found[key] = value
    return found
