"""What an item is about: system, source and document, from the columns of a task's data."""

from collections.abc import Iterable, Mapping, Sequence

from analysis.data.finding import DOCUMENT, ITEM, SEGMENT, SYSTEM, check_chosen, find_columns
from analysis.data.spans.weights import DEFAULTS, plain
from analysis.data.tools.made import Made
from evalsite.lib.tables.errors import listing

ABOUT = {
    "system": SYSTEM,
    "source": ("source_id", "question_id", "prompt_id", *SEGMENT, *ITEM),
    "document": DOCUMENT,
    "kind": ("item_kind", "item_type"),
    "system_a": ("model_a", "system_left"),
    "system_b": ("model_b", "system_right"),
    "target": ("output", "target_text", "translation", "hypothesis", "response", "text"),
    "source_text": ("src", "source_segment", "passage", "prompt"),
}
"""What the data of tasks call these."""
ANSWER = "score"
"""What somebody calls the answers that are wanted, where a file has those of several criteria."""
_SEVERITIES = {key for key in DEFAULTS if ":" not in key}
NO_CATEGORY = "error"
_PARTS = "/:|"


def find_about(data: Sequence[str], chosen: Mapping[str, str], others: Iterable[str] = ()) -> dict[str, str]:
    """Return the column of each of ABOUT that the data have; raise DomainError for a chosen one that is not there.

    `others`: columns that are not of the data, and may be chosen. What is chosen as `ANSWER` is none of these.
    """
    chosen = {name: column for name, column in chosen.items() if name != ANSWER}
    check_chosen(chosen, ABOUT, [*data, *others])
    return find_columns(data, ABOUT, chosen)


def require_about(made: Made, found: Mapping[str, str], needed: Sequence[str], data: Sequence[str]) -> None:
    """Add a problem for each column of the data that is needed and was not found."""
    for name in needed:
        if name not in found and all(problem.column != name for problem in made.problems):
            there = f"The data of its tasks have {listing(data)}" if data else "Its tasks have no data"
            message = (
                f"there is no column “{name}” in this file of {made.tool}. {there}: name the one that is meant, for "
                f"instance --columns {name}=COLUMN, or add it to the tasks."
            )
            made.refuse(None, name, "missing_column", message)


def severity_and_category(labels: Sequence[str], severity: str = "") -> tuple[str, str]:
    """Return severity and category that labels of a mark say, such as `major` or `Accuracy/Omission: minor`.

    Where none is a severity it is `error`, which has no weight unless the protocol’s file gives it one.

    >>> severity_and_category(["Major"]), severity_and_category(["Fluency/Punctuation", "minor"])
    (('Major', 'error'), ('minor', 'Fluency/Punctuation'))
    >>> severity_and_category(["Accuracy: minor"]), severity_and_category(["Style"])
    (('minor', 'Accuracy'), ('error', 'Style'))
    """
    categories = []
    for label in labels:
        parts = [label]
        for mark in _PARTS:
            if any(plain(part) in _SEVERITIES for part in label.split(mark)):
                parts = label.split(mark)
        for part in parts:
            if plain(part) in _SEVERITIES and not severity:
                severity = part.strip()
            elif part.strip():
                categories.append(part.strip())
    return severity or NO_CATEGORY, "/".join(categories) or NO_CATEGORY
