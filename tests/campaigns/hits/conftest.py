"""Campaigns of answers and of real questions."""

import json
from pathlib import Path

import pytest

from campaigns.models import Campaign, Output, Source, System
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign


@pytest.fixture
def mrc(owner: User) -> Campaign:
    """300 outputs of 15 systems: enough for five HITs of 70 ordinary items, the last filled with 50 again."""
    campaign = make_campaign(owner, "mrc-adequacy")
    add_outputs(campaign, n_sources=20)
    return campaign


@pytest.fixture
def qg(owner: User, shared_data: Path) -> Campaign:
    """The questions of 15 systems about 200 passages."""
    campaign = make_campaign(owner, "qg")
    rows = [json.loads(line) for line in (shared_data / "qg-outputs" / "qg.jsonl").read_text().splitlines()]
    names = sorted(rows[0]["outputs"])
    systems = {
        system.name: system
        for system in System.objects.bulk_create(
            System(campaign=campaign, name=name, is_human=name == "human") for name in names
        )
    }
    sources = Source.objects.bulk_create(
        Source(campaign=campaign, name=row["source"], fields={name: row[name] for name in ("passage", "answer")})
        for row in rows
    )
    Output.objects.bulk_create(
        Output(source=source, system=systems[name], text=text)
        for source, row in zip(sources, rows, strict=True)
        for name, text in row["outputs"].items()
    )
    return campaign
