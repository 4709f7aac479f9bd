"""`manage.py agreement RATINGS`: how far workers agree on what several of them judged."""

from argparse import ArgumentParser
from dataclasses import asdict, replace
from typing import Any

from analysis.management.ratings_command import ALONE, RatingsCommand
from analysis.methods import get_method
from analysis.questions.coefficients import N_BINS
from analysis.questions.reliability import NOT_KNOWN, agreement_section, measure_reliability
from analysis.results.answers import Agreement, SharedCoefficients
from analysis.results.exports import dump_json, to_text
from analysis.results.result import AppliedTest
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.arguments import whole
from evalsite.lib.errors import DomainError
from evalsite.lib.typed_json import to_json


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
        for task, (_, agreement) in found.items():
            tables = agreement_section(agreement).tables
            self.stdout.write((task and f"{task}\n") + "\n".join(map(to_text, tables)), ending="")

    def _measure(self, options: dict[str, Any]) -> tuple[dict[str, Any], Agreement]:
        settings, path = self.settings_of(options), options["ratings"]
        method, columns = get_method(settings.method), options["score_columns"]
        extras = {"score_columns": columns} if columns else {}
        data = method.read(self.file_of(path, options, extras), settings)
        judgements = method.judgements(
            data, replace(settings, preset=NO_TEST) if options["workers"] == "all" else settings
        )
        if judgements is None:
            raise DomainError("nothing_shared", f"{path.name}: {NOT_KNOWN}")
        agreement = measure_reliability(judgements, options["bins"])
        result = method.analyse(data, settings, self.say, brief=True)
        said = [*(warning.message for warning in result.warnings), *result.notes, *agreement.notes]
        if not any(criterion.between.n_items for criterion in agreement.criteria):
            said.append(agreement_section(agreement).finding)
        for note in said:
            self.stderr.write(f"{path.name}: {note}")
        test = asdict(result.summary.worker_test or AppliedTest(settings.preset, settings.alpha))
        return {"protocol": settings.protocol, "worker_test": test, "workers": options["workers"]}, agreement


_GROUPED = {"alpha": "krippendorff_alpha", "icc": "icc"}


def _as_json(analysed_by: dict[str, Any], agreement: Agreement) -> dict[str, Any]:
    """Return by the name of each criterion what an answer is, and coefficients: between workers, and `within` them.

    Those of Krippendorff's α and of intraclass correlation are each in one object.
    """
    criteria = {
        criterion.name: {
            "answer": criterion.answer,
            **_grouped(criterion.between),
            "within": _grouped(criterion.within),
        }
        for criterion in agreement.criteria
    }
    of_numbers = {key: value for key, value in to_json(agreement).items() if value is not None}
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
