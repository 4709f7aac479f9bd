"""Reading ratings files and runs: first whether this user may, then what a page shows.

An uploaded file is its owner's alone. A campaign's snapshots belong to all its members, in their roles; viewers get the
workers' names as hashes only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from django.core.exceptions import PermissionDenied
from django.db.models import Case, Count, Max, OuterRef, Q, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast
from django.http import Http404
from django.shortcuts import get_object_or_404

from analysis.data.finding import find_columns
from analysis.data.ratings.columns import ColumnMapping, columns_of, criterion_of, score_columns
from analysis.data.ratings.scales import FULL, Observed, Scale, check_scale_of_file
from analysis.methods import ResponseMethod
from analysis.methods.by_groups import MOST_GROUPS, find_grouping
from analysis.models import AnalysisRun, RatingsFile
from analysis.results.anonymity import anonymise, anonymous_report, anonymous_settings, workers_of
from analysis.results.stored import current
from campaigns.contracts.protocol import DEFAULT_METHOD
from campaigns.design.composition import Kind
from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.lib.acts import note_act
from evalsite.lib.tables import Preview, TableError, preview, read_columns
from evalsite.lib.tables.table import TextColumn
from evalsite.lib.typed_json import parse

Role = Membership.Role
# What a list never reads, of a run and of the one it was changed from: they are large.
OWN_LARGE = ("report", "first_report", "problems")
LARGE = (*OWN_LARGE, *(f"parent__{name}" for name in OWN_LARGE))
# Of a queryset with `_role_of`.
_IS_SEEN: dict[str, bool] = {"my_role__isnull": False}
_HAS_PART = Q(report__isnull=False) | Q(first_report__isnull=False)
_ROWS_SAMPLED, _MOST_CRITERIA, _ROWS_OF_GROUPS = 500, 40, 2000
_LARGEST_READ = 20_000_000  # bytes; seconds in the slowest format
_DEGRADED = Kind.DEGRADED.name.lower()


def _role_of(user: User, file: str = "") -> dict[str, Case]:
    """Return `my_role`, the user's role for a ratings file, NULL for a stranger; `file` is the path to it and `__`."""
    found = user.memberships.exclude(campaign__status=Campaign.Status.DELETING)
    member = found.filter(campaign=OuterRef(f"{file}campaign")).values("role")
    is_own_upload = When(**{f"{file}campaign": None, f"{file}owner": user}, then=Value(Role.OWNER))
    return {"my_role": Case(is_own_upload, default=Subquery(member))}


def _check(role: str, to_change: bool, to_own: bool = False) -> None:
    if to_own and role != Role.OWNER:
        raise PermissionDenied(f"This needs the role of owner; you are {role}.")
    if to_change and role == Role.VIEWER:
        raise PermissionDenied("This needs the role of editor; you are viewer.")


def list_ratings_files_for(user: User) -> QuerySet[RatingsFile]:
    """Return the ratings files that the user may see, newest first, with `n_runs` and `last_run_at`."""
    files = RatingsFile.objects.annotate(**_role_of(user)).filter(**_IS_SEEN)
    counted = files.select_related("campaign").annotate(n_runs=Count("runs"), last_run_at=Max("runs__created_at"))
    return counted.order_by("-uploaded_at")  # grouping drops the default order


def get_ratings_file_for(
    user: User, ratings_file_id: UUID, *, to_change: bool = False, to_own: bool = False
) -> RatingsFile:
    """Return the user's own ratings file, or a snapshot of a campaign of theirs. One query.

    Raises Http404 for a stranger, PermissionDenied for a viewer who wants to change something, and for all but owners
    where something is wanted that is theirs (`to_own`).
    """
    files = RatingsFile.objects.select_related("campaign").annotate(**_role_of(user))
    file = get_object_or_404(files, pk=ratings_file_id, **_IS_SEEN)
    _check(file.my_role, to_change, to_own)
    _note(file)
    return file


def get_upload_for(user: User, ratings_file_id: UUID) -> RatingsFile:
    """Return the user's own uploaded ratings file; raise Http404 for any other's, and for a campaign's snapshot."""
    return get_object_or_404(RatingsFile, pk=ratings_file_id, owner=user, campaign=None)


def runs_seen_by(user: User) -> QuerySet[AnalysisRun]:
    """Return every run that the user may see, with its ratings file and campaign, and `my_role`."""
    runs = AnalysisRun.objects.annotate(**_role_of(user, "ratings_file__")).filter(**_IS_SEEN)
    return runs.select_related("ratings_file__campaign")


def newest(runs: QuerySet[AnalysisRun]) -> AnalysisRun | None:
    """Return the newest of some runs with its report; None without any. To sort them would carry the reports of all.

    One query.
    """
    return runs.filter(pk=runs.order_by("-created_at").values("pk")[:1]).order_by().first()


