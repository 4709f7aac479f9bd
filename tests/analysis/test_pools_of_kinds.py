"""Pools of workers of every kind of response: from a column of groups, or a campaign's raters, to the page."""

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from campaigns.design.worker_test import NO_TEST
from tests.analysis.test_questions import SIMULATED
from tests.analysis.test_stored_order import simulated
from tests.results import analyse_fully, sections_of

PROTOCOLS = {"ordinal": "likert", "esa": "esa", "preference": "preference", "ranking": "ranking"}
HEADERS = {
    "ordinal": "worker,source,system,score,expertise,domain",
    "esa": "worker,source,system,score,expertise,domain",
    "preference": "worker,source,system_a,system_b,winner,expertise,domain",
    "ranking": "worker,source,system,rank,expertise,domain",
}
SYSTEMS = ("alder", "birch", "cedar", "elm")


def crowd_or_lab(k: int) -> str:
    return "crowd" if k < 6 else "lab"


def write(
    path: Path, kind: str, pool_of: Callable[[int], str] = crowd_or_lab, *, opposed: str = "", only: str = ""
) -> Path:
    """Write what ten workers say of four systems, those of the pool `opposed` the other way round."""
    rng, rows = np.random.default_rng(4), []
    for k in range(10):
        pool = pool_of(k)
        sign = -1 if pool == opposed else 1
        for source in range(24 if kind == "preference" else 12):
            merit = sign * np.array([1.5, 0.5, -0.5, -1.5]) + rng.normal(0, 1.2, 4)
            about = [f"w{k}", f"q{source}"], [pool, "news" if source % 2 else "chat"]
            if only and pool != only:
                continue
            if kind == "preference":
                a, b = rng.permutation(4)[:2]
                rows.append([*about[0], SYSTEMS[a], SYSTEMS[b], "a" if merit[a] > merit[b] else "b", *about[1]])
                continue
            ranks = np.argsort(np.argsort(-merit)) + 1
            cells = {
                "ordinal": np.clip(np.round(3 + merit), 1, 5).astype(int),
                "esa": np.clip(50 + 15 * merit, 0, 100).round(),
                "ranking": ranks,
            }[kind]
            rows += [[*about[0], system, cell, *about[1]] for system, cell in zip(SYSTEMS, cells, strict=True)]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows([HEADERS[kind].split(","), *rows])
    return path


def analysed(path: Path, kind: str, **changes: Any) -> dict[str, Any]:
    method = get_method(kind)
    settings = replace(
        from_protocol(PROTOCOLS[kind]), **{"preset": NO_TEST, "groups": ("expertise", "domain")} | changes
    )
    return json.loads(json.dumps(analyse_fully(method, method.read(ResponsesFile(path), settings), settings)))


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_pools_that_see_the_systems_otherwise_are_found(kind: str, tmp_path: Path) -> None:
    report = analysed(write(tmp_path / "all.csv", kind, opposed="lab"), kind)
    [found] = report["questions"]["pools"]["groupings"]
    assert found["by"] == "expertise", "a domain is no pool of workers"
    [pair] = found["pairs"]
    assert pair["pools"] == ["crowd", "lab"] and pair["r"] < -0.8 and pair["p"] < 0.05 and pair["r"] < pair["random"]
    assert [(pool["n_workers"], pool["n_kept"]) for pool in found["pools"]] == [(6, 6), (4, 4)]
    shown = next(each for each in sections_of(report, "reliability") if each.slug == "pools-expertise")
    assert "“crowd” and “lab” score the systems less alike than random divisions" in shown.finding
    assert {table.name for table in shown.tables} == {f"pools-expertise{end}" for end in ("", "-pairs", "-systems")}


@pytest.mark.parametrize("kind", ["ordinal", "esa", "ranking"])
def test_a_pool_scores_systems_as_a_file_of_its_workers_does(kind: str, tmp_path: Path) -> None:
    [found] = analysed(write(tmp_path / "all.csv", kind), kind)["questions"]["pools"]["groupings"]
    alone = analysed(write(tmp_path / "lab.csv", kind, only="lab"), kind, groups=())
    scores = {row["system"]: row["score"] for row in alone["summary"]["systems"]}
    lab = next(pool for pool in found["pools"] if pool["name"] == "lab")
    assert lab["scores"] == pytest.approx([scores[name] for name in found["order"]])
    [pair] = found["pairs"]
    of = np.array([pool["scores"] for pool in found["pools"]])
    assert pair["r"] == pytest.approx(np.corrcoef(of)[0, 1])
    assert pair["r"] > 0.8 and pair["p"] > 0.05


@pytest.mark.parametrize("kind", SIMULATED)
def test_each_kind_says_who_gave_each_answer(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def remember(method: Any, data: Any, settings: Any) -> dict[str, Any]:
        seen["answered"] = method.answered_by(data)
        return analyse_fully(method, data, settings)

    monkeypatch.setattr("tests.analysis.test_stored_order.analyse_fully", remember)
    report, answered = simulated(kind, tmp_path), seen["answered"]
    n_answers = dict(zip(answered.workers, np.bincount(answered.worker).tolist(), strict=True))
    assert {row["worker"] for row in report["worker_table"]} == n_answers.keys()
    assert min(n_answers.values()) > 0


@pytest.mark.parametrize(
    "pool_of", [lambda k: "lab", lambda k: "", lambda k: f"pool {k}"], ids=["one", "none", "one for each worker"]
)
def test_columns_that_part_no_workers_make_no_pools(pool_of: Callable[[int], str], tmp_path: Path) -> None:
    report = analysed(write(tmp_path / "all.csv", "ordinal", pool_of), "ordinal")
    assert "pools" not in report["questions"]


def test_pools_of_which_one_alone_counts_are_not_compared(tmp_path: Path) -> None:
    excluded = {f"w{k}": "by hand" for k in range(6)}
    report = analysed(write(tmp_path / "all.csv", "ordinal"), "ordinal", excluded=excluded)
    assert report["questions"]["pools"] == {"refused": "All workers who count belong to one pool."}


def test_the_page_shows_pools_that_were_asked_for(upload, start, owner_client: Client, tmp_path: Path) -> None:
    path = write(tmp_path / "all.csv", "ordinal", opposed="lab")
    run = start(upload(path.read_bytes()), replace(from_protocol("likert"), groups=("expertise",)))
    page = owner_client.get(reverse("analysis:reliability", args=[run.pk])).text
    assert "Pools of workers by expertise" in page and "less alike than random divisions" in page
    table = owner_client.get(reverse("analysis:run_file", args=[run.pk, "tables/pools-expertise-systems.csv"]))
    assert table.getvalue().startswith(b"system,crowd,lab")
