"""Tutorial items of Appraise's batches: shown first, rated and saved like others, in files, and in no result."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.results.stored import document_of
from analysis.web.queries.campaigns import judging_settings_of
from analysis.web.queries.finished_work import read_ratings
from analysis.web.queries.workers_now import list_live_workers
from annotation.models import Response
from annotation.monitoring.progress import count_by_system
from annotation.simulation.running import count_items_left, make_crowd, open_site, run_crowd
from campaigns.design.composition import Kind
from campaigns.hit_queries import get_estimate, read_build_inputs
from campaigns.models import Campaign, HitItem
from campaigns.services.copies import duplicate_campaign
from campaigns.services.hits import use_own_hits
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed
from tests.annotation.cast import launch
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import finish, upload, url
from tests.databases import on_both, on_sqlite

N_HITS, N_TUTORIAL, N_OTHERS = 2, 2, 6
STEPS = ("Der Hund schläft.", "Die Katze trinkt.")
TEXTS = ("The dog sleeps.", "The cat drinks.")

# --- A campaign, from its file to its results


def batches() -> str:
    """Return tasks as those of the ESA campaigns are: two steps of a tutorial, then documents of two systems."""
    tasks = []
    for task in range(N_HITS):
        steps = zip(STEPS, TEXTS, strict=True)
        items = [_item(n, "deen-tutorial1", "deen-tutorial1", *texts) for n, texts in enumerate(steps, start=1)]
        for system in ("alpha", "beta"):
            for n in range(2):
                texts = f"Satz {n} von {task}.", f"Sentence {n} of {task}, by {system}."
                items.append(_item(len(items) + 1, f"doc{task}#{system}", f"news.{system}", *texts))
        for n in range(2):
            texts = f"Satz {n} von {task}.", f"Sentence {n} of another, by alpha."
            items.append(_item(len(items) + 1, f"doc{task}#alpha#bad1", "news.alpha", *texts) | {"itemType": "BAD"})
        tasks.append({"items": items, "task": {"requiredAnnotations": 1}})
    return json.dumps(tasks)


def _item(number: int, document: str, target: str, source_text: str, text: str) -> dict[str, Any]:
    of_text = {"sourceText": source_text, "targetText": text, "targetID": target, "sourceID": "news"}
    return {"itemID": number, "itemType": "TGT", "documentID": document, "isCompleteDocument": False, **of_text}


@pytest.fixture(params=["esa", "da-translation", "mqm"])
def imported(request: pytest.FixtureRequest, owner: User, owner_client: Client) -> Campaign:
    """Return a campaign with the HITs of a file."""
    campaign = make_campaign(owner, request.param)
    found = upload(owner_client, campaign, batches(), "batches.json")
    assert owner_client.post(url("columns", campaign, found.pk), {"import": "1"}).status_code == 302
    assert finish(found).imported_at
    campaign.refresh_from_db()
    return campaign


@pytest.fixture
def rated(imported: Campaign) -> Campaign:
    """Return it once two simulated workers have rated a HIT each, on the pages."""
    launch(imported)
    assert count_items_left(imported) == N_HITS * (N_TUTORIAL + N_OTHERS)
    with open_site(None) as client:
        crowd = make_crowd(imported, seed=3, n_workers=N_HITS)
        outcome = run_crowd(imported, crowd, client, max_hits=1)
    assert outcome.errors == []
    imported.refresh_from_db()
    return imported


@on_both
def test_they_are_in_hits_and_in_no_pool(owner: User, owner_client: Client, imported: Campaign) -> None:
    items = list(HitItem.objects.filter(hit__campaign=imported).order_by("hit", "position"))
    kinds = [item.kind == Kind.TUTORIAL for item in items]
    assert kinds == [*[True] * N_TUTORIAL, *[False] * N_OTHERS] * N_HITS
    assert [item.text for item in items if item.output is None] == [*TEXTS] * N_HITS
    assert sorted(imported.systems.values_list("name", flat=True)) == ["news.alpha", "news.beta"]
    assert (imported.n_tutorial, imported.hit_size) == (N_TUTORIAL, N_TUTORIAL + N_OTHERS)
    estimate = get_estimate(imported)
    assert (estimate.n_items, estimate.n_outputs_used, estimate.n_outputs_left_out) == (16, 8, 0)
    page = owner_client.get(reverse("campaigns:hit", args=[imported.public_id, 1]))
    assert page.status_code == 200 and "2 tutorial" in page.text
    assert owner_client.get(reverse("campaigns:design", args=[imported.public_id])).status_code == 200
    copy = duplicate_campaign(campaign=imported, owner=owner, as_replication=True)
    names = ("hit__number", "position", "kind", "text", "fields", "twin_position")
    ours, theirs = (
        HitItem.objects.filter(hit__campaign=each).order_by("hit", "position").values_list(*names)
        for each in (imported, copy)
    )
    assert list(theirs) == list(ours)

    use_own_hits(campaign=imported)  # from what else there is
    imported.refresh_from_db()
    assert imported.n_tutorial == 0
    assert len(read_build_inputs(imported).output_ids) == 8


@on_sqlite  # which the schema of the API is made with
def test_the_api_gives_them_no_system(owner_client: Client, imported: Campaign) -> None:
    listed = owner_client.get(f"/api/v1/campaigns/{imported.public_id}/hits/1/items/").json()
    assert [row["kind"] for row in listed[:3]] == ["tutorial", "tutorial", "ordinary"]
    assert [row["system"] for row in listed[:3]] == [None, None, "news.alpha"]
    assert [row["source"] for row in listed[:2]] == [None, None]


@on_both
def test_they_are_rated_and_in_files(owner_client: Client, rated: Campaign) -> None:
    given = Response.objects.filter(assignment__campaign=rated)
    assert given.filter(item__kind=Kind.TUTORIAL).count() == N_HITS * N_TUTORIAL * rated.criteria.count()
    first = sent(owner_client, rated, "ratings.csv")
    rows = list(csv.DictReader(io.StringIO(first.decode("utf-8-sig"))))
    of_tutorial = [row for row in rows if row["kind"] == "tutorial"]
    assert {(row["position"], row["source"], row["system"]) for row in of_tutorial} == {("1", "", ""), ("2", "", "")}
    assert [row["kind"] for row in rows][: N_TUTORIAL * rated.criteria.count()] == ["tutorial"] * (
        len(of_tutorial) // N_HITS
    )
    lines = [json.loads(line) for line in sent(owner_client, rated, "ratings.jsonl").splitlines()]
    table = parquet.read_table(io.BytesIO(sent(owner_client, rated, "ratings.parquet"))).to_pylist()
    items = list(csv.DictReader(io.StringIO(sent(owner_client, rated, "items.csv").decode("utf-8-sig"))))
    for found, n in ((lines, len(of_tutorial)), (table, len(of_tutorial)), (items, N_HITS * N_TUTORIAL)):
        assert [row["kind"] for row in found].count("tutorial") == n


def sent(client: Client, campaign: Campaign, name: str) -> bytes:
    response = client.get(reverse("monitoring:export_file", args=[campaign.public_id, name]))
    assert response.status_code == 200
    return response.getvalue()


@on_both
def test_they_are_in_no_result(rated: Campaign) -> None:
    run = analysed(rated)
    assert run.report is not None
    assert sorted(row["system"] for row in run.report["summary"]["systems"]) == ["news.alpha", "news.beta"]
    assert "Rows of tutorial items" in json.dumps(run.report["warnings"])
    assert sum(each.n_rated for each in count_by_system(rated)) == N_HITS * 4
    assert len(list_live_workers(rated, judging_settings_of(rated), timezone.now())) == N_HITS


@on_both
@pytest.mark.parametrize("imported", ["esa", "da-translation"], indirect=True)
def test_they_are_in_no_array(rated: Campaign) -> None:
    found = read_ratings(rated)
    assert set(found.ratings.kind.tolist()) == {Kind.ORDINARY, Kind.DEGRADED}
    assert found.system_ids == sorted(rated.systems.values_list("pk", flat=True))
    assert (found.ratings.n_systems, found.ratings.source.min()) == (2, 0)
    assert found.ratings.kind.size == N_HITS * N_OTHERS
    times = Response.objects.filter(assignment=found.assignment_ids[0]).order_by("item__position")
    at = dict(times.values_list("item__position", "rated_at"))
    assert found.seconds[0] == pytest.approx((at[3] - at[2]).total_seconds(), abs=0.002), "since the tutorial"


# --- Files of every response method

WORKERS, SOURCES, SYSTEMS = ("ann", "bob", "cid", "dan"), range(8), "ABC"
BEGINNING = ("worker", "assignment", "hit", "position", "source", "system", "kind")
PAGES = ("worker", "assignment", "hit", "page", "source", "criterion")
Row = dict[str, Any]


def outputs_of(rng: np.random.Generator) -> Iterator[tuple[Row, float]]:
    """Yield how the row of each output begins, and how good it is, from 0 to 1; a worker's tutorial stands first."""
    for number, worker in enumerate(WORKERS):
        shown = [("", "", "tutorial")] * 2
        shown += [(f"s{source}", system, "ordinary") for source in SOURCES for system in SYSTEMS]
        shown += [(f"s{source}", "A", "degraded") for source in SOURCES]
        shown += [("s0", "B", "repeat"), ("s1", "C", "repeat")]
        for position, (source, system, kind) in enumerate(shown, start=1):
            cells = (worker, number, 1, position, source, system, kind)
            better = 0.2 * "CBA".find(system or "?") - 0.5 * (kind == "degraded") + rng.uniform(0, 0.3)
            yield dict(zip(BEGINNING, cells, strict=True)), float(np.clip(0.5 + better, 0, 1))


