"""Sections of answers chosen from options."""

from collections.abc import Sequence
from typing import NamedTuple

from analysis.methods.by_groups import groups_sections
from analysis.methods.clusters import in_words
from analysis.methods.system_scores import draw_stacked, pairs_section, systems_section
from analysis.results.result import Result
from analysis.results.sections import Cell, Column, Figure, Output, Picture, Section, Table
from analysis.results.stored import Report
from analysis.results.words import CORRECTED
from analysis.stats.procedures import ALPHA
from campaigns.contracts.result_pages import PAIRS

_MOST_WORKERS_SHOWN = 60


class _Part(NamedTuple):
    """What a report says of one criterion; "" is the name of the only one that there is."""

    name: str
    options: Sequence[str]
    found: Report


def sections_of_choices(result: Result) -> list[Section]:
    """Return the sections of a result of choices, on one criterion or on several."""
    criteria, parts = result.own.get("criteria"), [_Part("", result.own_summary["options"], result.own)]
    if criteria:
        parts = [_Part(each["criterion"], each["options"], each) for each in criteria]
    scored = [
        systems_section(result, score="share", n="answers", caption=_caption(result), decimals=3),
        pairs_section(result, caption="Differences of shares, the better system first.", decimals=3),
        *groups_sections(result, score="share", decimals=3),
        *([_criteria_section(criteria)] if criteria else []),
    ]
    return [
        *(scored if result.scored else []),
        _shares_section(parts),
        _paired_section(parts),
        _seconds_section(parts),
        _labels_section(parts),
    ]


def _caption(result: Result) -> str:
    """Return of what the score is the share, or the mean over which criteria."""
    clusters = f"Errors are clustered by {in_words(result.summary.n_clusters)}."
    if not (criteria := result.own.get("criteria")):
        return f"Score: share of answers that are good ({_good_in_words(result.own_summary['good'])}). {clusters}"
    counting = [each for each in criteria if each["is_scored"]]
    which = "; ".join(f"{each['criterion']}, {_good_in_words(each['good'])}" for each in counting)
    others = [each["criterion"] for each in criteria if not each["is_scored"]]
    left_out = f" Not in the score, without good options: {', '.join(others)}." if others else ""
    what = f"mean over {len(counting)} criteria of the share" if len(counting) > 1 else "share"
    return f"Score: {what} of answers that are good ({which}).{left_out} {clusters}"


def _good_in_words(good: Sequence[str] | None) -> str:
    return f"good: {', '.join(good)}" if good else "good: as the column of correct answers says"


def _table(
    parts: Sequence[_Part],
    about: tuple[str, str, str],
    columns: Sequence[Column],
    rows: Sequence[Sequence[Sequence[Cell]]],
    output: Output = Output.EVERYWHERE,
) -> Table:
    """Return a table of the rows of each part, with the name of the criterion before them if there are several.

    `about`: the table's name, title and caption.
    """
    if not parts[0].name:
        return Table(*about, columns, rows[0], output=output)
    cells = [[part.name, *row] for part, own in zip(parts, rows, strict=True) for row in own]
    return Table(*about, [Column("criterion"), *columns], cells, output=output, row_name=1)


def _criteria_section(criteria: Sequence[Report]) -> Section:
    """Return the scores on each of the criteria that count."""
    cells: list[list[Cell]] = [
        [each["criterion"], row["system"], row["score"], *row["interval"], row["n"]]
        for each in criteria
        if each["is_scored"]
        for row in each["systems"]
    ]
    columns = [Column("criterion"), Column("system"), Column("share", 3), Column("low", 3), Column("high", 3)]
    columns.append(Column("answers"))
    caption = "Share of good answers on each criterion that counts for the score, with 95 % intervals."
    table = Table("criteria", "Criteria", caption, columns, cells, row_name=1)
    return Section("criteria", "Criteria", tables=[table])


def _shares_section(parts: Sequence[_Part]) -> Section:
    """Return how often each option was chosen, with exact intervals."""
    columns = [Column("system"), Column("option"), Column("count"), Column("n"), Column("share", 3)]
    columns += [Column("low", 3), Column("high", 3)]
    caption = (
        "How often each option was chosen; exact 95 % intervals (Clopper–Pearson), as if answers were independent."
    )
    chances = [part.found["chance"] for part in parts]
    has_chance = any(chance is not None for chance in chances)
    has_several = bool(parts[0].name)
    if has_chance:
        columns += [*([Column("chance", 3)] if has_several else []), Column("p", 4, is_p=True)]
        what = "as in the column chance" if has_several else f"{chances[0]:.3g}"
        caption += f" p: exact two-sided binomial test that the share is {what}."
    rows: list[list[list[Cell]]] = [
        [
            [
                *(row["system"], row["option"], row["count"], row["n"], row["share"], *row["interval"]),
                *([part.found["chance"]] if has_chance and has_several else []),
                *([row["p"]] if has_chance else []),
            ]
            for row in part.found["shares"]
        ]
        for part in parts
    ]
    table = _table(parts, ("shares", "Answers", caption), columns, rows)
    figures = [figure for part in parts if (figure := _shares_figure(part))]
    return Section("shares", "Answers", tables=[table], figures=figures)


