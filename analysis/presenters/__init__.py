"""What the templates of the analysis pages show, worked out from a report."""

from analysis.presenters.campaigns import job_shown, live_rows, shown_workers
from analysis.presenters.changes import what_changed
from analysis.presenters.chats import chats
from analysis.presenters.downloads import downloads
from analysis.presenters.frames import (
    crumbs,
    frame,
    progress_words,
    run_words,
    runs_listed,
    runs_named,
    settings_of,
    stats_of,
)
from analysis.presenters.heatmaps import HEAT_VALUES, heatmap
from analysis.presenters.ranking import ranking
from analysis.presenters.workers import WORKER_ORDERS, orders_of, states_of, worker_rows

__all__ = [
    "HEAT_VALUES",
    "WORKER_ORDERS",
    "chats",
    "crumbs",
    "downloads",
    "frame",
    "heatmap",
    "job_shown",
    "live_rows",
    "orders_of",
    "progress_words",
    "ranking",
    "run_words",
    "runs_listed",
    "runs_named",
    "settings_of",
    "shown_workers",
    "states_of",
    "stats_of",
    "what_changed",
    "worker_rows",
]
