"""The long table's columns and the names that other tools give them."""

import re
from collections.abc import Mapping, Sequence

COLUMNS = ("worker", "assignment", "hit", "position", "source", "system", "kind", "criterion", "score")
"""The columns of a ratings file (DESIGN §10), one row a rating."""

REQUIRED = ("worker", "system", "score")
"""`criterion` is required as well where a protocol has several."""

_SYNONYMS = {
    "worker": ("worker_id", "annotator", "annotator_id", "rater", "rater_id", "user", "user_id", "username"),
    "assignment": ("assignment_id", "session", "session_id", "submission_id"),
    "hit": ("hit_id", "task_id", "batch_id"),
    "position": ("pos", "item_position", "item_number", "order"),
    "source": (
        "source_id",
        "segment",
        "segment_id",
        "seg_id",
        "doc",
        "doc_id",
        "document",
        "item_id",
        "item",
    ),
    "system": ("system_id", "model", "model_id", "model_name", "system_name"),
    "kind": ("item_kind", "item_type", "type"),
    "criterion": ("criteria", "criterion_name", "dimension", "aspect"),
    "score": ("rating", "raw_score", "value", "slider"),
}

# MTurk's batch results put these before a column that the requester named.
_PREFIX = re.compile(r"^(input|answer)\.", re.IGNORECASE)


def guess_mapping(column_names: Sequence[str]) -> dict[str, str]:
    """Return which column of a file holds each canonical column, {canonical name: the file's name}.

    Capitals, spaces and punctuation do not matter; a column's own name wins over a synonym, an earlier
    synonym over a later one, an earlier column over a later one. No column is used twice; what cannot be
    guessed is left out.
    """
    plain = {name: _plain(name) for name in column_names}
    mapping: dict[str, str] = {}
    names = {column: (column, *_SYNONYMS[column]) for column in COLUMNS}
    for exact in (True, False):
        for column in COLUMNS:
            if column in mapping:
                continue
            for wanted in names[column][:1] if exact else names[column]:
                found = [name for name in column_names if plain[name] == _plain(wanted)]
                free = [name for name in found if name not in mapping.values()]
                if free:
                    mapping[column] = wanted if wanted in free else free[0]
                    break
    return {column: mapping[column] for column in COLUMNS if column in mapping}


def chosen_mapping(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return a mapping that a person chose, without its blanks, in the order of COLUMNS.

    Raises ValueError for a name that is not canonical and for a column that is used twice: forms prevent
    both.
    """
    chosen = {column: name for column, name in mapping.items() if name}
    unknown = set(chosen) - set(COLUMNS)
    if unknown:
        raise ValueError(f"no such column of a ratings file: {sorted(unknown)}")
    if len(set(chosen.values())) < len(chosen):
        raise ValueError("one column of the file is chosen twice")
    return {column: chosen[column] for column in COLUMNS if column in chosen}


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", _PREFIX.sub("", name.strip())).casefold()
