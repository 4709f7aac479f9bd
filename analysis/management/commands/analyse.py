"""`manage.py analyse RATINGS`: the whole analysis of a ratings file, without a database."""

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import Any

from analysis.dialogues.corpus import load_corpus
from analysis.exports import WORKBOOK, dump_json, make_workbook, to_latex, to_text, write_figures, write_report
from analysis.management.ratings_command import RatingsCommand
from analysis.methods import tables_of
from analysis.methods.replication import compare_runs
from analysis.report import report, summarise
from analysis.sections import Output
from analysis.stats.scores import Unit
from analysis.study import Study
from campaigns.design.worker_test import NO_TEST


class Command(RatingsCommand):
    """Tables or JSON on standard output; with `--out`, everything in a folder."""

    help = "Analyse a ratings file (CSV, TSV, JSON Lines, Excel, Parquet): worker tests, z scores, ranking."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what the command takes."""
        super().add_arguments(parser)
        parser.add_argument("--unit", choices=[unit.value for unit in Unit], help="what one observation is")
        parser.add_argument("--compare", type=Path, metavar="ORIGINAL", help="the run that RATINGS replicates")
        parser.add_argument("--dialogues", type=Path, metavar="FILE", help="the chats that were rated, one a row")
        parser.add_argument("--assignments", type=Path, metavar="FILE", help="how many seconds each assignment took")
        parser.add_argument("--corpus", type=Path, metavar="FILE", help="dialogues that the chats are compared with")
        parser.add_argument("--sources", type=Path, metavar="FILE", help="how many words the texts of each source have")
        parser.add_argument("--metrics", type=Path, metavar="FILE", help="scores of metrics, to compare with people")
        parser.add_argument("--format", choices=["table", "json", "latex"], default="table")
        parser.add_argument("--out", type=Path, metavar="FOLDER", help="also write tables and figures there")

    def run(self, options: dict[str, Any]) -> None:
        """Analyse, print and write."""
        settings = self.settings_of(options)
        if options["corpus"]:
            settings = replace(settings, corpus=load_corpus(options["corpus"]))
        study = self.read_study(options["ratings"], settings, options)
        original = self.read_study(options["compare"], settings, options, alone=True) if options["compare"] else None
        self._print(study, original, options)

    def _print(self, study: Study, original: Study | None, options: dict[str, Any]) -> None:
        replication = compare_runs(summarise(original), summarise(study)) if original else None
        extra = {"replication": replication} if replication else {}
        wants_tables = options["format"] != "json"
        document = report(study) | extra if options["out"] or wants_tables else None
        summary = document["summary"] if document else summarise(study)
        dialogues = summary.get("dialogues")
        for notice in dialogues["notices"] if dialogues else []:
            self.stderr.write(notice)
        if document and options["out"]:
            self.say("Writing tables")
            write_report(options["out"], document)
            make_workbook(options["out"], WORKBOOK)
            self.say("Drawing figures")
            write_figures(options["out"], document)
        if not wants_tables or document is None:
            self.stdout.write(dump_json(summary | extra), ending="")
            return
        tables = tables_of(document, Output.TERMINAL)
        if options["format"] == "latex":
            self.stdout.write("\n".join(map(to_latex, tables)), ending="")
            return
        self.stdout.write(f"{_workers_in_words(study, document['summary']['workers'])}\n")
        self.stdout.write("\n".join(map(to_text, tables)), ending="")


def _workers_in_words(study: Study, workers: dict[str, int]) -> str:
    """Return how many workers count, and by which test."""
    if study.settings.preset == NO_TEST:
        return f"No worker test was applied: {study.analysis.is_kept.sum()} of {workers['total']} workers count."
    return (
        f"{workers['passed']} of {workers['total']} workers passed {study.settings.preset} at "
        f"α = {study.settings.alpha:g} ({workers['failed']} failed, {workers['untested']} untested)."
    )
