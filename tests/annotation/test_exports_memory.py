"""Memory while files are written: that of a few assignments, however many the campaign has."""

import gc
import tracemalloc

import pytest

from annotation.export import known
from annotation.export import rows as exports
from annotation.export.downloads import ExportChoice, find_download
from annotation.queries import answers_on
from benchmarks.api import fill
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign

pytestmark = pytest.mark.django_db


def peak_of(campaign: Campaign, file: str) -> int:
    """Return the most bytes that Python has at once while a file is made, and nothing looks for garbage, as servers
    hardly do.
    """
    download = find_download(campaign, file)
    assert download
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        assert sum(map(len, download.pieces(campaign, ExportChoice()))) > 10_000
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


@pytest.mark.parametrize(
    ("protocol", "file", "n_at_once"),
    [
        ("mrc-adequacy", "ratings.csv", 1),
        ("post-edit", "edits.csv", 1),
        ("preference", "votes.csv", 2),
        ("esa", "mqm.tsv", 1),
    ],
)
def test_more_answers_need_no_more_memory(
    owner: User, monkeypatch: pytest.MonkeyPatch, protocol: str, file: str, n_at_once: int
) -> None:
    monkeypatch.setattr(exports, "_ASSIGNMENTS_AT_ONCE", 1)
    monkeypatch.setattr(known, "_MOST_KEPT", 100)
    few, many = make_campaign(owner, protocol), make_campaign(owner, protocol)
    fill(few, 3_000, n_at_once)
    fill(many, 7_000, n_at_once)
    peak_of(few, file)  # what is kept of modules and caches
    assert peak_of(many, file) - peak_of(few, file) < 300_000  # a set of the 4,000 others has twice as much


def test_what_is_known_of_outputs_is_read_with_their_hits_and_forgotten(
    owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known, "_MOST_KEPT", 200)
    campaign, read = make_campaign(owner, "mrc-adequacy"), []

    def read_items(items):
        read.append(items.count())
        return ((key, ("x",)) for key in items.values_list("output__source__name", "output__system__name"))

    fill(campaign, 4_000)  # four HITs of 100 items
    outputs = known.KnownOfHits(campaign, read_items, ("",))
    keys = [("source-0", "system-1"), ("source-9", "system-1"), ("source-0", "system-2")]
    assert outputs.beside(keys, [1]) == outputs.beside(keys, [1]) == [["x", "", "x"]]
    for number in (2, 3, 4):
        outputs.beside([("other", number)], [number])
    assert read == [100] * 4
    assert outputs.beside(keys, [1]) == [["x", "", "x"]]
    assert read == [100] * 5


def test_answers_are_looked_up_by_assignment() -> None:
    """Criteria have an index, too, but all workers answer each: SQLite keeps no statistics that say so."""
    plan = answers_on(range(1, 5), list(range(1, 101))).filter(score__isnull=False).explain()
    assert "criterion" not in plan and "assignment_id=?" in plan