def pages_of(rng: np.random.Generator, n: int) -> Iterator[tuple[Row, list[tuple[float, str]]]]:
    """Yield how the rows of each page of `n` outputs begin, and its systems with how good they seem."""
    for number, worker in enumerate(WORKERS):
        for page in range(30):
            is_tutorial = page < 2
            systems = [""] * n if is_tutorial else [SYSTEMS[(page + k) % 3] for k in range(n)]
            seems = [(rng.uniform(0, 1) + 0.2 * "CBA".find(each or "?"), each) for each in systems]
            cells = (worker, number, 1, page + 1, "" if is_tutorial else f"s{page}", "best")
            kind = "tutorial" if is_tutorial else "ordinary"
            yield dict(zip(PAGES, cells, strict=True)) | {"kind": kind}, seems


def scores(rng: np.random.Generator, criterion: str = "", greatest: int = 100) -> Iterator[Row]:
    for row, good in outputs_of(rng):
        yield row | ({"criterion": criterion} if criterion else {}) | {"score": round(good * greatest)}


def levels(rng: np.random.Generator) -> Iterator[Row]:
    for row in scores(rng, "fluency", 4):
        yield row | {"score": row["score"] + 1}


def senses(rng: np.random.Generator) -> Iterator[Row]:
    for row in scores(rng, "sensible", 1):
        yield from (row, row | {"criterion": "specific"})


