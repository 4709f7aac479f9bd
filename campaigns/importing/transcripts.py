"""Columns of dialogues: each cell is read, and written as all dialogues are."""

import numpy as np

from campaigns.contracts.transcripts import Spoken, parse_transcript, write_transcript
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import CellProblems, TextColumn
from evalsite.lib.tables.table import text_column


def read_dialogues(column: TextColumn, name: str, label: str, problems: CellProblems, *, is_rated: bool) -> TextColumn:
    """Return a column with dialogues in one form, whatever they came in; an empty cell stays empty.

    `is_rated`: they are dialogues to be rated, in which the chatbot must say something; otherwise its reply follows
    them. A problem is added for each cell that cannot be read; `label` is what people call the column.
    """
    wrong: dict[int, str] = {}
    labels = list(column.labels)
    for code, text in enumerate(column.labels):
        try:
            labels[code] = write_transcript(_turns(text, is_rated=is_rated)) if text else ""
        except DomainError as error:
            wrong[code] = error.message
    rows = np.flatnonzero(np.isin(column.codes, list(wrong)))
    problems.add(
        rows,
        name,
        "bad_transcript",
        lambda row, _: f"the {label} cannot be read: {wrong[int(column.codes[row])]}.",
    )
    return text_column(column.codes, labels)


def _turns(text: str, *, is_rated: bool) -> tuple[Spoken, ...]:
    turns = parse_transcript(text, is_before_reply=not is_rated)
    if is_rated and all(turn.speaker == "person" for turn in turns):
        raise DomainError("bad_transcript", "nobody in it is the chatbot. Call one speaker Chatbot")
    return turns
