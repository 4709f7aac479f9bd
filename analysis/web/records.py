"""What was made of a campaign's ratings, to be counted and deleted with it."""

from collections.abc import Iterable

from django.db.models import QuerySet

from analysis.models import (
    AnalysisRun,
    Judge,
    JudgeAnswer,
    Look,
    MetricScores,
    PaperAnswer,
    PowerAnalysis,
    RatingsFile,
    ShareLink,
)
from analysis.web.queries.campaigns import ANALYSE
from analysis.web.queries.workers_now import kept_file
from campaigns.contracts.records import Counted, Erasure, Held, Records, Rows
from campaigns.models import Campaign
from evalsite.jobs.files import delete_files, delete_on_commit
from evalsite.jobs.handlers import enqueue
from evalsite.jobs.models import Job
from evalsite.lib.words import counted


class AnalysisRecords(Records):
    """Snapshots of ratings, their analyses and the files of those."""

    slug = "analysis"

    def count(self, campaign_id: int) -> list[Counted]:
        """Return the numbers of snapshots and analyses."""
        return [
            Counted(RatingsFile.objects.filter(campaign=campaign_id).count(), "snapshot"),
            Counted(self._runs(campaign_id).count(), "analysis run"),
            Counted(ShareLink.objects.filter(campaign=campaign_id).count(), "share link"),
            Counted(Look.objects.filter(campaign=campaign_id).count(), "look"),
            Counted(self._plans(campaign_id).count(), "plan"),
            Counted(MetricScores.objects.filter(campaign=campaign_id).count(), "file of metric scores"),
            Counted(self._answers(campaign_id).count(), "judge answer"),
        ]

    def _runs(self, campaign_id: int) -> QuerySet[AnalysisRun]:
        return AnalysisRun.objects.filter(ratings_file__campaign=campaign_id)

    def _plans(self, campaign_id: int) -> QuerySet[PowerAnalysis]:
        return PowerAnalysis.objects.filter(campaign=campaign_id)

    def _answers(self, campaign_id: int) -> QuerySet[JudgeAnswer]:
        return JudgeAnswer.objects.filter(judge__campaign=campaign_id)

    def refusals(self, campaign_id: int) -> list[str]:
        """Return that results are being computed."""
        unfinished = [Job.Status.QUEUED, Job.Status.RUNNING]
        own = [model.objects.filter(campaign=campaign_id) for model in (MetricScores, Judge, PowerAnalysis)]
        n = sum(rows.filter(job__status__in=unfinished).count() for rows in (self._runs(campaign_id), *own))
        return [f"{counted(n, 'result')} {'is' if n == 1 else 'are'} being computed. Wait for the end."] if n else []

    def delete_files(self, campaign_id: int) -> None:
        """Delete the snapshots and the folders of the runs; other plans lose them as their pilot."""
        PowerAnalysis.objects.filter(pilot__in=self._runs(campaign_id)).update(pilot=None)
        for model in (RatingsFile, MetricScores):
            files = model.objects.filter(campaign=campaign_id).exclude(file="").values_list("file", flat=True)
            delete_files(list(files), [])
        delete_files([], folders_of(self._runs(campaign_id).only("pk")))
        public_ids = Campaign.objects.filter(pk=campaign_id).values_list("public_id", flat=True)
        delete_files([kept_file(public_id) for public_id in public_ids], [])

    def rows(self, campaign_id: int) -> list[Rows]:
        """Return the tables; of runs those first that were changed from others."""
        return [
            Rows(self._plans(campaign_id), "job", delete_jobs),
            Rows(self._runs(campaign_id), "job", delete_jobs),
            Rows(self._answers(campaign_id)),
            Rows(Judge.objects.filter(campaign=campaign_id), "job", delete_jobs),
            Rows(MetricScores.objects.filter(campaign=campaign_id), "job", delete_jobs),
            Rows(RatingsFile.objects.filter(campaign=campaign_id)),
            Rows(ShareLink.objects.filter(campaign=campaign_id)),
            Rows(Look.objects.filter(campaign=campaign_id)),
            Rows(PaperAnswer.objects.filter(campaign=campaign_id)),
        ]

    def list_held(self, erasure: Erasure) -> list[Held]:
        """Return the analyses of snapshots that hold the worker's name."""
        runs = AnalysisRun.objects.filter(ratings_file__in=self._snapshots(erasure))
        return [
            Held(f"Analysis of {run.created_at:%Y-%m-%d %H:%M}", "analysis:run", run.pk)
            for run in runs.only("pk", "created_at").order_by("created_at")
        ]

    def _snapshots(self, erasure: Erasure) -> list[RatingsFile]:
        found = RatingsFile.objects.filter(campaign=erasure.campaign_id).order_by("uploaded_at")
        return [each for each in found if _holds(each, erasure.name.encode())]

    def erasure_refusals(self, erasure: Erasure) -> list[str]:
        """Return that results are being computed, which would hold the name."""
        return self.refusals(erasure.campaign_id)

    def erase(self, erasure: Erasure) -> None:
        """Delete the snapshots with the worker's name, and their analyses; analyse the ratings anew."""
        if "results" in erasure.wants and (snapshots := self._snapshots(erasure)):
            self._make_anew(erasure.campaign_id, snapshots)

    def renew(self, campaign_id: int) -> None:
        """Delete all snapshots, and their analyses; analyse the ratings anew."""
        if snapshots := list(RatingsFile.objects.filter(campaign=campaign_id)):
            self._make_anew(campaign_id, snapshots)

    def _make_anew(self, campaign_id: int, snapshots: list[RatingsFile]) -> None:
        runs = AnalysisRun.objects.filter(ratings_file__in=snapshots)
        folders = folders_of(runs.only("pk"))
        jobs = list(runs.exclude(job=None).values_list("job", flat=True))
        runs.delete()
        delete_jobs(jobs)
        for each in snapshots:
            delete_on_commit(each.file.name or "")
            each.delete()
        delete_on_commit(folders=folders)
        enqueue(ANALYSE, args={"campaign": campaign_id})


def _holds(snapshot: RatingsFile, name: bytes) -> bool:
    """Tell whether a name is in a snapshot; its lines are as short as names are."""
    try:
        with snapshot.file.open("rb") as lines:
            return any(name in line for line in lines)
    except FileNotFoundError:
        return False


def folders_of(runs: Iterable[AnalysisRun]) -> list[str]:
    """Return the folders of runs."""
    return [run.folder for run in runs]


def delete_jobs(jobs: Iterable[object]) -> None:
    """Delete the jobs of runs that are gone."""
    Job.objects.filter(pk__in=list(jobs)).delete()
