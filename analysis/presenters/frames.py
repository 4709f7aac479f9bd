"""What several analysis pages share: the way back, the frame of a run's pages, runs in words."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse

from analysis.anonymity import anonymous_settings
from analysis.campaign_queries import RatingProgress
from analysis.methods.dialogue import has_chats
from analysis.models import AnalysisRun, RatingsFile
from analysis.presenters.changes import settings_changes
from analysis.ratings.scales import FULL
from analysis.ratings.scales import words as scale_words
from analysis.templatetags.results import number, signed
from analysis.words import protocol_title, worker_test_name
from campaigns.design.worker_test import NO_TEST

_TABS = {
    "run": "Ranking",
    "significance": "Significance",
    "workers": "Workers",
    "chats": "Chats",
    "downloads": "Downloads",
}


def crumbs(ratings_file: RatingsFile | None = None) -> list[dict[str, str]]:
    """Return the way back from a page of a ratings file, or of its runs: through its campaign if it has one."""
    if ratings_file and ratings_file.campaign:
        campaign, title = ratings_file.campaign, assignments_words(ratings_file)
        return [
            {"title": "Campaigns", "url": reverse("campaigns:list")},
            {"title": campaign.name, "url": reverse("campaigns:campaign", args=[campaign.public_id])},
            {"title": "Results", "url": reverse("analysis:campaign_results", args=[campaign.public_id])},
            {"title": title.capitalize(), "url": reverse("analysis:ratings_file", args=[ratings_file.pk])},
        ]
    way = [{"title": "Analyses", "url": reverse("analysis:ratings")}]
    if ratings_file:
        way.append({"title": ratings_file.title, "url": reverse("analysis:ratings_file", args=[ratings_file.pk])})
    return way


def assignments_words(snapshot: RatingsFile) -> str:
    """Return what a campaign's snapshot holds."""
    return f"ratings of {snapshot.n_assignments:,} assignment{'' if snapshot.n_assignments == 1 else 's'}"


def progress_words(progress: RatingProgress, snapshot: RatingsFile) -> dict[str, Any]:
    """Return how much of its campaign a snapshot holds, and whether more will come."""
    is_interim = progress.is_interim(snapshot)
    return {
        "is_interim": is_interim,
        "label": "interim" if is_interim else "final",
        "words": f"{snapshot.n_assignments:,} of {progress.n_wanted:,} assignments",
    }


def run_words(run: AnalysisRun) -> str:
    """Return in a few words how a run was analysed, its protocol apart."""
    settings = run.settings
    test, excluded = settings["worker_test"], len(settings["excluded"])
    name = worker_test_name(test["preset"])
    words = [name if test["preset"] == NO_TEST else f"{name}, α = {test['alpha']:g}", f"unit: {settings['unit']}"]
    scale = settings.get("scale") or FULL
    words += [f"scores from {scale_words(scale)}"] if list(scale) != list(FULL) else []
    return ", ".join(words + ([f"{excluded} excluded"] if excluded else []))


def runs_listed(runs: Iterable[AnalysisRun], *, with_names: bool = True) -> list[dict[str, Any]]:
    """Return each run with how it was analysed, what it changed of the run that it was made from, and its state.

    Without names, excluded workers are hashes.
    """
    rows = list(runs)
    for run in [] if with_names else [each for row in rows for each in (row, row.parent) if each]:
        run.settings = anonymous_settings(run.settings)
    return [
        {
            "run": run,
            "protocol": protocol_title(run.settings["protocol"]),
            "words": run_words(run),
            "changes": settings_changes(run.parent, run) if run.parent else None,
            "state": _state(run),
        }
        for run in rows
    ]


def runs_named(runs: Iterable[AnalysisRun]) -> list[dict[str, Any]]:
    """Return each run with how it was analysed, to choose one."""
    return [{"run": run, "words": run_words(run)} for run in runs]


def _state(run: AnalysisRun) -> str:
    if run.finished_at:
        return "ready"
    return run.job.get_status_display().lower() if run.job else "queued"


def frame(
    run: AnalysisRun, page: str, newest: AnalysisRun | None, progress: RatingProgress | None = None
) -> dict[str, Any]:
    """Return what all pages of a finished run share.

    `newest` is the latest run of the same ratings or campaign; `progress` is the campaign's.
    """
    summary = (run.report or {})["summary"]
    return {
        "run": run,
        "protocol": protocol_title(summary["protocol"]),
        "run_words": run_words(run),
        "newest": newest if newest and newest.pk != run.pk else None,
        "progress": progress_words(progress, run.ratings_file) if progress else None,
        "can_change": run.my_role != "viewer",
        "crumbs": crumbs(run.ratings_file),
        "tabs": [
            {"title": title, "url": reverse(f"analysis:{name}", args=[run.pk]), "current": name == page}
            for name, title in _TABS.items()
            if name != "chats" or has_chats(run.report or {})
        ],
        "stats": stats_of(run),
    }


def stats_of(run: AnalysisRun) -> list[dict[str, str]]:
    """Return the numbers that matter of a finished run, as components/stats.html shows them."""
    report = run.report or {}
    summary, excluded = report["summary"], len(report["settings"]["excluded"])
    workers, test = summary["workers"], summary["worker_test"]
    by_hand = f", {excluded} excluded by hand" if excluded else ""
    if test["preset"] == NO_TEST:
        label, n_workers = "Workers who count", sum(row["excluded"] is None for row in report["worker_table"])
        passing = {"label": "Worker test", "value": "none", "note": "every worker counts"}
    else:
        label, n_workers = "Workers passed", workers["passed"]
        name = worker_test_name(test["preset"])
        passing = {"label": f"Worker test: {name}", "value": f"p < {test['alpha']:g}", "note": "to pass"}
    return [
        {"label": "Systems", "value": f"{len(summary['systems']):,}"},
        {"label": label, "value": f"{n_workers:,}", "note": f"of {workers['total']:,}{by_hand}"},
        passing,
        {
            "label": "Ratings that count",
            "value": f"{sum(row.get('n_ratings', row['n']) for row in summary['systems']):,}",
            "note": "averaged by output" if summary["unit"] == "output" else "",
        },
        *_references(summary.get("references")),
    ]


def _references(found: dict[str, float | None] | None) -> list[dict[str, str]]:
    """Return the mean of reference items and their distance to ordinary ones; nothing where there is none."""
    if not found or found["mean"] is None:
        return []
    note = f"{signed(found['distance'], 1)} to ordinary items"
    return [{"label": "Reference items, mean", "value": number(found["mean"], 1), "note": note}]


def settings_of(run: AnalysisRun) -> dict[str, Any]:
    """Return a run's settings as the initial values of ChangeForm."""
    settings = run.settings
    return {
        "worker_test": settings["worker_test"]["preset"],
        "alpha": settings["worker_test"]["alpha"],
        "unit": settings["unit"],
    }
