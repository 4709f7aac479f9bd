"""Sections of answers chosen from options."""

from functools import partial

from analysis.response_methods import Report
from analysis.response_methods.clusters import in_words
from analysis.response_methods.system_scores import ALPHA, draw_stacked, pairs_section, systems_section
from analysis.response_methods.worker_agreement import agreement_section
from analysis.sections import Cell, Column, Figure, Output, Section, Table

_MOST_WORKERS_SHOWN = 60


_AGREEMENT = (
    "Answers to the same output, the same if they choose exactly the same options; of two answers, in the mean over "
    "outputs. κ and α take each different answer as a category; 0 is chance. Repeats are no answers here."
)


def sections_of_choices(report: Report) -> list[Section]:
    """Return the sections of a report of choices."""
    summary = report["summary"]
    good = summary["good"]
    which = f"good: {', '.join(good)}" if good else "good: as the column of correct answers says"
    caption = (
        f"Score: share of answers that are good ({which}). Errors are clustered by {in_words(summary['clusters'])}."
    )
    has_score = any(row["score"] is not None for row in summary["systems"])
    scored = [
        systems_section(report, score="share", n="answers", caption=caption, decimals=3),
        pairs_section(report, caption="Differences of shares, the better system first.", decimals=3),
    ]
    return [
        *(scored if has_score else []),
        _shares_section(report),
        _paired_section(report.get("paired", [])),
        _seconds_section(report["seconds"]),
        agreement_section({"": report.get("agreement")}, noun="output", caption=_AGREEMENT),
        _labels_section(report.get("labels")),
    ]


def _shares_section(report: Report) -> Section:
    """Return how often each option was chosen, with exact intervals."""
    rows, chance, options = report["shares"], report["chance"], report["summary"]["options"]
    cells: list[list[Cell]] = [
        [row["system"], row["option"], row["count"], row["n"], row["share"], *row["interval"], row["p"]] for row in rows
    ]
    columns = [Column("system"), Column("option"), Column("count"), Column("n"), Column("share", 3)]
    columns += [Column("low", 3), Column("high", 3), Column("p", 4, is_p=True)]
    caption = (
        "How often each option was chosen; exact 95 % intervals (Clopper–Pearson), as if answers were independent."
    )
    if chance is None:
        columns, cells = columns[:-1], [row[:-1] for row in cells]
    else:
        caption += f" p: exact two-sided binomial test that the share is {chance:.3g}."
    names = list(dict.fromkeys(row["system"] for row in rows))
    parts = {option: [100 * (row["share"] or 0) for row in rows if row["option"] == option] for option in options}
    figure = Figure(
        "shares",
        "Answers",
        partial(draw_stacked, names, parts, "answers, %"),
        "Stacked bars: the share of each option; the table has the numbers.",
    )
    is_single = all(abs(sum(part[k] for part in parts.values()) - 100) < 1e-6 for k in range(len(names)))
    table = Table("shares", "Answers", caption, columns, cells)
    return Section("shares", "Answers", tables=[table], figures=[figure] if is_single else [])


def _paired_section(rows: list[Report]) -> Section:
    """Return McNemar's tests."""
    if not rows:
        return Section("paired", "Paired answers")
    cells: list[list[Cell]] = [[*row["systems"], row["n"], *row["only"], row["p"], row["p_holm"]] for row in rows]
    columns = [Column("system"), Column("other"), Column("n"), Column("only first"), Column("only other")]
    columns += [Column("p", 4, is_p=True), Column("p (Holm)", 4, is_p=True)]
    n_differing = sum(row["p_holm"] is not None and row["p_holm"] < ALPHA for row in rows)
    caption = (
        "McNemar’s test, exact and two-sided, over answers of one worker about one source to both systems: how often "
        "only one of the two is good. It takes these pairs to be independent of each other."
    )
    finding = f"{n_differing} of {len(rows)} pairs differ in paired answers (p < {ALPHA:g} after Holm’s correction)."
    return Section("paired", "Paired answers", finding, [Table("paired", "Paired answers", caption, columns, cells)])


def _seconds_section(seconds: Report | None) -> Section:
    rows: list[list[Cell]] = [[name, *values] for name, values in (seconds or {}).items()]
    columns = [Column("system"), Column("median", 1), Column("mean", 1)]
    table = Table("seconds", "Response times", "Seconds of an answer.", columns, rows)
    return Section("seconds", "Response times", tables=[table] if rows else [])


def _labels_section(labels: Report | None) -> Section:
    """Return how far the three ways to label items agree, and what they say of workers."""
    if labels is None:
        return Section("labels", "Labels of items")
    rows: list[list[Cell]] = [[*row["methods"], row["share"]] for row in labels["agreement"]]
    workers: list[list[Cell]] = [
        [row["worker"], row["n"], row["dawid_skene"], row["mace"]] for row in labels["workers"]
    ]
    n, n_open = labels["n_items"], labels["n_without_majority"]
    about = (
        f"Share of items with the same label, of the {n - n_open:,} of {n:,} that have a majority. Labels: labels.csv."
    )
    how = "Dawid–Skene: probability of a right answer. MACE: probability of knowing the answer, rather than guessing."
    output = Output.FILES | (Output.PAGE if len(workers) <= _MOST_WORKERS_SHOWN else Output(0))
    columns = [Column("worker"), Column("answers"), Column("Dawid–Skene", 3), Column("MACE", 3)]
    tables = [
        Table("labels", "Labels of items", about, [Column("labels by"), Column("and by"), Column("same", 3)], rows),
        Table("abilities", "Workers by labels", how, columns, workers, output=output),
    ]
    return Section("labels", "Labels of items", tables=tables)
