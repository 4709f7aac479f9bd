"""A corpus of dialogues that chats are compared with: how long its turns and its speakers' sides are."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from analysis.stats.dialogues import count_letters, quartiles
from analysis.stats.ratings import or_none
from campaigns.dialogues import check_dialogues, read_dialogues
from evalsite.lib.tables import Problem, TableError, if_windows, preview, read_columns
from evalsite.lib.tables.errors import listing

MEASURES = {
    "words_per_chat": "words per chat",
    "characters_per_chat": "characters per chat",
    "words_per_input": "words per input",
    "characters_per_input": "characters per input",
}
_JSON = (b"{", b"[", b'"')


def load_corpus(path: Path, name: str | None = None) -> dict[str, Any]:
    """Return `name`, `dialogues`, `turns` and the `lengths` of a corpus (`describe_lengths`).

    A file of dialogues as chatbots use it (JSON Lines with `turns`), or a table, in any format that
    `evalsite.lib.tables` reads, of one turn a row: `text`, and `dialogue` and `speaker` as far as it has them. Without
    a speaker, speakers take turns. What one speaker says in a dialogue is a chat.
    Raises TableError or BadDialoguesError.
    """
    name = name or path.name
    with path.open("rb") as stream:
        is_json = stream.read(64).lstrip(b"\xef\xbb\xbf \r\n\t").startswith(_JSON)
    if is_json:
        check_dialogues(path, name=name)
        found = read_dialogues(path)
        sides = [turns[first::2] for k in range(found.n_dialogues) for turns in [found.turns_of(k)] for first in (0, 1)]
        n_dialogues, n_turns = found.n_dialogues, found.n_turns
    else:
        sides, n_dialogues, n_turns = _sides_of_table(path, name)
    lengths = [[len_of(turn) for turn in side] for side in sides if side]
    return {"name": name, "dialogues": n_dialogues, "turns": n_turns, "lengths": describe_lengths(lengths)}


def _sides_of_table(path: Path, name: str) -> tuple[list[tuple[str, ...]], int, int]:
    columns = preview(path, name, n_rows=0, encoding=if_windows(path, None)).columns
    by_name = {column.strip().casefold(): column for column in reversed(columns)}
    found = {wanted: by_name[wanted] for wanted in ("text", "dialogue", "speaker") if wanted in by_name}
    if "text" not in found:
        there = listing(column for column in columns if column)
        message = f"there is no such column. A corpus has one turn a row. The columns are {there}."
        raise TableError(name, [Problem(1, "text", message, "missing_column")])
    table = read_columns(path, list(found.values()), name, encoding=if_windows(path, None))
    cells = {
        wanted: [table.text[column].labels[code] for code in table.text[column].codes.tolist()]
        for wanted, column in found.items()
    }
    n_turns = len(cells["text"])
    dialogues = cells.get("dialogue", [""] * n_turns)
    place: defaultdict[str, int] = defaultdict(int)
    sides: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for k, (text, dialogue) in enumerate(zip(cells["text"], dialogues, strict=True)):
        speaker = cells["speaker"][k] if "speaker" in cells else str(place[dialogue] % 2)
        place[dialogue] += 1
        sides[dialogue, speaker].append(text)
    return [tuple(side) for side in sides.values()], len(place), n_turns


def len_of(text: str) -> tuple[int, int]:
    """Return the words of a text by white space, and its characters with single spaces between them."""
    words = text.split()
    return len(words), len(" ".join(words))


def describe_lengths(chats: Iterable[Iterable[tuple[int, int]]]) -> dict[str, Any]:
    """Return number, mean and the 5th, 25th, 50th, 75th and 95th percentile of each of `MEASURES`.

    `chats` has the words and characters (`len_of`) of each input of each chat; characters are given without white
    space, as `stats.dialogues.count_letters` counts them.
    """
    of_chats = [list(chat) for chat in chats]
    single = np.array([pair for chat in of_chats for pair in chat], np.float64).reshape(-1, 2)
    sums = np.array([(*map(sum, zip(*chat, strict=True)), len(chat)) for chat in of_chats if chat], np.float64)
    sums = sums.reshape(-1, 3)
    values = {
        "words_per_chat": sums[:, 0],
        "characters_per_chat": count_letters(sums[:, 1], sums[:, 0], sums[:, 2]),
        "words_per_input": single[:, 0],
        "characters_per_input": count_letters(single[:, 1], single[:, 0], np.ones(len(single))),
    }
    return {name: _box(each) for name, each in values.items()}


def _box(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> dict[str, Any]:
    points = np.percentile(values, [5, 25, 50, 75, 95]).tolist() if values.size else [None] * 5
    return {"n": int(values.size), "mean": or_none(quartiles(values).mean), "percentiles": points}