def _shares_figure(part: _Part) -> Figure | None:
    """Return the shares of options as stacked bars; None where answers may have several."""
    rows = part.found["shares"]
    names = list(dict.fromkeys(row["system"] for row in rows))
    shares = [
        (option, [100 * (row["share"] or 0) for row in rows if row["option"] == option]) for option in part.options
    ]
    if not all(abs(sum(share[k] for _, share in shares) - 100) < 1e-6 for k in range(len(names))):
        return None
    return Figure(
        f"shares-{part.name}" if part.name else "shares",
        f"Answers: {part.name}" if part.name else "Answers",
        Picture.of(draw_stacked, names, shares, "answers, %"),
        "Stacked bars: the share of each option; the table has the numbers.",
    )


def _paired_section(parts: Sequence[_Part]) -> Section:
    """Return McNemar's tests."""
    found = [row for part in parts for row in part.found.get("paired", [])]
    if not found:
        return Section("paired", "Paired answers", page=PAIRS)
    rows: list[list[list[Cell]]] = [
        [[*row["systems"], row["n"], *row["only"], row["p"], row["p_holm"]] for row in part.found.get("paired", [])]
        for part in parts
    ]
    columns = [Column("system"), Column("other"), Column("n"), Column("only first"), Column("only other")]
    columns += [Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    n_differing = sum(row["p_holm"] is not None and row["p_holm"] < ALPHA for row in found)
    on_each = " on each criterion" if parts[0].name else ""
    caption = (
        "McNemar’s test, exact and two-sided, over answers of one worker about one source to both systems: how often "
        "only one of the two is good. It takes these pairs to be independent of each other."
    )
    caption += " Holm’s correction is over the pairs of systems of a criterion." if on_each else ""
    corrected = f"{CORRECTED}{on_each}"
    finding = f"{n_differing} of {len(found)} pairs differ in paired answers ({corrected})."
    table = _table(parts, ("paired", "Paired answers", caption), columns, rows)
    return Section("paired", "Paired answers", finding, [table], page=PAIRS)


def _seconds_section(parts: Sequence[_Part]) -> Section:
    rows: list[list[list[Cell]]] = [
        [[name, *values] for name, values in (part.found["seconds"] or {}).items()] for part in parts
    ]
    columns = [Column("system"), Column("median", 1), Column("mean", 1)]
    table = _table(parts, ("seconds", "Response times", "Seconds of an answer."), columns, rows)
    return Section("seconds", "Response times", tables=[table] if any(rows) else [])


def _labels_section(parts: Sequence[_Part]) -> Section:
    """Return how far the three ways to label items agree, and what they say of workers."""
    parts = [part for part in parts if part.found.get("labels")]
    if not parts:
        return Section("labels", "Labels of items")
    found: list[Report] = [part.found["labels"] for part in parts]
    n, n_open = (sum(each[name] for each in found) for name in ("n_items", "n_without_majority"))
    about = (
        f"Share of items with the same label, of the {n - n_open:,} of {n:,} that have a majority. Labels: labels.csv."
    )
    how = "Dawid–Skene: probability of a right answer. MACE: probability of knowing the answer, rather than guessing."
    agreeing: list[list[list[Cell]]] = [
        [[*row["methods"], row["share"]] for row in each["agreement"]] for each in found
    ]
    workers: list[list[list[Cell]]] = [
        [[row["worker"], row["n"], row["dawid_skene"], row["mace"]] for row in each["workers"]] for each in found
    ]
    is_shown = sum(map(len, workers)) <= _MOST_WORKERS_SHOWN
    output = Output.FILES | (Output.PAGE if is_shown else Output(0))
    of_labels = [Column("labels by"), Column("and by"), Column("same", 3)]
    of_workers = [Column("worker", is_worker=True), Column("answers"), Column("Dawid–Skene", 3), Column("MACE", 3)]
    tables = [
        _table(parts, ("labels", "Labels of items", about), of_labels, agreeing),
        _table(parts, ("abilities", "Workers by labels", how), of_workers, workers, output),
    ]
    return Section("labels", "Labels of items", tables=tables)
