"""Whether the ranking survives: what sections say of it, and the file of sources that lengths come from."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.data.ratings.sources import SourceWords, load_sources
from analysis.methods import DEFAULT, ResponsesFile, get_method
from analysis.methods.settings import AnalysisSettings, load_settings
from analysis.models import AnalysisRun
from analysis.questions.sensitivity import Sensitivity
from analysis.questions.survival import ALPHAS
from analysis.results.answers import SurvivingRanking
from analysis.results.curves import draw_curves, spread_out
from analysis.results.sections import LIGHT
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.tables import TableError
from evalsite.lib.typed_json import from_json
from tests.results import analyse_fully


def answer_of(path: Path, settings: AnalysisSettings, *, has_lengths: bool = False) -> dict[str, Any]:
    """Return how sensitive the ranking of ratings is, whose sources may be given lengths."""
    method = get_method(DEFAULT)
    data = method.read(ResponsesFile(path), settings)
    sources = data.loaded.sources if has_lengths else ()
    words = [SourceWords(source, 1 + k % 9, 30 + k % 40) for k, source in enumerate(sources)]
    report = analyse_fully(method, data, settings, source_words=words)
    return json.loads(json.dumps(report["questions"]["sensitivity"]))


@pytest.fixture(scope="module")
def batch(shared_data) -> dict[str, Any]:
    """What is said of a public batch of Direct Assessment."""
    settings = load_settings("da-translation")
    return answer_of(shared_data / "da-batch" / "ratings.csv", settings, has_lengths=True)


def sections_of(found: dict[str, Any]) -> dict[str, Any]:
    return {section.slug: section for section in Sensitivity().sections(from_json(found, SurvivingRanking))}


def test_the_finding_is_made_of_numbers(batch) -> None:
    sections = sections_of(batch)
    without = batch["without_worker"]
    said = sections["survival"].finding
    assert f"survives in {without['n_same_order']} of {without['n_workers']} cases" in said
    assert f"by more than {without['largest_change']:.3f} ({without['system']})" in said
    assert max(without["change"]) == pytest.approx(without["largest_change"])
    assert all(low <= z <= high for low, z, high in zip(
        without["low"], batch["score"], without["high"], strict=True
    ))  # fmt: skip


def test_the_chosen_alpha_gives_the_result_itself(batch) -> None:
    alpha = batch["alpha"]
    at_chosen = [z[ALPHAS.index(alpha["chosen"])] for z in alpha["score"]]
    assert at_chosen == batch["score"]
    assert alpha["n_workers"][ALPHAS.index(0.05)] == 24  # as published
    assert alpha["n_workers"] == sorted(alpha["n_workers"])


def test_all_lengths_together_give_the_result_itself(batch) -> None:
    lengths = batch["lengths"]
    assert lengths["reference"]["most_words"] == list(range(1, 21))
    assert lengths["input"]["most_words"][-1] == 69  # deciles of long texts
    for text in lengths.values():
        assert [z[-1] for z in text["score"]] == batch["score"]
        assert text["n_observations"] == sorted(text["n_observations"])


def test_without_a_worker_test_there_is_no_alpha(shared_data, tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    rows = [f"w,{system},{source},{score}" for system in "ab" for source, score in ((1, 10), (2, 60))]
    path.write_text("\n".join(["worker,system,source,score", *rows]))
    settings = load_settings("da-translation")
    found = answer_of(path, replace(settings, preset=NO_TEST))
    assert found["alpha"] is None and "every worker counts" not in {each["name"] for each in found["settings"]}
    survival = sections_of(found)["survival"]
    assert "Nobody can be left out" in survival.finding
    tested = answer_of(path, settings)  # nobody can be tested, so no system has a score
    assert tested == {"refused": "There are fewer than two systems with a score."}


def test_names_at_the_ends_of_curves_keep_their_distance() -> None:
    assert spread_out([3.0, 1.0, 1.0, 1.1], 0.5) == pytest.approx([3.0, 1.0333 - 0.5, 1.0333, 1.0333 + 0.5], abs=1e-3)
    assert spread_out([], 1.0) == []
    names = [f"a system with a long name {k}" for k in range(30)]
    figure = draw_curves(LIGHT, [1, 2], {name: [0.1, None] for name in names}, xlabel="x", ylabel="y")
    figure.draw_without_rendering()
    boxes = sorted((t.get_window_extent() for t in figure.axes[0].texts), key=lambda box: box.y0)
    assert len(boxes) == 30
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))


def test_the_page_shows_it(owner_client: Client, done: AnalysisRun) -> None:
    page = owner_client.get(reverse("analysis:sensitivity", args=[done.pk])).text
    assert "Does the ranking survive?" in page and "z-by-alpha.svg" in page


# --- The file of sources


def test_lengths_of_sources_are_read(tmp_path: Path) -> None:
    path = tmp_path / "sources.csv"
    path.write_text("Source,reference_words,note\nq2,7,x\nq1,,y\n")
    assert load_sources(path) == [SourceWords("q1", None), SourceWords("q2", 7)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("name,reference_words\nq1,2\n", "column “source”: there is no such column"),
        ("source,words\nq1,2\n", "“reference_words”: there is no such column"),
        ("source,input_words\nq1,2\nq2,1.5\n", "row 3, column “input_words”: this is not a whole number"),
        ("source,input_words\nq1,2\nq1,3\n", "row 3, column “source”: this source has a row before"),
        ("source,input_words\nq1,many\n", "row 2, column “input_words”"),
    ],
)
def test_what_is_wrong_with_lengths_is_said(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "sources.csv"
    path.write_text(content)
    with pytest.raises(TableError) as refused:
        load_sources(path)
    assert said in str(refused.value)