def get_run_for(user: User, run_id: UUID, *, to_change: bool = False, to_own: bool = False) -> AnalysisRun:
    """Return a run of ratings that the user may see, as they may see it. One query.

    Raises Http404 for a stranger, PermissionDenied as `get_ratings_file_for` does.
    """
    run = get_object_or_404(runs_seen_by(user).select_related("job"), pk=run_id)
    _check(run.my_role, to_change, to_own)
    _note(run.ratings_file)
    return as_seen(run)


def get_finished_run_for(user: User, run_id: UUID, *, to_change: bool = False) -> AnalysisRun:
    """Return a run that has its report, as `get_run_for` does; raise Http404 for an unfinished one too. One query."""
    run = get_object_or_404(runs_seen_by(user), pk=run_id, report__isnull=False)
    _check(run.my_role, to_change)
    _note(run.ratings_file)
    return as_seen(run)


def _note(file: RatingsFile) -> None:
    """Let the audit log say which campaign an act is about: no address of a file or a run does."""
    note_act(about=file.title, campaign=file.campaign and file.campaign.public_id)


def list_finished_runs_for(user: User, run_ids: Sequence[UUID]) -> list[AnalysisRun]:
    """Return runs to compare, in the order of their ids, as the user may see them; raise Http404 without their reports.

    Reports have no sections: they are most of it, and take longest to read. One query at most.
    """
    runs = runs_seen_by(user).filter(pk__in=run_ids, report__isnull=False)
    found = {run.pk: run for run in runs.defer(*OWN_LARGE).annotate(stored=Cast("report", TextField()))}
    if len(found) < len(run_ids):
        raise Http404("There is no such result.")
    for run in found.values():
        run.report, run.first_report = current(parse(run.stored, unread="sections")), None
    return [as_seen(found[run_id]) for run_id in run_ids]


def find_earlier_run_for(user: User, run_id: UUID | None) -> AnalysisRun | None:
    """Return a run to compare another one with, as `list_finished_runs_for` does; None if there is none such."""
    try:
        return list_finished_runs_for(user, [run_id])[0] if run_id else None
    except Http404:
        return None


def as_seen(run: AnalysisRun) -> AnalysisRun:
    """Return a run, fetched by `runs_seen_by`, with its workers renamed if its reader is a viewer. Never save it."""
    if run.my_role == Role.VIEWER:
        run.settings = anonymous_settings(run.settings)
        run.report, run.first_report = _without_names(run.report), _without_names(run.first_report)
    return run


def _without_names(report: Any) -> Any:
    return report and anonymous_report(report, anonymise(workers_of(report)))


def hide_excluded(runs: Iterable[AnalysisRun]) -> list[AnalysisRun]:
    """Return runs as a viewer sees them in a list, with those that they were changed from. Never save them."""
    found = list(runs)
    for run in (each for row in found for each in (row, row.parent) if each):
        run.settings = anonymous_settings(run.settings)
    return found


def get_run_of(ratings_file: RatingsFile, run_id: str) -> AnalysisRun:
    """Return a run of a ratings file that the user may see, without its report; raise Http404 for any other's."""
    return get_object_or_404(ratings_file.runs.defer(*OWN_LARGE), pk=parse_id(run_id))


def parse_id(text: str) -> UUID:
    """Return an id; raise Http404 if the text is none."""
    try:
        return UUID(text)
    except ValueError:
        raise Http404("This is not an id.") from None


def list_runs_of(ratings_file: RatingsFile) -> QuerySet[AnalysisRun]:
    """Return the runs of a ratings file, newest first, with what they were changed from, without the reports."""
    return ratings_file.runs.select_related("job", "parent", "ratings_file__campaign").defer(*LARGE)


def count_changed_from(run: AnalysisRun) -> int:
    """Return how many runs were changed from this one. One query."""
    return AnalysisRun.objects.filter(parent=run).count()


def list_comparable(run: AnalysisRun) -> QuerySet[AnalysisRun]:
    """Return the other finished runs of the same ratings by the same method, newest first, without their reports."""
    is_of = _is_of(method_slug(run))
    return run.ratings_file.runs.filter(is_of, finished_at__isnull=False).exclude(pk=run.pk).defer(*OWN_LARGE)


def method_slug(run: AnalysisRun) -> str:
    """Return the response method of a run."""
    return str(run.settings.get("method", DEFAULT_METHOD))


def _is_of(method: str) -> Q:
    """Return which runs are of a method; settings that name none are of direct assessment."""
    named = Q(settings__method=method)
    return named | Q(settings__method__isnull=True) if method == DEFAULT_METHOD else named


def newest_run_of(ratings_file: RatingsFile) -> AnalysisRun | None:
    """Return the latest finished run of a ratings file, or of all snapshots of its campaign, without its report."""
    campaign = ratings_file.campaign_id
    runs = AnalysisRun.objects.filter(ratings_file__campaign=campaign) if campaign else ratings_file.runs.all()
    return runs.filter(finished_at__isnull=False).defer(*OWN_LARGE).first()


