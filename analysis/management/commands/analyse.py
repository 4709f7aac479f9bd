"""`manage.py analyse RATINGS`: the whole analysis of a file of responses, without a database."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from analysis.data.describing import Reading
from analysis.data.dialogues.corpus import load_corpus
from analysis.management.ratings_command import ALONE, RatingsCommand
from analysis.methods import OPTIONS, ResponseMethod, ResponsesFile, get_method
from analysis.methods.settings import AnalysisSettings
from analysis.questions import analyse_fully
from analysis.results.exports import WORKBOOK, dump_json, to_latex, to_text, to_xlsx, write_figures, write_report
from analysis.results.reading import completed, concluded, printed
from analysis.results.replication import compare_runs
from analysis.results.result import Result
from analysis.results.sections import Output
from analysis.stats.procedures import Procedure
from analysis.stats.scores import Unit
from evalsite.lib.errors import DomainError
from evalsite.lib.typed_json import to_json

_TASK_MARK = {"table": "", "latex": "% "}


class Command(RatingsCommand):
    """Tables or JSON on standard output; with `--out`, everything in a folder."""

    help = "Analyse a ratings file (CSV, TSV, JSON, Excel, Parquet): worker tests, z scores, ranking."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("--unit", choices=[unit.value for unit in Unit], help="what one observation is")
        parser.add_argument("--comparison", choices=list(Procedure), help="how systems are compared (clustered)")
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
            tasks = {task: printed(result) for task, result in found.items()}
            self.stdout.write(dump_json(tasks.get(ALONE, {"tasks": tasks})), ending="")

    def _analysed(self, options: dict[str, Any]) -> Result:
        """Return the result; print its tables, unless it is printed as JSON, and write them."""
        if task := options.get("task"):
            if options["out"]:
                options["out"] /= slugify(task, allow_unicode=True) or "task"
            if options["format"] != "json":
                self.stdout.write(f"{_TASK_MARK[options['format']]}{task}")
        settings = self.settings_of(options)
        method = get_method(settings.method)
        self._refuse_unused(method, options)
        if options["corpus"]:
            settings = replace(settings, corpus=load_corpus(options["corpus"]))
        extras = {name: options[name] for name in OPTIONS if name in method.takes and options[name]}
        is_brief = options["format"] == "json" and not options["out"]
        file = self.file_of(options["ratings"], options, extras)
        data = method.read(file, settings)
        if options["explain"]:
            return Result()
        result = self._analyse(method, data, file, settings, is_brief=is_brief)
        if original := options["compare"]:
            columns = {name: extras[name] for name in ("score_columns",) if name in extras}
            other = self.file_of(original, options, columns)
            without_groups = replace(settings, groups=())  # which the original may not have
            first = self._analyse(method, method.read(other, without_groups), other, without_groups, is_brief=True)
            result = replace(result, own={**result.own, "replication": to_json(compare_runs(first, result))})
        result = concluded(result) if is_brief else completed(result)
        self._print(result, options)
        if options["out"]:
            for name, content in method.files(data).items():
                (options["out"] / name).write_text(content, encoding="utf-8", newline="")
        return result

    def tell(self, reading: Reading) -> None:
        """Say how a file was read, if that was asked for on standard output, with all steps."""
        if self._explains:
            self.stdout.write("\n".join(reading.steps))
        else:
            super().tell(reading)

    def _refuse_unused(self, method: ResponseMethod, options: dict[str, Any]) -> None:
        """Raise DomainError for an option that the method would not use."""
        if unused := [name for name in OPTIONS if options[name] and name not in method.takes]:
            given = "--" + unused[0].replace("_", "-")
            raise DomainError("unused_option", f"{given} says nothing about {method.slug}. Leave it out.")

    def _analyse(
        self, method: ResponseMethod, data: Any, file: ResponsesFile, settings: AnalysisSettings, *, is_brief: bool
    ) -> Result:
        if is_brief:
            result = method.analyse(data, settings, self.say, brief=True)
        else:
            known = file.extras.get("metrics"), file.extras.get("sources", ())
            result = analyse_fully(method, data, settings, self.say, *known)
        for message in (*(warning.message for warning in result.warnings), *result.notes):
            self.stderr.write(f"{file.path.name}: {message}")
        return result

    def _print(self, result: Result, options: dict[str, Any]) -> None:
        for notice in result.summary.dialogues.notices if result.summary.dialogues else []:
            self.stderr.write(notice)
        if options["out"]:
            self.say("Writing tables")
            write_report(options["out"], result)
            (options["out"] / WORKBOOK).write_bytes(to_xlsx(result.tables_in(Output.FILES)))
            if not options["no_figures"]:
                self.say("Drawing figures")
                write_figures(options["out"], result)
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
