"""Which column of a file holds what, by its name: one way for all kinds of responses."""

import re
from collections.abc import Mapping, Sequence

from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import missing_column

Names = Mapping[str, Sequence[str]]
"""What files call each column, the usual names first; the column's own name need not be among them."""

WORKER = (
    *(
        "worker_id",
        "annotator",
        "annotator_id",
        "rater",
        "rater_id",
        "user",
        "user_id",
        "username",
        "judge",
        "judge_id",
    ),
    *("coder", "coder_id", "participant", "participant_id", "subject", "subject_id", "evaluator", "evaluator_id"),
    *("labeler", "labeller", "prolific_id", "prolific_pid"),
)
SYSTEM = (
    *("system_id", "model", "model_id", "model_name", "system_name", "engine", "engine_id", "engine_name", "bot"),
    *("chatbot", "approach"),
)
SEGMENT = ("segment", "segment_id", "seg_id")
DOCUMENT = ("doc", "doc_id", "document", "document_id")
ITEM = ("item_id", "item")
NAMES: Names = {
    "worker": WORKER,
    "assignment": ("assignment_id", "session", "session_id", "submission_id"),
    "hit": ("hit_id", "task_id", "batch_id"),
    "position": ("pos", "item_position", "item_number", "order"),
    "source": ("source_id", *SEGMENT, *DOCUMENT, *ITEM),
    "system": SYSTEM,
    "kind": ("item_kind", "item_type", "type"),
    "criterion": ("criteria", "criterion_name", "dimension", "aspect"),
    "score": ("rating", "raw_score", "value", "slider"),
    "pool": ("worker_pool", "rater_pool", "worker_group", "rater_group", "annotator_group", "annotator_pool"),
    "turn": (),
}
"""What files call the columns of ratings."""

# MTurk's batch results put these before a column that the requester named.
_PREFIX = re.compile(r"^(input|answer)\.", re.IGNORECASE)


def find_columns(there: Sequence[str], names: Names, chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return which column of a file holds each of `names`, {name: the file's column}.

    Capitals, spaces and punctuation do not matter; a column's own name wins over another, an earlier other name over a
    later one, an earlier column over a later one. No column is used twice; what cannot be found is left out. `chosen`
    are those that somebody named.

    >>> find_columns(["Rater", "model", "Input.item"], {"worker": WORKER, "system": SYSTEM, "source": ("item",)})
    {'worker': 'Rater', 'system': 'model', 'source': 'Input.item'}
    """
    plain = {name: plain_name(name) for name in there}
    found = {name: column for name, column in (chosen or {}).items() if name in names}
    for is_own in (True, False):
        for name, others in names.items():
            if name in found:
                continue
            for wanted in (name,) if is_own else others:
                same = [column for column in there if plain[column] == plain_name(wanted)]
                if free := [column for column in same if column not in found.values()]:
                    found[name] = wanted if wanted in free else free[0]
                    break
    return {name: found[name] for name in names if name in found}


def require_columns(file: str, found: Mapping[str, str], needed: Sequence[str], there: Sequence[str]) -> None:
    """Raise TableError about each column that is needed and was not found."""
    if missing := [name for name in needed if name not in found]:
        raise TableError(file, [missing_column(name, there) for name in missing])


def check_chosen(chosen: Mapping[str, str], names: Names, there: Sequence[str]) -> None:
    """Raise DomainError `bad_columns` unless each chosen column is in the file and has a use."""
    for name, column in chosen.items():
        if name not in names:
            raise _bad(f"No column is called “{shorten(name)}” here. It may be one of {listing(names)}.")
        if column not in there:
            columns = listing(each for each in there if each)
            raise _bad(f"The file has no column “{shorten(column)}” for {name}. Its columns are {columns}.")
    if len(set(chosen.values())) < len(chosen):
        raise _bad("One column of the file is chosen for two things. Choose another one.")


def read_chosen(given: Sequence[str]) -> dict[str, str]:
    """Return the columns of arguments like `system=model`.

    >>> read_chosen(["system=model", "source=question id"])
    {'system': 'model', 'source': 'question id'}
    """
    parts = [each.partition("=") for each in given]
    for each, (name, _, column) in zip(given, parts, strict=True):
        if not (name.strip() and column.strip()):
            raise _bad(f"“{shorten(each)}” does not name a column. Write for instance system=model.")
    return {name.strip(): column.strip() for name, _, column in parts}


def _bad(message: str) -> DomainError:
    return DomainError("bad_columns", message)


def plain_name(name: str) -> str:
    """Return a column's name without what does not matter.

    >>> plain_name("Input.Worker ID")
    'workerid'
    """
    return re.sub(r"[\W_]", "", without_prefix(name.strip())).casefold()


def without_prefix(name: str) -> str:
    """Return a column's name without what MTurk puts before it."""
    return _PREFIX.sub("", name)
