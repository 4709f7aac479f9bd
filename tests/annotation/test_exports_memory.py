"""Memory while rows are written: that of a few assignments, however many the campaign has."""

import gc
import tracemalloc

import pytest

from annotation.export import rows as exports
from annotation.export.tables import TABLES
from annotation.worker_names import hashed_name
from benchmarks.api import fill
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign

pytestmark = pytest.mark.django_db


def peak_of(campaign: Campaign, table: str) -> int:
    """Return the most bytes that Python has at once while all rows of a table are made."""
    tracemalloc.start()
    try:
        for _ in TABLES[table].blocks(campaign, names=hashed_name):
            gc.collect()  # what refers to itself waits for it, sometimes more of it
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("protocol", "table", "n_at_once"), [("post-edit", "edits", 1), ("preference", "votes", 2)])
def test_more_answers_need_no_more_memory(
    owner: User, monkeypatch: pytest.MonkeyPatch, protocol: str, table: str, n_at_once: int
) -> None:
    monkeypatch.setattr(exports, "_ASSIGNMENTS_AT_ONCE", 1)
    few, many = make_campaign(owner, protocol), make_campaign(owner, protocol)
    fill(few, 1_000, n_at_once)
    fill(many, 5_000, n_at_once)
    peak_of(few, table)  # what is kept of modules and caches
    assert peak_of(many, table) - peak_of(few, table) < 300_000  # a set of the 4,000 others has twice as much
