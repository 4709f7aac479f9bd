"""What several analysis pages share: the way back, the frame of a run's pages, runs in words."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from analysis.models import AnalysisRun, RatingsFile
from analysis.presenters.changes import settings_changes
from analysis.words import protocol_title, worker_test_name

_TABS = {"run": "Ranking", "significance": "Significance", "workers": "Workers", "downloads": "Downloads"}


def crumbs(ratings_file: RatingsFile | None = None) -> list[dict[str, str]]:
    """Return the way back from a page of a ratings file, or of its runs."""
    way = [{"title": "Analyses", "url": reverse("analysis:ratings")}]
    if ratings_file:
        way.append({"title": ratings_file.title, "url": reverse("analysis:ratings_file", args=[ratings_file.pk])})
    return way


def run_words(run: AnalysisRun) -> str:
    """Return in a few words how a run was analysed, its protocol apart."""
    settings = run.settings
    test, excluded = settings["worker_test"], len(settings["excluded"])
    words = [f"{worker_test_name(test['preset'])}, α = {test['alpha']:g}", f"unit: {settings['unit']}"]
    return ", ".join(words + ([f"{excluded} excluded"] if excluded else []))


def runs_listed(runs: Iterable[AnalysisRun]) -> list[dict[str, Any]]:
    """Return each run with how it was analysed, what it changed of the run that it was made from, and its state."""
    return [
        {
            "run": run,
            "protocol": protocol_title(run.settings["protocol"]),
            "words": run_words(run),
            "changes": settings_changes(run.parent, run) if run.parent else None,
            "state": _state(run),
        }
        for run in runs
    ]


def runs_named(runs: Iterable[AnalysisRun]) -> list[dict[str, Any]]:
    """Return each run with how it was analysed, to choose one."""
    return [{"run": run, "words": run_words(run)} for run in runs]


def _state(run: AnalysisRun) -> str:
    if run.finished_at:
        return "ready"
    return run.job.get_status_display().lower() if run.job else "queued"


def frame(run: AnalysisRun, page: str, newest: AnalysisRun | None) -> dict[str, Any]:
    """Return what all pages of a finished run share; `newest` is the latest run of the same ratings."""
    report = run.report or {}
    summary = report["summary"]
    workers, test = summary["workers"], summary["worker_test"]
    excluded = len(report["settings"]["excluded"])
    return {
        "run": run,
        "protocol": protocol_title(summary["protocol"]),
        "run_words": run_words(run),
        "newest": newest if newest and newest.pk != run.pk else None,
        "crumbs": crumbs(run.ratings_file),
        "tabs": [
            {"title": title, "url": reverse(f"analysis:{name}", args=[run.pk]), "current": name == page}
            for name, title in _TABS.items()
        ],
        "stats": [
            {"label": "Systems", "value": f"{len(summary['systems']):,}"},
            {
                "label": "Workers passed",
                "value": f"{workers['passed']:,}",
                "note": f"of {workers['total']:,}" + (f", {excluded} excluded by hand" if excluded else ""),
            },
            {
                "label": f"Worker test: {worker_test_name(test['preset'])}",
                "value": f"p < {test['alpha']:g}",
                "note": "to pass",
            },
            {
                "label": "Ratings that count",
                "value": f"{sum(row['n'] for row in summary['systems']):,}",
                "note": "averaged by output" if summary["unit"] == "output" else "",
            },
        ],
    }


def settings_of(run: AnalysisRun) -> dict[str, Any]:
    """Return a run's settings as the initial values of ChangeForm."""
    settings = run.settings
    return {
        "worker_test": settings["worker_test"]["preset"],
        "alpha": settings["worker_test"]["alpha"],
        "unit": settings["unit"],
    }