def has_part(job: Job) -> bool:
    """Tell whether a part of the result of a job can be shown already. One query."""
    return AnalysisRun.objects.filter(job=job).filter(_HAS_PART).exists()


def get_job_of_run(user: User, run_id: UUID) -> Job | None:
    """Return the job of a run that the user may see, None of a run without one; raise Http404 to a stranger."""
    runs = runs_seen_by(user).select_related("job").defer(*OWN_LARGE)
    return get_object_or_404(runs, pk=run_id).job


def list_comparable_results(user: User, method: str | None = None) -> QuerySet[AnalysisRun]:
    """Return every finished result, of one method if it is named, that the user may see; newest first, no reports."""
    return runs_seen_by(user).filter(_is_of(method) if method else Q(), finished_at__isnull=False).defer(*OWN_LARGE)


def has_degraded(ratings_file: RatingsFile) -> bool:
    """Tell whether any item of a ratings file is degraded; of a file that is too large to look at, say yes.

    Only the column of kinds is read, and nothing but the first rows where they have a degraded item.
    """
    column, file = ratings_file.mapping.get("kind"), ratings_file
    if column is None:
        return False
    try:
        if _DEGRADED in map(str.casefold, _first_cells(file, column)) or file.size > _LARGEST_READ:
            return True
        kinds = read_columns(Path(file.file.path), [column], file.name, encoding=file.encoding).text[column].labels
        return _DEGRADED in (kind.strip().casefold() for kind in kinds)
    except TableError:
        return True  # the run will say what is wrong, by row and column


def _first_rows(ratings_file: RatingsFile, n_rows: int) -> Preview:
    return preview(Path(ratings_file.file.path), ratings_file.name, n_rows, encoding=ratings_file.encoding)


def _first_cells(ratings_file: RatingsFile, column: str | None) -> list[str]:
    """Return the cells of a column in the first rows; none if the file has no such column. Raises TableError."""
    sample = _first_rows(ratings_file, _ROWS_SAMPLED)
    place = sample.columns.index(column) if column in sample.columns else None
    return [row[place].strip() for row in sample.rows if place < len(row)] if place is not None else []


def scale_of(ratings_file: RatingsFile) -> Scale | None:
    """Return the scale of a file's scores, if it is known: that of a campaign's sliders is."""
    if ratings_file.campaign_id:
        return FULL
    return (ratings_file.scale[0], ratings_file.scale[1]) if ratings_file.scale else None


def scale_doubt(ratings_file: RatingsFile, mapping: ColumnMapping) -> Observed | None:
    """Return what is odd about the scores of a file on 0–100; None if nothing is, or if they cannot be read."""
    path = Path(ratings_file.file.path)
    return check_scale_of_file(path, score_columns(mapping), name=ratings_file.name, encoding=ratings_file.encoding)


def group_columns(ratings_file: RatingsFile, method: ResponseMethod[Any]) -> list[str]:
    """Return the columns of a ratings file that have no other use: systems may be compared by their groups."""
    used = set(columns_of(ratings_file.mapping)) - {ratings_file.mapping.get("pool")}
    used |= set(find_columns(ratings_file.columns, method.names).values())
    used |= set(method.read_beside(ratings_file.columns))
    return [name for name in ratings_file.columns if name and name not in used]


@dataclass(frozen=True)
class OfferedGroups:
    """A column by whose groups systems may be compared, and groups of its first rows; `is_cut`: ranges of numbers."""

    column: str
    groups: list[str]
    is_cut: bool


def list_offered_groups(ratings_file: RatingsFile, method: ResponseMethod[Any]) -> list[OfferedGroups]:
    """Return the columns of `group_columns` whose first rows have more than one group, and not too many."""
    columns = group_columns(ratings_file, method) if "groups" in method.takes else []
    try:
        sample = _first_rows(ratings_file, _ROWS_OF_GROUPS) if columns else None
    except TableError:
        sample = None  # the run has said what is wrong
    if sample is None:
        return []
    offered = []
    for name in columns:
        place = sample.columns.index(name)
        cells = [row[place].strip() if place < len(row) else "" for row in sample.rows]
        labels = sorted(set(cells))
        code = {label: k for k, label in enumerate(labels)}
        found = find_grouping(TextColumn(np.array([code[cell] for cell in cells], np.int32), labels))
        if 2 <= len(found.labels) <= MOST_GROUPS:
            offered.append(OfferedGroups(name, found.labels, found.is_cut))
    return offered


def criteria_in(ratings_file: RatingsFile) -> list[str]:
    """Return the criteria that the first rows of a ratings file name, or its columns, in order, at most 40."""
    if wide := ratings_file.mapping.get("scores"):
        return [criterion_of(name) for name in wide][:_MOST_CRITERIA]
    try:
        names = _first_cells(ratings_file, ratings_file.mapping.get("criterion"))
    except TableError:
        return []  # the run will say what is wrong, by row and column
    return list({name.casefold(): name for name in names if name}.values())[:_MOST_CRITERIA]
