"""`manage.py agreement RATINGS`: how far workers agree on the outputs that several of them rated."""

from argparse import ArgumentParser
from typing import Any

from analysis.management.ratings_command import ALONE, RatingsCommand
from analysis.methods import get_method
from analysis.methods.study.agreement import N_BINS, Agreement, agreement_of, measure_agreement, measure_scores
from analysis.results.exports import dump_json, to_text
from evalsite.lib.arguments import whole


class Command(RatingsCommand):
    """Krippendorff's α, intraclass correlations and Fleiss' κ of each criterion; of other responses what fits them."""

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
            documents = {task: each.document for task, each in found.items()}
            self.stdout.write(dump_json(documents.get(ALONE, {"tasks": documents})), ending="")
            return
        for task, each in found.items():
            self.stdout.write((task and f"{task}\n") + "\n".join(map(to_text, each.tables)), ending="")

    def _measure(self, options: dict[str, Any]) -> Agreement:
        settings, path = self.settings_of(options), options["ratings"]
        everybody, n_bins = options["workers"] == "all", options["bins"]
        method = get_method(settings.method)
        if method.is_study:
            found = measure_agreement(self.read_study(path, settings, options), everybody=everybody, n_bins=n_bins)
        else:
            data = method.read(self.file_of(path, options, {}), settings)
            scores, judged = method.scores_of(data), method.judge(data, settings)
            for warning in (data if scores is None else scores).warnings:
                self.stderr.write(f"{path.name}: {warning.message}")
            if scores is None or judged is None:
                found = agreement_of(method, data, settings, everybody=everybody)
            else:
                found = measure_scores(scores, judged, settings.protocol, everybody=everybody, n_bins=n_bins)
        for note in found.notes:
            self.stderr.write(f"{path.name}: {note}")
        return found
