"""Heatmaps of the tests between systems."""

from typing import Any

from analysis.presenters.changes import ALPHA
from analysis.templatetags.results import p_value

HEAT_STEPS = (0.1, 0.05, 0.01, 0.001, 0.0001)
SUPERIORITY_STEPS = (0.5, 0.55, 0.6, 0.65, 0.7)
HEAT_VALUES = {
    "p": "p",
    "holm": "p, corrected by Holm",
    "bh": "p, corrected by Benjamini–Hochberg",
    "superiority": "effect size P(row > column)",
}
_CAPTIONS = {
    "p": "One-sided p of the rank-sum test that the row's system beats the column's",
    "holm": "One-sided p that the row's system beats the column's, corrected by Holm for all ordered pairs",
    "bh": "One-sided p that the row's system beats the column's, corrected by Benjamini–Hochberg for all ordered pairs",
    "superiority": "Probability that a score of the row's system exceeds one of the column's, ties counted half",
}


def heatmap(report: dict[str, Any], criterion: str, value: str) -> dict[str, Any]:
    """Return a heatmap as components/heatmap.html shows it, and how many pairs of systems differ.

    `n_pairs` counts the pairs that could be tested; 0 means that there is nothing to show.
    """
    comparison = next(c for c in report["comparisons"] if c["name"] == criterion)
    cells = comparison[value]
    is_p = value != "superiority"
    rows = [
        {
            "name": name,
            "cells": [{"text": "", "heat": None} if i == j else _cell(cell, is_p) for j, cell in enumerate(row)],
        }
        for i, (name, row) in enumerate(zip(comparison["order"], cells, strict=True))
    ]
    pairs = [(row[j], cells[j][i]) for i, row in enumerate(cells) for j in range(i) if row[j] is not None]
    return {
        "caption": f"{_CAPTIONS[value]}: {criterion}",
        "systems": comparison["order"],
        "rows": rows,
        "legend": None if is_p else _superiority_legend(),
        "n_pairs": len(pairs),
        "n_differing": sum(min(pair) < ALPHA for pair in pairs) if is_p else None,
    }


def _cell(value: float | None, is_p: bool) -> dict[str, Any]:
    if value is None:
        return {"text": "–", "heat": 0}
    if is_p:
        return {"text": p_value(value), "heat": heat_of_p(value)}
    return {"text": f"{value:.3f}".lstrip("0") if value < 1 else "1", "heat": heat_of_superiority(value)}


def _superiority_legend() -> list[dict[str, Any]]:
    steps = [{"heat": k, "text": f"> {bound:g}"} for k, bound in enumerate(SUPERIORITY_STEPS, start=1)]
    return [{"heat": 0, "text": "≤ 0.5"}, *steps]


def heat_of_p(p: float) -> int:
    """Return the colour step of a p-value: 0 from 0.1 on, 5 below 0.0001."""
    return sum(p < step for step in HEAT_STEPS)


def heat_of_superiority(share: float) -> int:
    """Return the colour step of an effect size: 0 up to one half."""
    return sum(share > step for step in SUPERIORITY_STEPS)
