"""How a job of the set-up is."""

from typing import Any

from django.urls import reverse

from campaigns.models import Campaign
from evalsite.jobs.models import Job
from evalsite.jobs.queries import job_state


def job_shown(campaign: Campaign, job: Job) -> dict[str, Any]:
    """Return what a page shows of a job, to be asked for where every member may ask."""
    return job_state(job) | {"url": reverse("campaigns:job", args=[campaign.public_id, job.pk])}
