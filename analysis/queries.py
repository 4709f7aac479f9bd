"""Reading ratings files and runs: first whether this user may, then what a page shows."""

from pathlib import Path
from uuid import UUID

from django.db.models import Count, Max, QuerySet
from django.shortcuts import get_object_or_404

from analysis.models import AnalysisRun, RatingsFile
from evalsite.accounts.models import User
from evalsite.lib.tables import TableError, preview

# What a list never reads: they are large.
_LARGE = ("report", "problems", "parent__report", "parent__problems")
_ROWS_LOOKED_AT, _MOST_CRITERIA = 500, 40


def list_ratings_files_for(user: User) -> QuerySet[RatingsFile]:
    """Return the user's own ratings files, newest first, with `n_runs` and `last_run_at`."""
    files = RatingsFile.objects.filter(owner=user)
    counted = files.annotate(n_runs=Count("runs"), last_run_at=Max("runs__created_at"))
    return counted.order_by("-uploaded_at")  # grouping drops the default order


def get_ratings_file_for(user: User, ratings_file_id: UUID) -> RatingsFile:
    """Return the user's own ratings file; raise Http404 for everybody else's."""
    return get_object_or_404(RatingsFile, pk=ratings_file_id, owner=user)


def get_run_for(user: User, run_id: UUID) -> AnalysisRun:
    """Return a run of the user's own ratings file; raise Http404 for everybody else's. One query."""
    runs = AnalysisRun.objects.select_related("ratings_file", "job")
    return get_object_or_404(runs, pk=run_id, ratings_file__owner=user)


def get_finished_run_for(user: User, run_id: UUID) -> AnalysisRun:
    """Return a run that has its report; raise Http404 for a stranger's or an unfinished one. One query."""
    runs = AnalysisRun.objects.select_related("ratings_file")
    return get_object_or_404(runs, pk=run_id, ratings_file__owner=user, report__isnull=False)


def get_run_of(ratings_file: RatingsFile, run_id: UUID) -> AnalysisRun:
    """Return a run of a ratings file that the user may see, without its report; raise Http404 for any other's."""
    return get_object_or_404(ratings_file.runs.defer(*_LARGE[:2]), pk=run_id)


def list_runs_of(ratings_file: RatingsFile) -> QuerySet[AnalysisRun]:
    """Return the runs of a ratings file, newest first, with what they were changed from, without the reports."""
    return ratings_file.runs.select_related("job", "parent").defer(*_LARGE)


def list_comparable(run: AnalysisRun) -> QuerySet[AnalysisRun]:
    """Return the other finished runs of the same ratings, newest first, without their reports."""
    return run.ratings_file.runs.filter(finished_at__isnull=False).exclude(pk=run.pk).defer(*_LARGE[:2])


def newest_run_of(ratings_file: RatingsFile) -> AnalysisRun | None:
    """Return the latest run of a ratings file, without its report."""
    return ratings_file.runs.defer(*_LARGE[:2]).first()


def criteria_in(ratings_file: RatingsFile) -> list[str]:
    """Return the criteria that the first rows of a ratings file name, in order, at most 40."""
    column = ratings_file.mapping.get("criterion")
    try:
        sample = preview(Path(ratings_file.file.path), ratings_file.name, _ROWS_LOOKED_AT)
    except TableError:
        return []  # the run will say what is wrong, by row and column
    if column not in sample.columns:
        return []
    place = sample.columns.index(column)
    names = (row[place].strip() for row in sample.rows if place < len(row))
    return list({name.casefold(): name for name in names if name}.values())[:_MOST_CRITERIA]
