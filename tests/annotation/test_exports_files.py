"""Taking data out: what is in each file, and that the analysis reads it."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.data.dialogues.rows import CHAT_COLUMNS, WEIGHT, WORK_COLUMNS
from analysis.data.ratings.loading import LoadedRatings, load_ratings
from analysis.data.ratings.sources import SOURCE_COLUMNS
from analysis.results.anonymity import anonymise
from annotation.chat.exports import DIALOGUE_COLUMNS
from annotation.export.encoding import csv_pieces, parquet_pieces
from annotation.export.rows import (
    ALL_STATES,
    ASSIGNMENT_COLUMNS,
    ITEM_COLUMNS,
    RATING_COLUMNS,
    REPLY_SCORE_COLUMNS,
    item_blocks,
    iter_assignments,
    rating_blocks,
    score_blocks,
)
from annotation.export.tables import TABLES
from annotation.models import Assignment, Event, Response
from annotation.worker_names import hashed_name, real_name
from campaigns.contracts.attributes import DRAW_WEIGHT, OF_RATERS
from campaigns.contracts.columns import is_described
from campaigns.models import Campaign, System
from evalsite.accounts.models import User
from evalsite.lib.tables.blocks import in_blocks, in_rows
from evalsite.lib.tables.writing import write_csv
from tests.annotation.cast import build, launch, make_worker, rate, rate_hit
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner
from tests.croissant import records_by
from tests.databases import on_both, on_sqlite

pytestmark = on_sqlite

FILES = ["ratings.csv", "ratings.jsonl", "ratings.parquet", "assignments.csv", "items.csv", "events.jsonl"]
State = Assignment.State


@pytest.fixture(scope="module")
def stored(module_db: None) -> Campaign:
    """The owner's campaign: four finished HITs of 10 items, and one more that is half done."""
    owner = make_owner()
    rng = np.random.default_rng(7)
    campaign = launch(make_campaign(owner))
    first, *others = build(campaign, n_hits=5)
    rate_hit(first, make_worker(campaign, "late"), rng, state=State.ACTIVE, n_rated=4)
    for k, hit in enumerate(others):
        rate_hit(hit, make_worker(campaign, f"rater-{k % 2}"), rng)
    return campaign


@pytest.fixture
def campaign(db: None, stored: Campaign) -> Campaign:
    return Campaign.objects.get(pk=stored.pk)


@pytest.fixture
def criteria(campaign: Campaign) -> list[str]:
    return list(campaign.criteria.values_list("name", flat=True))


def file_of(campaign: Campaign, name: str, query: str = "") -> str:
    return reverse("monitoring:export_file", args=[campaign.public_id, name]) + query


def sent(client: Client, campaign: Campaign, name: str, query: str = "") -> bytes:
    response = client.get(file_of(campaign, name, query))
    assert response.status_code == 200
    assert response.streaming
    return response.getvalue()


