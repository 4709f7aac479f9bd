"""The worker table."""

from collections.abc import Iterable
from typing import Any

from analysis.templatetags.results import number, p_value, signed
from analysis.words import verdicts_of
from campaigns.design.worker_test import NO_TEST

EXCLUDED = "excluded"
WORKER_ORDERS = {
    "p": "p, most careful first",
    "-p": "p, least careful first",
    "-n_ratings": "most ratings",
    "sd": "least spread",
    "worker": "name",
}
_BAR_WIDTH, _BAR_HEIGHT = 8, 28


def states_of(preset: str) -> dict[str, str]:
    """Return what a worker of a run with this worker test may be, in words."""
    return {**verdicts_of(preset), EXCLUDED: EXCLUDED}


def orders_of(preset: str) -> dict[str, str]:
    """Return the orders of the worker table; without a worker test there is no p."""
    return {key: words for key, words in WORKER_ORDERS.items() if preset != NO_TEST or key.lstrip("-") != "p"}


def worker_rows(report: dict[str, Any], *, state: str, order: str, search: str) -> list[dict[str, Any]]:
    """Return the rows of the worker table that match, in the order asked for; missing values last."""
    wanted = search.casefold()
    rows = [
        row
        for row in report["worker_table"]
        if (not state or _state(row) == state) and wanted in row["worker"].casefold()
    ]
    key = order.lstrip("-")
    known = sorted(
        (row for row in rows if row[key] is not None), key=lambda row: row[key], reverse=order.startswith("-")
    )
    return known + [row for row in rows if row[key] is None]


def _state(row: dict[str, Any]) -> str:
    return EXCLUDED if row["excluded"] is not None else row["verdict"]


def workers_shown(rows: Iterable[dict[str, Any]], refused: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return rows as the page shows them; `refused` is what was sent to exclude a worker: worker, reason, error."""
    return [
        row
        | {
            "p_text": p_value(row["p"]),
            "mean_text": number(row["mean"], 1),
            "sd_text": number(row["sd"], 1),
            "reference_text": number(row.get("reference_mean"), 1),
            "distance_text": signed(row.get("reference_distance"), 1),
            "bars": bars(row["histogram"]),
            "counts": ", ".join(map(str, row["histogram"])),
            "refused": refused if refused and refused["worker"] == row["worker"] else None,
        }
        for row in rows
    ]


def bars(counts: list[int]) -> list[dict[str, Any]]:
    """Return a small histogram of scores as components/histogram.html draws it."""
    top = max(counts, default=0) or 1
    width = 100 // max(len(counts), 1)
    return [
        {
            "x": k * _BAR_WIDTH,
            "y": round(_BAR_HEIGHT * (1 - count / top), 1),
            "width": _BAR_WIDTH - 1,
            "height": round(_BAR_HEIGHT * count / top, 1),
            "title": f"{k * width}–{(k + 1) * width}: {count}",
        }
        for k, count in enumerate(counts)
    ]
