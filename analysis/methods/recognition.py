"""By which method a file of responses is analysed when nobody says it: as its columns and answers are."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from analysis.data.choices import Choices
from analysis.data.loading import SCORE_NAMES
from analysis.data.scores import DataFile, ScoreFile, Scores, relabel
from analysis.data.tools import Wanted, find_made
from analysis.data.values import is_number
from analysis.methods import get_method
from analysis.methods.settings import CUSTOM, AnalysisSettings, custom_settings, from_protocol
from analysis.stats.scores import are_levels
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from campaigns.protocols import list_protocols
from evalsite.lib.tables import CellProblems, Table, preview

_LEVELS = "likert"
_OF_TOOLS = {Wanted.SPANS: "mqm", Wanted.VOTES: "preference"}


def recognise(path: Path, choices: Choices) -> AnalysisSettings:
    """Return the settings by which a file is analysed: of marked errors and votes by what a tool wrote or columns say,
    of scores by whether they are a few levels.

    Raises TableError for a file that cannot be read.
    """
    choices = choices.for_file(path)
    if made := find_made(
        path, encoding=choices.encoding, columns=choices.columns, items=choices.items, more=choices.more
    ):
        there = [wanted for wanted in Wanted if made.has(wanted)]
        if Wanted.SCORES not in there:
            return from_protocol(_OF_TOOLS[there[0]]) if there else from_protocol(CUSTOM)
        table = made.table(Wanted.SCORES)
        if Wanted.SPANS in there:  # tasks of marks alone have a score that is always 0
            return from_protocol("esa" if len(table.text["score"].labels) > 1 else "mqm")
        return _of_scores(table, {name: name for name in table.columns}, choices)
    columns = preview(path, encoding=choices.encoding).columns
    fitting = [each for each in list_protocols() if get_method(each.method).fits(columns)]
    if fitting:
        return from_protocol(fitting[0].slug)
    needed, problems = ("worker", "score"), CellProblems()
    found = ScoreFile(DataFile(path), SCORE_NAMES, choices, Scores(is_number)).read(needed, problems)
    return _of_scores(found.table, found.called, choices)


def _of_scores(table: Table, called: dict[str, str], choices: Choices) -> AnalysisSettings:
    """Return the settings for scores: levels, or of one's own with the criteria of the file."""
    column = relabel({"score": table.text[called["score"]]}, choices, is_number)[0]["score"]
    values = np.array([float(label) for label in column.labels if is_number(label)])
    if are_levels(values):
        return from_protocol(_LEVELS)
    criteria = table.text[called["criterion"]].labels if "criterion" in called else []
    settings = custom_settings(sorted(criteria))
    kinds = table.text[called["kind"]].labels if "kind" in called else []
    can_test = Kind.DEGRADED.name.lower() in {kind.casefold() for kind in kinds}
    return settings if can_test else replace(settings, preset=NO_TEST)
