"""The tables of a report, and how they look as text, CSV and LaTeX."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.stats.quality import NO_TEST
from evalsite.lib.tables.writing import write_csv

Cell = str | int | float | None
N_COUNTS = {"outputs": "rated outputs, repeats included", "ratings": "ratings, one a criterion"}
"""What n of a system counts, in words."""
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "α": r"$\alpha$",
    }
)


@dataclass(frozen=True)
class Table:
    """A table: its file name, caption, header, rows, decimals per column, and the rows under which a rule runs."""

    name: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    decimals: Sequence[int] = ()
    rules: frozenset[int] = field(default_factory=frozenset)

    def to_csv(self) -> str:
        """Return the table as CSV, numbers in full precision."""
        stream = io.StringIO(newline="")
        write_csv(stream, self.header, self.rows)
        return stream.getvalue()

    def to_text(self) -> str:
        """Return the table in aligned columns, with a line under each cluster."""
        cells = [list(self.header)] + [self._formatted(row, missing="–") for row in self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.header))]
        is_text = [all(isinstance(row[k], str) for row in self.rows) for k in range(len(self.header))]

        def line(row: list[str]) -> str:
            return "  ".join(
                cell.ljust(width) if left else cell.rjust(width)
                for cell, width, left in zip(row, widths, is_text, strict=True)
            ).rstrip()

        rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
        lines = [line(cells[0]), rule]
        for k, row in enumerate(cells[1:]):
            lines.append(line(row))
            if k in self.rules and k + 1 < len(self.rows):
                lines.append(rule)
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """Return the table as a LaTeX table for the booktabs package."""
        columns = "".join(
            "l" if all(isinstance(row[k], str) for row in self.rows) else "r" for k in range(len(self.header))
        )
        lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(_escape(cell) for cell in self.header) + r" \\", r"\midrule"]
        for k, row in enumerate(self.rows):
            lines.append(" & ".join(_escape(cell) for cell in self._formatted(row, missing="--")) + r" \\")
            if k in self.rules and k + 1 < len(self.rows):
                lines.append(r"\midrule")
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{_escape(self.caption)}}}"]
        lines += [rf"\label{{tab:{_label(self.name)}}}", r"\end{table}"]
        return "\n".join(lines) + "\n"

    def _formatted(self, row: Sequence[Cell], missing: str) -> list[str]:
        decimals = self.decimals or [3] * len(row)
        return [
            missing if cell is None else f"{cell:.{places}f}" if isinstance(cell, float) else str(cell)
            for cell, places in zip(row, decimals, strict=True)
        ]


def _label(name: str) -> str:
    """Return a name that a LaTeX label may hold."""
    return "".join(c if c.isascii() and (c.isalnum() or c == "-") else "-" for c in name)


def _escape(text: str) -> str:
    """Return text that LaTeX prints as it is; a number's hyphen becomes a minus."""
    if text.startswith("-") and text[1:].replace(".", "", 1).isdigit():
        return f"${text}$"
    return text.translate(_LATEX)


def systems_table(report: dict[str, Any]) -> Table:
    """Return the ranked table of z: counts, overall with its 95 % interval and raw mean, each of several criteria."""
    summary = report["summary"]
    criteria = _shown_criteria(report)
    header = ["system", "n", "outputs", "ratings", "z", "low", "high", "raw", *criteria]
    rows = [
        [row["system"], *_counts(row), row["z"], *report["intervals"][row["system"]], row["raw"]]
        + [row["criteria"][name]["z"] for name in criteria]
        for row in summary["systems"]
    ]
    test = summary["worker_test"]
    kept = f"Workers kept by {test['preset']} at α = {test['alpha']:g}"
    if test["preset"] == NO_TEST:
        kept = "No worker test was applied: every worker counts"
    caption = (
        f"Systems by mean z. {kept}; a rule stands under a system that beats every system below it (p < 0.05); low and "
        f"high bound a 95 % bootstrap interval. n counts {N_COUNTS[summary['n_counts']]}."
    )
    return Table("systems", caption, header, rows, [0, 0, 0, 0, 3, 3, 3, 2] + [3] * len(criteria), _rules(summary))


