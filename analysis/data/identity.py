"""Which answers are of the same thing: ids as people write them, and what stands twice."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.data.choices import Choices, Twice
from analysis.data.coding import combined, first_rows
from analysis.stats.codes import dense_ranks
from campaigns.design.composition import Kind
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import CellProblems, Table, TableWarning, TextColumn
from evalsite.lib.tables.errors import listing, shorten
from evalsite.lib.tables.table import text_column
from evalsite.lib.words import listed

Rows = NDArray[np.int64]

_IDS = ("worker", "rater", "assignment", "hit", "source", "seg_id", "document", "doc", "system", "system_a", "system_b")
_ITEMS = {"source", "seg_id", "document", "doc", "position", "page", "turn"}
# Zero-width spaces and joiners, marks of direction and byte order, soft hyphens: nobody sees them.
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_MANY = 3
_ORDINARY = {"", Kind.ORDINARY.name.lower()}


def clean_ids(called: Mapping[str, str], table: Table) -> Table:
    """Return the table with ids in one form: composed (NFC), without what nobody sees, trimmed.

    Leading zeros and capitals stay. Workers that differ by capitals alone are named in a warning.
    """
    text = dict(table.text)
    for own in {called[name] for name in _IDS if name in called}:
        if own in text and not all(map(str.isascii, text[own].labels)):
            clean = [_UNSEEN.sub("", unicodedata.normalize("NFC", label)) for label in text[own].labels]
            text[own] = text_column(text[own].codes, clean)
    warnings = [*table.warnings]
    workers = text.get(called.get("worker", called.get("rater", "")))
    if workers and (alike := _alike(workers.labels)):
        message = f"These differ by capitals alone, and are taken for different workers: {listing(alike[:_MANY])}."
        warnings.append(TableWarning("capitals", message))
    return replace(table, text=text, warnings=warnings)


def _alike(labels: Sequence[str]) -> list[str]:
    """Return the labels that others are equal to but for capitals."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(label.casefold(), []).append(label)
    return [label for group in groups.values() if len(group) > 1 for label in group]


def settle_twice(
    called: Mapping[str, str],
    answers: Collection[str],
    table: Table,
    choices: Choices,
    problems: CellProblems,
    read_others: Callable[[Sequence[str]], Table] | None = None,
) -> Table:
    """Return the table with each answer to an ordinary item once: one rule for files of every kind of response.

    Two rows are of the same answer if all columns of text that were read agree but for those of the roles `answers` and
    of groups that say nothing else; `called` has the column of each role. An exact copy of a row counts once, and is
    counted in a warning; it agrees in what `read_others` reads, too, None where the file has no other columns. Others
    are added to `problems`, unless `choices.twice` says which counts; then the table is returned as it is. Where no
    column says what was judged, nothing stands twice.

    Raises DomainError `bad_twice` for the mean of answers that are no numbers.
    """
    values = {called[name] for name in answers if name in called}
    attributes = {own for own in choices.groups if own in table.text} - set(called.values())
    keys = [own for own in table.text if own not in values | attributes]
    if not _ITEMS & called.keys() or not values:
        return table
    key, n = dense_ranks(*combined([_part(table, own) for own in keys]))
    if n == key.size:
        return table
    earlier = first_rows(key, n)[key]
    # Repeats and degraded items are given again by design: whether they agree is another question.
    again = _ordinary(called, table)
    copies = np.intersect1d(_copies(key, n, table, values | attributes, read_others), again)
    later = np.intersect1d(np.flatnonzero(earlier != np.arange(key.size)), again)
    table_left, left, dropped = table, np.setdiff1d(later, copies), copies
    if not later.size:
        return table
    if left.size and not choices.twice:
        same = listed([name for name in called if called[name] in keys])
        problems.add(
            left,
            next(iter(values)),
            "twice",
            lambda row, other: (
                f"row {other} has the same {same} and another answer. Delete one of the two, or say which counts, the "
                "first, the last or their mean: “Answers that stand twice” on the page, --twice on the command line."
            ),
            earlier[left],
        )
        return table
    if left.size:
        is_left = np.isin(np.arange(key.size), np.setdiff1d(again, copies))
        table_left, more = _settled(table, values, key, n, is_left, choices.twice)
        dropped = np.union1d(copies, more)
    warnings = [*table_left.warnings]
    if copies.size:
        message = f"Exact copies of another row, which count once: {copies.size:,}."
        warnings.append(TableWarning("copies", message))
    if left.size:
        message = f"Answers that stood twice, of which the {choices.twice} counts: {left.size:,}."
        warnings.append(TableWarning("twice", message))
    kept = np.setdiff1d(np.arange(key.size), dropped)
    return replace(table_left, warnings=warnings).take(kept)


