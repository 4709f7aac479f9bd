"""Pools of workers inside one result: from a column of the ratings to a section, and into the package."""

import json
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import AnalysisSettings, RatedCriterion
from analysis.methods.study.pools import Pools, resamples_of
from analysis.methods.study.report import report
from analysis.methods.study.study import Study, run_study
from analysis.results.exports import to_csv
from analysis.results.package import write_package
from analysis.results.reading import completed
from analysis.results.sections import LIGHT
from analysis.results.stored import as_result

SYSTEMS = ("alder", "birch", "cedar", "elm")


def ratings(tmp_path, pool_of, *, opposed: str = "") -> Study:
    """Ten workers rate four systems; those of the pool `opposed` the other way round."""
    rng = np.random.default_rng(1)
    lines = ["worker,system,source,pool,score"]
    for k in range(10):
        pool = pool_of(k)
        for source in range(6):
            for s, system in enumerate(SYSTEMS):
                merit = 20 * s if pool == opposed else 60 - 20 * s
                lines.append(f"w{k},{system},q{source},{pool},{np.clip(20 + merit + rng.normal(0, 4), 0, 100):.0f}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines))
    settings = AnalysisSettings("custom", (RatedCriterion("quality", "The text is good."),), "none")
    return run_study(load_ratings(path, criteria=["quality"]), settings)


def crowd_or_lab(k: int) -> str:
    return "crowd" if k < 6 else "lab"


def table_of(sections: list[Any], name: str) -> list[dict[str, Any]]:
    table = next(each for section in sections for each in section.tables if each.name == name)
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def test_pools_that_see_the_systems_otherwise_are_found(tmp_path) -> None:
    study = ratings(tmp_path, crowd_or_lab, opposed="lab")
    (section,) = Pools().sections(as_result(report(study)))
    assert section.page == "reliability"
    pair = table_of([section], "pools-pairs")[0]
    assert pair["pools"] == "crowd – lab" and pair["r"] < -0.9 and pair["p"] < 0.02
    assert "“crowd” and “lab” score the systems less alike than random divisions" in section.finding
    systems = {row["system"]: row for row in table_of([section], "pools-systems")}
    z = study.analysis.observations
    of_lab = np.isin(study.ratings.worker, [6, 7, 8, 9]) & (study.ratings.system == 0)
    assert systems["alder"]["lab"] == pytest.approx(z.overall_z[of_lab].mean())
    assert [(row["pool"], row["workers"], row["ratings that count"]) for row in table_of([section], "pools")] == [
        ("crowd", 6, 144),
        ("lab", 4, 96),
    ]
    axes = section.figures[0].draw(LIGHT).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("z, crowd", "z, lab")


def test_pools_that_see_them_alike_are_not_told_apart(tmp_path) -> None:
    (section,) = Pools().sections(as_result(report(ratings(tmp_path, crowd_or_lab))))
    assert table_of([section], "pools-pairs")[0]["r"] > 0.95
    assert "about as alike as" in section.finding


def test_pools_of_results_of_before_are_shown(tmp_path) -> None:
    found = report(ratings(tmp_path, crowd_or_lab, opposed="lab"))
    before = json.loads(json.dumps(found))
    for pool in before["pools"]["pools"]:
        pool["z"] = pool.pop("scores")
    (old,), (new,) = Pools().sections(as_result(before)), Pools().sections(as_result(found))
    assert replace(old, figures=()) == replace(new, figures=())


def test_one_pool_or_none_is_not_compared(tmp_path) -> None:
    for pool_of in (lambda k: "crowd", lambda k: "", lambda k: "lab" if k == 0 else ""):
        found = report(ratings(tmp_path, pool_of))
        assert "pools" not in found and not Pools().sections(as_result(found))


def test_a_worker_in_two_pools_belongs_to_none_and_is_named(tmp_path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("worker,system,rater group,score\na,x,crowd,1\na,y,lab,70\nb,x,,30\nc,x,lab,90\n")
    loaded = load_ratings(path, criteria=["quality"])
    assert loaded.pools == ("", "", "lab")
    (warning,) = [each for each in loaded.warnings if each.code == "several_pools"]
    assert (warning.count, warning.examples) == (1, ("a",))


def test_pools_are_part_of_the_fingerprint_and_of_the_package(tmp_path) -> None:
    study, without = ratings(tmp_path, crowd_or_lab), ratings(tmp_path, lambda k: "")
    assert study.loaded.fingerprint != without.loaded.fingerprint
    names = {worker: worker for worker in study.loaded.workers}
    write_package(tmp_path / "package.zip", completed(as_result(report(study))), names, study=study)
    with zipfile.ZipFile(tmp_path / "package.zip") as package:
        (tmp_path / "again.csv").write_bytes(package.read("ratings.csv"))
        table = package.read("tables/pools-pairs.csv")
    again = load_ratings(tmp_path / "again.csv", criteria=["quality"])
    assert again.pools == study.loaded.pools and table in _tables(run_study(again, study.settings))


def _tables(study: Study) -> list[bytes]:
    return [
        to_csv(table).encode() for section in Pools().sections(as_result(report(study))) for table in section.tables
    ]


def test_scores_of_resampled_workers_centre_on_the_scores(tmp_path) -> None:
    study = ratings(tmp_path, crowd_or_lab)
    found = report(study)
    draws = resamples_of(found["resampled"], SYSTEMS, None)
    assert draws is not None and draws.shape == (200, 4)
    z = {row["system"]: row["z"] for row in found["summary"]["systems"]}
    assert draws.mean(axis=0) == pytest.approx([z[name] for name in SYSTEMS], abs=0.02)
    assert resamples_of(found["resampled"], [*SYSTEMS, "other"], None) is None
    assert resamples_of(found["resampled"], SYSTEMS, "fluency") is None
