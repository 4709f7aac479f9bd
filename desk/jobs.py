"""Reading jobs for administrators: with the campaigns that they are about."""

from collections.abc import Iterable
from dataclasses import dataclass

from campaigns.models import Campaign
from desk.navigation import campaign_url
from evalsite.accounts.models import User
from evalsite.jobs.handlers import list_kinds, subject_of
from evalsite.jobs.models import Job


@dataclass(frozen=True)
class ListedJob:
    """A job, its kind in words, and its campaign, if it has one that is still there."""

    job: Job
    title: str
    campaign: Campaign | None
    url: str


def describe_jobs(jobs: Iterable[Job], *, seen_by: User) -> list[ListedJob]:
    """Return what a page shows of its jobs. A query at most for each job, and two for all."""
    subjects = {job.pk: subject_of(job) for job in jobs}
    campaigns = Campaign.objects.in_bulk({key for key in subjects.values() if key is not None})
    mine, titles = set(seen_by.memberships.values_list("campaign", flat=True)), list_kinds()
    listed = []
    for job in jobs:
        campaign = campaigns.get(subjects[job.pk] or 0)
        url = campaign_url(seen_by, campaign, mine) if campaign else ""
        listed.append(ListedJob(job, titles.get(job.kind, job.kind), campaign, url))
    return listed