def rows_in(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


# --- Ratings


@on_both
def test_every_rating_of_finished_hits_is_a_row_in_order(campaign: Campaign, criteria: list[str]) -> None:
    rows = [dict(zip(RATING_COLUMNS, row, strict=True)) for row in in_rows(rating_blocks(campaign))]

    stored = Response.objects.filter(assignment__state=State.FINISHED)
    assert len(rows) == stored.count() == 4 * 10 * len(criteria)
    given = {
        (r.assignment_id, r.item.position, r.criterion.name): (r.score, r.item.output.system.name)
        for r in stored.select_related("item__output__system", "criterion")
    }
    assert {(r["assignment"], r["position"], r["criterion"]): (r["score"], r["system"]) for r in rows} == given
    keys = [(r["assignment"], r["position"], criteria.index(r["criterion"])) for r in rows]
    assert keys == sorted(keys)
    assert {r["kind"] for r in rows} == {"ordinary", "degraded", "repeat"}
    assert {r["state"] for r in rows} == {"finished"}


@on_both
def test_an_analysis_reads_the_same_rows_without_state_and_times(campaign: Campaign) -> None:
    assert list(in_rows(score_blocks(campaign))) == [row[:9] for row in in_rows(rating_blocks(campaign))]
    assert RATING_COLUMNS[:9][-1] == "score"


@on_both
def test_all_states_bring_the_half_done_ones(campaign: Campaign, criteria: list[str]) -> None:
    rows = list(in_rows(rating_blocks(campaign, states=ALL_STATES)))
    assert len(rows) == Response.objects.count() == (4 * 10 + 4) * len(criteria)
    assert {row[RATING_COLUMNS.index("state")] for row in rows} == {"finished", "active"}


@on_both
def test_seconds_are_what_the_browser_reported_else_since_the_item_before(campaign: Campaign, criteria) -> None:
    assignment = campaign.assignments.filter(state=State.FINISHED).first()
    reported, lost = assignment.events.filter(kind="rated")[:2]
    Event.objects.filter(pk=reported.pk).update(data={"shown_ms": 1234})
    Event.objects.filter(pk=lost.pk).update(data={})

    rows = [dict(zip(RATING_COLUMNS, row, strict=True)) for row in in_rows(rating_blocks(campaign))]

    seconds = {r["position"]: r["seconds"] for r in rows if r["assignment"] == assignment.pk}
    assert seconds[1] == 1.234
    assert seconds[2] == pytest.approx((lost.at - reported.at).total_seconds(), abs=1e-3)
    assert all(r["rated_at"].endswith("Z") for r in rows)


def test_rows_come_by_few_queries_however_many_there_are(owner: User, campaign: Campaign, rng) -> None:
    large = make_campaign(owner)
    build(large, n_hits=30, n_systems=2)
    rate(large, 10, rng)
    counts = []
    for each in (campaign, large):
        with CaptureQueriesContext(connection) as queries:
            assert sum(1 for _ in in_rows(rating_blocks(each)))
        counts.append(len(queries))
    assert counts[0] == counts[1]


@on_both
def test_chunks_lose_nothing_at_their_ends(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, items = (list(in_rows(blocks(campaign))) for blocks in (rating_blocks, item_blocks))
    assignments = list(iter_assignments(campaign))
    for size in (1, 2, 4, 5):
        monkeypatch.setattr("annotation.export.rows._ASSIGNMENTS_AT_ONCE", size)
        monkeypatch.setattr("annotation.export.rows._HITS_AT_ONCE", size)
        assert list(in_rows(rating_blocks(campaign))) == ratings
        assert list(in_rows(item_blocks(campaign))) == items
        assert list(iter_assignments(campaign)) == assignments


# --- What the analysis makes of it


def load(path: Path, criteria: list[str]) -> LoadedRatings:
    loaded = load_ratings(path, criteria=criteria)
    assert loaded.warnings == []
    return loaded


@pytest.mark.parametrize("name", ["ratings.csv", "ratings.jsonl", "ratings.parquet"])
def test_the_analysis_reads_every_format_as_the_same_ratings(
    owner_client: Client, campaign: Campaign, criteria: list[str], tmp_path: Path, name: str
) -> None:
    written = tmp_path / "written.csv"
    with written.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, RATING_COLUMNS, in_rows(rating_blocks(campaign)))
    path = tmp_path / name
    path.write_bytes(sent(owner_client, campaign, name))

    loaded = load(path, criteria)

    assert loaded.fingerprint == load(written, criteria).fingerprint
    assert loaded.ratings.scores.size == 4 * 10 * len(criteria)
    assert len(loaded.workers) == 2
    assert len(loaded.assignments) == 4
    assert loaded.systems == ["human", *(f"system-{letter}" for letter in "abcde")]


@on_both
def test_names_that_look_like_formulas_survive(owner_client: Client, campaign: Campaign, criteria, tmp_path) -> None:
    System.objects.filter(campaign=campaign, name="system-a").update(name="=cmd|' /C calc'!A0")
    content = sent(owner_client, campaign, "ratings.csv")
    assert b",'=cmd" in content
    path = tmp_path / "ratings.csv"
    path.write_bytes(content)
    assert "=cmd|' /C calc'!A0" in load(path, criteria).systems


def test_the_command_line_analyses_the_export(campaign: Campaign, rng, tmp_path: Path, capsys) -> None:
    path = tmp_path / "ratings.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        write_csv(stream, RATING_COLUMNS, in_rows(rating_blocks(campaign)))
    call_command("analyse", path, protocol=campaign.protocol, format="json")
    summary = json.loads(capsys.readouterr().out)
    assert summary["workers"]


def test_ratings_of_hits_drawn_at_random_have_their_weights_in_every_format(
    owner_client: Client, campaign: Campaign
) -> None:
    for k, assignment in enumerate(campaign.assignments.order_by("started_at", "pk")):
        campaign.assignments.filter(pk=assignment.pk).update(draw_probability=0.2 + k / 8, even_probability=0.4)
    files = {name: sent(owner_client, campaign, name, "?states=all") for name in FILES if name.startswith("ratings.")}
    of_csv = [row[DRAW_WEIGHT] for row in rows_in(files["ratings.csv"])]
    assert len(set(of_csv)) > 2 and of_csv.count("") == 4 * campaign.criteria.count(), "one HIT is not finished"
    assert [str(json.loads(line)[DRAW_WEIGHT]) for line in files["ratings.jsonl"].splitlines()] == of_csv
    table = parquet.read_table(io.BytesIO(files["ratings.parquet"]))
    assert table[DRAW_WEIGHT].to_pylist() == [float(cell) if cell else None for cell in of_csv]


# --- Who is who


def test_workers_are_keyed_hashes_the_same_in_every_file(owner_client: Client, campaign: Campaign) -> None:
    ratings = rows_in(sent(owner_client, campaign, "ratings.csv"))
    assignments = rows_in(sent(owner_client, campaign, "assignments.csv"))
    events = [json.loads(line) for line in sent(owner_client, campaign, "events.jsonl").splitlines()]
    hashed = {hashed_name(make_worker(campaign, f"rater-{k}")) for k in (0, 1)}

    assert {row["worker"] for row in ratings} == hashed
    assert {row["worker"] for row in assignments} == {event["worker"] for event in events} > hashed
    for name in FILES:
        content = sent(owner_client, campaign, name, "?states=all")
        assert b"rater-" not in content
        assert b"CODE0" not in content


def test_a_worker_has_the_same_digits_in_exports_and_in_the_analysis(campaign: Campaign) -> None:
    worker = make_worker(campaign, "rater-0")
    digits = hashed_name(worker).removeprefix("w-")
    assert anonymise([worker.name])[worker.name] == f"w1-{digits}"


def test_real_ids_are_for_owners_who_ask(owner_client: Client, campaign: Campaign) -> None:
    assert {r["worker"] for r in rows_in(sent(owner_client, campaign, "ratings.csv", "?ids=real"))} == {
        "rater-0",
        "rater-1",
    }
    [row] = [r for r in rows_in(sent(owner_client, campaign, "assignments.csv", "?ids=real")) if r["hit"] == "2"]
    assert (row["worker"], row["completion_code"][:7]) == ("rater-0", "CODE002")
    assert real_name(make_worker(campaign, "rater-0")) == "rater-0"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("role", ["editor", "viewer"])
def test_no_other_member_takes_out_real_ids(
    colleague: User, colleague_client: Client, stranger_client: Client, campaign: Campaign, role: str, name: str
) -> None:
    add_member(campaign, colleague, role)
    assert colleague_client.get(file_of(campaign, name, "?ids=real")).status_code == 403
    assert "ids=real" not in colleague_client.get(reverse("monitoring:export", args=[campaign.public_id])).text
    assert stranger_client.get(file_of(campaign, name, "?ids=real")).status_code == 404


@pytest.mark.parametrize("name", FILES)
def test_members_take_files_out_and_strangers_do_not(
    colleague: User, colleague_client: Client, stranger_client: Client, campaign: Campaign, name: str
) -> None:
    add_member(campaign, colleague, "viewer")
    response = colleague_client.get(file_of(campaign, name))
    assert response.status_code == 200
    assert name.split(".")[1] in response["Content-Disposition"]
    assert response["Cache-Control"] == "private, no-store"
    assert stranger_client.get(file_of(campaign, name)).status_code == 404
    assert colleague_client.post(file_of(campaign, name)).status_code == 405


@pytest.mark.parametrize(("name", "query"), [("scores.csv", ""), ("ratings.csv", "?states=x"), ("items.csv", "?ids=x")])
def test_what_there_is_not_is_not_found(owner_client: Client, campaign: Campaign, name: str, query: str) -> None:
    assert owner_client.get(file_of(campaign, name, query)).status_code == 404


# --- The other files


@on_both
def test_items_hold_what_workers_were_shown(owner_client: Client, campaign: Campaign) -> None:
    rows = rows_in(sent(owner_client, campaign, "items.csv"))

    assert tuple(rows[0]) == ITEM_COLUMNS
    assert len(rows) == 5 * 10
    first = campaign.hits.get(number=1).items.get(position=7)
    assert rows[6] == {
        "hit": "1",
        "position": "7",
        "kind": "degraded",
        "twin_position": "1",
        "source": first.output.source.name,
        "system": first.output.system.name,
        "text": first.text,
    }


@on_both
def test_assignments_tell_state_times_and_feedback(owner_client: Client, campaign: Campaign) -> None:
    campaign.assignments.filter(hit__number=2).update(feedback="=SUM(1)\nand “more”")

    rows = rows_in(sent(owner_client, campaign, "assignments.csv"))

    assert tuple(rows[0]) == ASSIGNMENT_COLUMNS
    assert (rows[0]["state"], rows[0]["items_rated"], rows[0]["ended"]) == ("active", "4", "")
    assert rows[1]["feedback"] == "'=SUM(1)\nand “more”"
    assert float(rows[1]["seconds"]) > 0


@on_both
def test_events_are_json_lines_in_order(owner_client: Client, campaign: Campaign) -> None:
    events = [json.loads(line) for line in sent(owner_client, campaign, "events.jsonl").splitlines()]

    assert len(events) == Event.objects.count()
    assert [event["event"] for event in events[:5]] == ["started", "rated", "rated", "rated", "rated"]
    assert events[1]["data"]["n_moves"] > 0


def test_a_campaign_without_ratings_gives_empty_tables(owner: User, owner_client: Client, tmp_path: Path) -> None:
    empty, columns = make_campaign(owner), [*RATING_COLUMNS, "output_words"]
    assert sent(owner_client, empty, "ratings.csv").decode().splitlines() == [",".join(columns)]
    assert sent(owner_client, empty, "ratings.jsonl") == b""
    table = parquet.read_table(io.BytesIO(sent(owner_client, empty, "ratings.parquet")))
    assert (table.num_rows, table.column_names) == (0, columns)


def test_parquet_has_numbers_and_times_as_such(owner_client: Client, campaign: Campaign) -> None:
    table = parquet.read_table(io.BytesIO(sent(owner_client, campaign, "ratings.parquet")))
    kinds = dict(zip(table.column_names, map(str, table.schema.types), strict=True))
    assert kinds["score"] == "double"
    assert kinds["rated_at"] == "timestamp[ms, tz=UTC]"


@on_both
def test_the_page_tells_how_many_rows_there_are(owner_client: Client, campaign: Campaign, criteria: list[str]) -> None:
    page = owner_client.get(reverse("monitoring:export", args=[campaign.public_id])).text
    assert f'Of finished HITs <span class="download-note">({40 * len(criteria)} ratings)' in page
    assert 'Items of all HITs <span class="download-note">(50 rows)' in page


def test_pieces_are_made_as_they_are_asked_for() -> None:
    """Memory does not grow with the table: the first piece leaves before the last row is read."""
    n_read = 0

    def rows():
        nonlocal n_read
        for n_read in range(1, 120_001):
            yield (n_read,)

    next(csv_pieces(["n"], in_blocks(rows())))
    assert n_read == 1_000
    next(parquet_pieces(pa.schema([("n", pa.int64())]), in_blocks(rows())))
    assert n_read == 50_000


# --- What the files are


def test_metadata_describe_every_table_by_its_columns(campaign: Campaign, owner_client: Client, tmp_path: Path) -> None:
    campaign.sources.update(attribute_values={"domain": "news"})
    for name in (*FILES, "croissant.json"):
        (tmp_path / name).write_bytes(sent(owner_client, campaign, name))
    metadata = json.loads((tmp_path / "croissant.json").read_text())
    assert metadata["name"] == campaign.name
    assert metadata["isLiveDataset"]

    tables = records_by(tmp_path / "croissant.json")
    assert set(tables) == {"ratings", "assignments", "items"}
    for name, records in tables.items():
        rows = rows_in((tmp_path / f"{name}.csv").read_bytes())
        assert len(records) == len(rows) > 0
        assert [set(record) for record in records] == [set(row) for row in rows]
    assert "domain" in tables["ratings"][0]


def test_every_column_of_a_file_has_a_meaning() -> None:
    columns = {*RATING_COLUMNS, *ASSIGNMENT_COLUMNS, *ITEM_COLUMNS, *DIALOGUE_COLUMNS, *REPLY_SCORE_COLUMNS}
    columns |= {name for table in TABLES.values() for name in table.columns}
    columns |= {*CHAT_COLUMNS, *WORK_COLUMNS, WEIGHT, *SOURCE_COLUMNS, DRAW_WEIGHT, OF_RATERS, "metric"}
    assert {name for name in columns if not is_described(name)} == set()