def _ordinary(called: Mapping[str, str], table: Table) -> Rows:
    """Return the rows of items that are no copies of others, for quality control."""
    if "kind" not in called or called["kind"] not in table.text:
        return np.arange(table.n_rows)
    kind = table.text[called["kind"]]
    is_ordinary = np.array([label.casefold() in _ORDINARY for label in kind.labels], bool)
    return np.flatnonzero(is_ordinary[kind.codes])


def _part(table: Table, own: str) -> tuple[NDArray[np.integer], int]:
    if own in table.text:
        return table.text[own].codes, len(table.text[own].labels)
    labels, codes = np.unique(table.numbers[own], return_inverse=True)
    return codes, labels.size


def _copies(
    key: Rows, n: int, table: Table, values: Collection[str], read_others: Callable[[Sequence[str]], Table] | None
) -> Rows:
    """Return the rows that are exact copies of an earlier one."""
    parts = [(key, n), *(_part(table, own) for own in values)]
    whole, n_whole = dense_ranks(*combined(parts))
    if n_whole < whole.size and read_others:
        others = [name for name in table.columns if name and name not in table.text and name not in table.numbers]
        if others:
            more = read_others(others)
            whole, n_whole = dense_ranks(*combined([(whole, n_whole), *(_part(more, own) for own in others)]))
    return np.flatnonzero(first_rows(whole, n_whole)[whole] != np.arange(whole.size))


def _settled(
    table: Table, values: Collection[str], key: Rows, n: int, is_left: NDArray[np.bool_], twice: str
) -> tuple[Table, Rows]:
    """Return the table with the answers that count, and the rows that go."""
    rows = np.flatnonzero(is_left)
    if twice == Twice.LAST:
        last = np.full(n, -1)
        last[key[rows]] = rows
        return table, np.setdiff1d(rows, last)
    first = np.full(n, -1)
    first[key[rows[::-1]]] = rows[::-1]
    if twice == Twice.MEAN:
        table = _with_means(table, values, key, n, rows)
    return table, np.setdiff1d(rows, first)


def _with_means(table: Table, values: Collection[str], key: Rows, n: int, rows: Rows) -> Table:
    """Return the table in which each of `rows` has the mean of the answers of its key among them."""
    numbers, text = dict(table.numbers), dict(table.text)
    n_answers = np.bincount(key[rows], minlength=n)
    for own in values:
        given = numbers[own].copy() if own in numbers else _as_numbers(text[own], own)
        given[rows] = np.bincount(key[rows], given[rows], minlength=n)[key[rows]] / n_answers[key[rows]]
        if own in numbers:
            numbers[own] = given
        else:
            labels, codes = np.unique(given, return_inverse=True)
            text[own] = TextColumn(codes.astype(np.int32), [f"{label:.17g}" for label in labels])
    return replace(table, numbers=numbers, text=text)


def _as_numbers(column: TextColumn, name: str) -> NDArray[np.float64]:
    try:
        return np.array([float(label) for label in column.labels])[column.codes]
    except ValueError:
        message = f"The answers in “{shorten(name)}” are no numbers and have no mean. Choose the first or the last."
        raise DomainError("bad_twice", message) from None
