"""Making the example campaigns: finished, running, with live chats, draft, by the services that the pages call."""

import time
from collections.abc import Callable, Collection
from pathlib import Path

from django.conf import settings

from analysis.web.queries.campaigns import find_job, find_latest_result
from analysis.web.services.campaigns import request_analysis
from annotation.models import Assignment, PlaceFreed
from annotation.services.assignments import release_assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.examples import EXAMPLES, Example
from campaigns.models import Campaign
from campaigns.services.campaigns import create_campaign
from campaigns.services.examples import add_chatbots, import_outputs, read_example, set_design
from campaigns.services.hits import build_hits
from campaigns.services.lifecycle import launch_campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.errors import DomainError

FOLDER = Path(settings.BASE_DIR) / "examples"
SEED = 11
CARELESS = 0.25
_PATIENCE_S = 120.0

Log = Callable[[str], object]
Status = Campaign.Status


def load_examples(user: User, log: Log, protocols: Collection[str] = ()) -> list[Campaign]:
    """Make the example campaigns of a user that are not there yet, and carry on with those that are not far enough.

    Only those of `protocols` are loaded, if any are named. What somebody has changed or rated in them stays. `log` is
    called with what is being done.
    """
    return [load_example(user, each, log) for each in EXAMPLES if not protocols or each.protocol in protocols]


def load_example(user: User, example: Example, log: Log) -> Campaign:
    """Return one example campaign, as far as it is to get."""
    campaign = user.campaigns.filter(name=example.name).first()
    if campaign is None:
        campaign = create_campaign(owner=user, protocol=example.protocol, name=example.name)
    if example.is_live:
        add_chatbots(campaign, example)
    elif not campaign.systems.exists():
        log(f"{example.name}: importing the outputs")
        _finish(import_outputs(campaign, user, example))
        campaign.refresh_from_db()
    if example.becomes != "draft":
        _launch(campaign, user, example, log)
        _rate(campaign, example, log)
    if example.becomes == "finished":
        _analyse(campaign, example, log)
    elif example.is_live and find_latest_result(user, campaign.pk) is None:
        request_analysis(campaign=campaign, user=user)  # the server runs it: nobody waits for its start
    return campaign


def _launch(campaign: Campaign, user: User, example: Example, log: Log) -> None:
    if campaign.status == Status.DRAFT:
        log(f"{example.name}: building HITs")
        set_design(campaign, example, seed=SEED)
        _finish(build_hits(campaign=campaign, user=user))
        campaign.refresh_from_db()
    if campaign.status == Status.READY:
        launch_campaign(campaign=campaign)
        campaign.refresh_from_db()


def _rate(campaign: Campaign, example: Example, log: Log) -> None:
    """Have simulated workers, each for one HIT, rate what is still to be rated."""
    if not campaign.is_open:
        return
    assignments = Assignment.objects.filter(campaign=campaign)
    if example.becomes == "finished":  # a start that was broken off leaves HITs with workers who will not come back
        for left in assignments.filter(state=Assignment.State.ACTIVE):
            release_assignment(assignment=left, cause=PlaceFreed.RESEARCHER)
    n_places = campaign.hits.count() * campaign.workers_per_hit
    n_finished = assignments.filter(state=Assignment.State.FINISHED).count()
    n_wanted = (example.n_hits or n_places) - n_finished
    if n_wanted <= 0:
        return
    n_workers = n_wanted + example.n_left
    do = "chat with and rate {} chatbots" if example.is_live else "rate {} items"
    log(f"{example.name}: {n_workers} simulated workers {do.format(campaign.hit_size)} each")
    # Another seed for those who follow, or the same people would come again.
    crowd = make_crowd(
        campaign,
        seed=SEED + n_finished,
        n_workers=n_workers,
        careless=CARELESS,
        leaving=example.n_left / n_workers,
        quality=read_example(example, "quality.json"),
        likes_length=example.likes_length,
    )
    with open_site(None) as client:
        outcome = run_crowd(campaign, crowd, client, max_hits=1)
    if outcome.errors:
        raise DomainError("simulation_failed", f"{example.name}: {outcome.errors[0]}")
    campaign.refresh_from_db()


def _analyse(campaign: Campaign, example: Example, log: Log) -> None:
    """Run the jobs that the end of the last HIT has queued: here, not once the server has started."""
    while job := find_job(campaign):
        log(f"{example.name}: analysing the ratings")
        _finish(job)


def _finish(job: Job | None) -> None:
    """Run a job to its end, or wait for the worker that was faster; raise DomainError if it fails."""
    assert job is not None
    run_job(job.pk)
    job.refresh_from_db()
    end = time.monotonic() + _PATIENCE_S
    while not job.is_finished and time.monotonic() < end:
        time.sleep(0.2)
        job.refresh_from_db()
    if job.status != Job.Status.SUCCEEDED:
        raise DomainError(job.error_code or "unfinished", job.error_message or f"{job} has not finished.")