def raw_table(report: dict[str, Any]) -> Table:
    """Return the same ranking with raw means, negative criteria reversed: counts, overall, each of several criteria."""
    criteria = _shown_criteria(report)
    rows = [
        [row["system"], *_counts(row), row["raw"]] + [row["criteria"][name]["raw"] for name in criteria]
        for row in report["summary"]["systems"]
    ]
    caption = "Raw means, 0–100, of the same systems; negative criteria are reversed."
    header = ["system", "n", "outputs", "ratings", "raw", *criteria]
    return Table("systems-raw", caption, header, rows, [0] * 4 + [2] * (1 + len(criteria)), _rules(report["summary"]))


def _counts(row: dict[str, Any]) -> list[int]:
    """Return n of a system, and both counts that it may be."""
    return [row["n"], row["n_outputs"], row["n_ratings"]]


def _shown_criteria(report: dict[str, Any]) -> list[str]:
    """Return the criteria that say more than the overall score: none of a single one."""
    names = [criterion["name"] for criterion in report["settings"]["criteria"]]
    return names if len(names) > 1 else []


def _rules(summary: dict[str, Any]) -> frozenset[int]:
    ends, last = set(), -1
    for group in summary["clusters"]:
        last += len(group)
        ends.add(last)
    return frozenset(ends)


def significance_tables(report: dict[str, Any]) -> list[Table]:
    """Return a table of one-sided p-values (row beats column), overall and per criterion."""
    return [
        Table(
            f"significance-{comparison['name']}",
            f"One-sided rank-sum p, row beats column: {comparison['name']}.",
            ["system", *comparison["order"]],
            [[name, *row] for name, row in zip(comparison["order"], comparison["p"], strict=True)],
            [0] + [4] * len(comparison["order"]),
        )
        for comparison in report["comparisons"]
    ]


def pairs_table(report: dict[str, Any]) -> Table:
    """Return every tested pair with p, its corrections and the effect size, one a row."""
    rows: list[list[Cell]] = [
        [
            comparison["name"],
            first,
            second,
            *(comparison[key][i][j] for key in ("p", "holm", "bh", "superiority")),
        ]
        for comparison in report["comparisons"]
        for i, first in enumerate(comparison["order"])
        for j, second in enumerate(comparison["order"])
        if i != j
    ]
    header = ["criterion", "row", "column", "p", "p Holm", "p BH", "P(row > column)"]
    caption = "One-sided rank-sum tests that row beats column, with Holm's and Benjamini–Hochberg's corrections."
    return Table("pairs", caption, header, rows, [0, 0, 0, 4, 4, 4, 3])


def workers_table(report: dict[str, Any]) -> Table:
    """Return the workers: p, verdict and what it rests on."""
    references = report["summary"].get("references")
    header = ["worker", "verdict", "p", "assignments", "ratings", "compared", "mean", "sd"]
    header += ["reference mean", "reference distance", "excluded"] if references else ["excluded"]
    rows = [
        [
            row["worker"],
            row["verdict"],
            row["p"],
            row["n_assignments"],
            row["n_ratings"],
            row["n_compared"],
            row["mean"],
            row["sd"],
            *([row["reference_mean"], row["reference_distance"]] if references else []),
            row["excluded"] or "",
        ]
        for row in report["worker_table"]
    ]
    caption = "Workers and the worker test."
    if report["summary"]["worker_test"]["preset"] == NO_TEST:
        caption = "Workers. No worker test was applied: every worker counts."
    if references and references["mean"] is not None:
        caption += f" Reference items of workers who count: mean {references['mean']:.1f}"
        caption += "." if references["distance"] is None else f", {references['distance']:+.1f} to ordinary items."
    return Table("workers", caption, header, rows, [0, 0, 4, 0, 0, 0] + [1] * (len(header) - 7) + [0])


def replication_table(replication: dict[str, Any]) -> Table:
    """Return the correlations of two runs' system scores, overall and per criterion."""
    rows = [["overall", *replication["overall"].values()]]
    rows += [[name, *values.values()] for name, values in replication["criteria"].items()]
    shares = ", ".join(
        f"{share:.0%} at p < {alpha}" for alpha, share in replication["same_conclusions"].items() if share is not None
    )
    caption = f"Agreement of two runs over {len(replication['systems'])} systems; same conclusions: {shares or 'none'}."
    return Table("replication", caption, ["criterion", "r", "rho", "tau"], rows, [0, 3, 3, 3])
