"""Making an example campaign as far as a draft: for the demo, and to begin with."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from campaigns.examples import Example
from campaigns.importing.layout import ATTRIBUTE, FileLayout
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign, create_campaign, fill_blanks
from campaigns.services.chatbots import add_chatbot
from campaigns.services.design import change_design
from campaigns.services.imports import map_columns, start_import, upload_outputs
from evalsite.accounts.models import User
from evalsite.jobs.models import Job

FOLDER = Path(settings.BASE_DIR) / "examples"


@transaction.atomic
def create_from_example(*, owner: User, example: Example, public_id: UUID | None = None) -> Campaign:
    """Make a draft of an example, with its chatbots, or with its outputs once a job has imported them.

    A `public_id` that the owner has a campaign of gives that campaign; raises DomainError `id_taken` for another's.
    """
    name = f"{example.name.removeprefix('Example: ').capitalize()} (copy)"
    campaign = create_campaign(owner=owner, protocol=example.protocol, name=name, public_id=public_id)
    if campaign.uploads.exists() or campaign.name != name:  # a form that was sent twice
        return campaign
    if example.is_live:
        add_chatbots(campaign, example)
    else:
        import_outputs(campaign, owner, example)
    set_design(campaign, example)
    return campaign


def add_chatbots(campaign: Campaign, example: Example) -> None:
    """Add the chatbots that are not there yet, while the campaign takes any."""
    if campaign.is_launched:
        return
    known = set(campaign.systems.values_list("name", flat=True))
    for chatbot in read_example(example, "chatbots.json"):
        if chatbot["name"] not in known:
            add_chatbot(campaign=campaign, **chatbot)


def import_outputs(campaign: Campaign, user: User, example: Example) -> Job:
    """Upload the outputs; return the job that imports them."""
    path = FOLDER / example.folder / "outputs.csv"
    upload = upload_outputs(campaign=campaign, user=user, upload=SimpleUploadedFile(path.name, path.read_bytes()))
    if example.attributes:
        layout = FileLayout.from_json(upload.layout)
        roles = {**layout.roles, **dict.fromkeys(example.attributes, ATTRIBUTE)}
        map_columns(upload=upload, layout=replace(layout, roles=roles))
    job: Job | None = start_import(upload=upload, user=user).job
    assert job
    return job


def set_design(campaign: Campaign, example: Example, **more: Any) -> None:
    """Set the design and fill in the blanks of the instructions."""
    changes: dict[str, Any] = {"workers_per_hit": example.workers_per_hit, **more, **example.design}
    if example.is_live:  # each HIT has all of them
        changes |= {"n_hits": example.n_built, "n_ordinary": campaign.systems.filter(is_degraded=False).count()}
    change_design(campaign=campaign, changes=changes)
    if example.words:
        instructions = fill_blanks(campaign.instructions, example.words)
        change_campaign(campaign=campaign, changes={"instructions": instructions})


def read_example(example: Example, name: str) -> Any:
    """Return a JSON file of an example."""
    return json.loads((FOLDER / example.folder / name).read_text("utf-8"))
