"""`manage.py analyse RATINGS`: the whole analysis of a file of responses, without a database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from analysis.data.describing import Reading
from analysis.management.ratings_command import ALONE, RatingsCommand
from analysis.methods.style_control import STYLES
from analysis.results.exports import dump_json, to_latex, to_text
from analysis.results.sections import Output
from analysis.stats.procedures import Procedure
from analysis.stats.scores import Unit
from evalsite.library.analysis import Analysis, analyse

_TASK_MARK = {"table": "", "latex": "% "}
_PASSED_ON = (
    *("worker_test", "alpha", "unit", "comparison", "style", "workers_planned"),
    *("metrics", "sources", "dialogues", "assignments", "corpus"),
)


class Command(RatingsCommand):
    """Tables or JSON on standard output; with `--out`, everything in a folder."""

    help = "Analyse a ratings file (CSV, TSV, JSON, Excel, Parquet): worker tests, z scores, ranking."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("--unit", choices=[unit.value for unit in Unit], help="what one observation is")
        parser.add_argument("--comparison", choices=list(Procedure), help="how systems are compared (clustered)")
        parser.add_argument("--style", choices=STYLES, help="whether votes rank systems with style taken out (beside)")
        parser.add_argument(
            "--workers-planned", type=int, metavar="N", help="of responses that are looked at while they come"
        )
        parser.add_argument("--compare", type=Path, metavar="ORIGINAL", help="the run that RATINGS replicates")
        parser.add_argument("--dialogues", type=Path, metavar="FILE", help="the chats that were rated, one a row")
        parser.add_argument("--assignments", type=Path, metavar="FILE", help="how many seconds each assignment took")
        parser.add_argument("--corpus", type=Path, metavar="FILE", help="dialogues that the chats are compared with")
        parser.add_argument("--sources", type=Path, metavar="FILE", help="how many words the texts of each source have")
        parser.add_argument("--metrics", type=Path, metavar="FILE", help="scores of metrics, to compare with people")
        parser.add_argument(
            "--groups", nargs="+", action="extend", default=[], metavar="COLUMN", help="compare systems in its groups"
        )
        parser.add_argument("--format", choices=["table", "json", "latex"], default="table")
        parser.add_argument("--out", type=Path, metavar="FOLDER", help="also write tables and figures there")
        parser.add_argument("--explain", action="store_true", help="say how the file is read, and analyse nothing")
        parser.add_argument("--no-figures", action="store_true", help="with --out: tables only, which is quicker")

    def run(self, options: dict[str, Any]) -> None:
        """Analyse, print and write; several tasks of one file each by itself."""
        self._explains = options["explain"]
        found = self.by_task(options, self._analysed)
        if options["format"] == "json" and not options["explain"]:
            tasks = {task: analysis.to_json() for task, analysis in found.items() if analysis}
            self.stdout.write(dump_json(tasks.get(ALONE, {"tasks": tasks})), ending="")

    def _analysed(self, options: dict[str, Any]) -> Analysis | None:
        """Return the analysis; print its tables, unless it is JSON, and write them. None where it is explained."""
        if task := options.get("task"):
            if options["out"]:
                options["out"] /= slugify(task, allow_unicode=True) or "task"
            if options["format"] != "json":
                self.stdout.write(f"{_TASK_MARK[options['format']]}{task}")
        data = self.data_of(options)
        if self._explains:
            _ = data.responses
            return None
        analysis = analyse(
            data,
            by=options["groups"],
            original=options["compare"],
            brief=options["format"] == "json" and not options["out"],
            progress=self.say,
            **{name: options[name] for name in _PASSED_ON},
        )
        for each in filter(None, (analysis, analysis.original)):
            for note in each.notes:
                self.stderr.write(f"{each.data.path.name}: {note}")
        self._print(analysis, options)
        return analysis

    def tell(self, reading: Reading) -> None:
        """Say how a file was read, if that was asked for on standard output, with all steps."""
        if self._explains:
            self.stdout.write("\n".join(reading.steps))
        else:
            super().tell(reading)

    def _print(self, analysis: Analysis, options: dict[str, Any]) -> None:
        result = analysis.result
        for notice in result.summary.dialogues.notices if result.summary.dialogues else []:
            self.stderr.write(notice)
        if options["out"]:
            self.say("Writing tables and figures")
            analysis.write(options["out"], figures=not options["no_figures"])
        if options["format"] == "json":
            return
        tables = result.tables_in(Output.TERMINAL)
        if options["format"] == "latex":
            self.stdout.write("\n".join(map(to_latex, tables)), ending="")
            return
        if result.headline:
            self.stdout.write(result.headline)
        for entry in result.own.get("groups", []):
            self.stdout.write(" ".join(entry["said"]))
        self.stdout.write("\n".join(map(to_text, tables)), ending="")
