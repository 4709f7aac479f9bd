"""The worker table."""

from typing import Any

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
