"""The example campaigns: finished, running, with live chats, draft, made by the services that the pages call."""

import json
import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile

from analysis.web.queries.campaigns import find_job, find_latest_result
from analysis.web.services.campaigns import request_analysis
from annotation.models import Assignment, PlaceFreed
from annotation.services.assignments import release_assignment
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign, create_campaign
from campaigns.services.chatbots import add_chatbot
from campaigns.services.design import change_design
from campaigns.services.hits import build_hits
from campaigns.services.imports import start_import, upload_outputs
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


@dataclass(frozen=True)
class Example:
    """A campaign that the demo shows.

    `folder` holds outputs.csv, or chatbots.json where chats are live, and quality.json, the systems' true quality.
    `becomes` is how far it gets: of a running one `n_hits` are finished, of `n_built` that a live one has, and `n_left`
    more workers have left in the middle of theirs. `design` are fields of the design that its protocol does not preset,
    `words` take the places of blanks in the instructions.
    """

    name: str
    protocol: str
    folder: str
    becomes: Literal["finished", "running", "draft"]
    workers_per_hit: int = 1
    n_hits: int = 0
    n_left: int = 0
    n_built: int = 0
    design: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        """Whether workers chat with its systems."""
        return self.n_built > 0


FINISHED = Example("Example: answers to questions", "mrc-adequacy", "mrc", "finished")
RUNNING = Example("Example: generated questions", "qg", "qg", "running", workers_per_hit=2, n_hits=14, n_left=2)
LIVE = Example(
    "Example: chats with four chatbots", "dialogue-free", "dialogue", "running", n_hits=6, n_left=2, n_built=20
)
DRAFT = Example("Example: do the answers read well?", "mrc-fluency", "mrc", "draft")
LIKERT = Example(
    "Example: answers on five points",
    "likert",
    "mrc",
    "finished",
    design={"n_ordinary": 30, "n_degraded": 8, "n_repeat": 4, "n_hits": 12},
    words={"what workers read": "short passages, each with an answer to a question about it"},
)
PREFERENCE = Example(
    "Example: which question is better?",
    "preference",
    "qg",
    "finished",
    design={"n_hits": 12},
    words={"what makes a text better": "a question is better if the passage answers it and it reads well"},
)
ESA = Example(
    "Example: errors in restored texts",
    "esa",
    "esa",
    "finished",
    design={"n_ordinary": 6, "n_degraded": 2, "n_repeat": 1, "n_hits": 12},
    words={"source language": "small letters without punctuation", "target language": "written English"},
)
EXAMPLES = (DRAFT, LIVE, RUNNING, ESA, PREFERENCE, LIKERT, FINISHED)  # the newest is first in the list of campaigns


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
        _add_chatbots(campaign, example)
    elif not campaign.systems.exists():
        log(f"{example.name}: importing the outputs")
        _import(campaign, user, example)
    if example.becomes != "draft":
        _launch(campaign, user, example, log)
        _rate(campaign, example, log)
    if example.becomes == "finished":
        _analyse(campaign, example, log)
    elif example.is_live and find_latest_result(user, campaign.pk) is None:
        request_analysis(campaign=campaign, user=user)  # the server runs it: nobody waits for its start
    return campaign


def _add_chatbots(campaign: Campaign, example: Example) -> None:
    """Add the chatbots that are not there yet, while the campaign takes any."""
    if campaign.is_launched:
        return
    known = set(campaign.systems.values_list("name", flat=True))
    for chatbot in _read(example, "chatbots.json"):
        if chatbot["name"] not in known:
            add_chatbot(campaign=campaign, **chatbot)


def _import(campaign: Campaign, user: User, example: Example) -> None:
    path = FOLDER / example.folder / "outputs.csv"
    upload = upload_outputs(campaign=campaign, user=user, upload=SimpleUploadedFile(path.name, path.read_bytes()))
    _finish(start_import(upload=upload, user=user).job)
    campaign.refresh_from_db()


def _launch(campaign: Campaign, user: User, example: Example, log: Log) -> None:
    if campaign.status == Status.DRAFT:
        log(f"{example.name}: building HITs")
        changes: dict[str, Any] = {"seed": SEED, "workers_per_hit": example.workers_per_hit, **example.design}
        if example.is_live:  # each HIT has all of them
            changes |= {"n_hits": example.n_built, "n_ordinary": campaign.systems.filter(is_degraded=False).count()}
        change_design(campaign=campaign, changes=changes)
        if example.words:
            change_campaign(campaign=campaign, changes={"instructions": _fill(campaign.instructions, example.words)})
        _finish(build_hits(campaign=campaign, user=user))
        campaign.refresh_from_db()
    if campaign.status == Status.READY:
        launch_campaign(campaign=campaign)
        campaign.refresh_from_db()


def _fill(instructions: str, words: Mapping[str, str]) -> str:
    """Return instructions in which each blank that begins so has its words."""
    for beginning, text in words.items():
        instructions = re.sub(rf"\[\[{re.escape(beginning)}[^\]]*\]\]", text, instructions)
    return instructions


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
        quality=_read(example, "quality.json"),
    )
    with open_site(None) as client:
        outcome = run_crowd(campaign, crowd, client, max_hits=1)
    if outcome.errors:
        raise DomainError("simulation_failed", f"{example.name}: {outcome.errors[0]}")
    campaign.refresh_from_db()


def _read(example: Example, name: str) -> Any:
    return json.loads((FOLDER / example.folder / name).read_text("utf-8"))


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