def errors(rng: np.random.Generator) -> Iterator[Row]:
    for row, good in outputs_of(rng):
        severity, mark = ("No-error", "{}") if good > 0.7 else ("major" if good < 0.4 else "minor", "<v>{}</v>")
        texts = {"source": "Ein Satz", "target": f"A {mark.format('sentence')}", "category": "Other"}
        about = {"doc": "d", "doc_id": "1", "seg_id": row["source"], "rater": row["worker"], "severity": severity}
        yield {name: row[name] for name in ("system", "kind", "assignment", "hit", "position")} | texts | about


def answers(rng: np.random.Generator) -> Iterator[Row]:
    for row, good in outputs_of(rng):
        yield row | {"answer": "yes" if good > 0.5 else "no", "correct": "yes"}


def edits(rng: np.random.Generator) -> Iterator[Row]:
    words = [f"word{n}" for n in range(10)]
    for row, good in outputs_of(rng):
        yield row | {"output": " ".join(words), "edited": " ".join(words[: round(good * 8) + 2])}


def counts(rng: np.random.Generator) -> Iterator[Row]:
    for row, good in outputs_of(rng):
        yield row | {"present": 5, "correct": round(5 * good), "missing": round(3 * (1 - good))}


def magnitudes(rng: np.random.Generator) -> Iterator[Row]:
    for row, good in outputs_of(rng):
        yield row | {"criterion": "quality", "value": round(20 + 160 * good), "reference": 100}


def votes(rng: np.random.Generator) -> Iterator[Row]:
    for row, seems in pages_of(rng, 2):
        yield row | {"system_a": seems[0][1], "system_b": seems[1][1], "winner": max(seems)[1], "degraded": ""}


def rankings(rng: np.random.Generator) -> Iterator[Row]:
    for row, seems in pages_of(rng, 3):
        for rank, (_, system) in enumerate(sorted(seems, reverse=True), start=1):
            yield row | {"system": system, "rank": rank}


def choices(rng: np.random.Generator) -> Iterator[Row]:
    for row, seems in pages_of(rng, 3):
        shown = {f"system_{n}": system for n, (_, system) in enumerate(seems, start=1)}
        yield row | shown | {"best": max(seems)[1], "worst": min(seems)[1], "degraded": ""}


METHODS = {
    "da-translation": lambda rng: scores(rng, "adequacy"),
    "esa": scores,
    "likert": levels,
    "ssa": senses,
    "mqm": errors,
    "preference": votes,
    "ranking": rankings,
    "best-worst": choices,
    "option-selection": answers,
    "post-edit": edits,
    "fact-count": counts,
    "rank-me": magnitudes,
}


@pytest.mark.parametrize("protocol", METHODS)
def test_a_file_gives_the_same_results_with_and_without_them(protocol: str, tmp_path: Path) -> None:
    rows = list(METHODS[protocol](np.random.default_rng(4)))
    others = [row for row in rows if row["kind"] != "tutorial"]
    assert 0 < len(others) < len(rows)
    settings = from_protocol(protocol)
    method, reports, said = get_method(settings.method), [], []
    for name, some in (("with", rows), ("without", others)):
        path = tmp_path / f"{name}.csv"
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(some)
        report = document_of(method.analyse(method.read(ResponsesFile(path), settings), settings))
        said.append(json.dumps(report.pop("warnings")))
        del report["fingerprint"]  # of some methods, in the order in which the file has its texts
        reports.append(report)
    assert json.dumps(reports[0], sort_keys=True) == json.dumps(reports[1], sort_keys=True)
    assert f"Rows of tutorial items, which are left out: {len(rows) - len(others)}" in said[0]
    assert "tutorial" not in said[1]
