"""What stands twice, and what is missing: one rule for the files of every response method."""

import json
from math import nan
from pathlib import Path
from typing import NamedTuple

import pytest
from django.core.management import CommandError

from analysis.data.choices import Choices
from analysis.data.loading import WITH_COPIES, load_scores
from analysis.data.values import is_number
from analysis.methods import list_response_methods
from evalsite.lib.errors import DomainError


class Kept(NamedTuple):
    """A file of a method: its protocol, header and rows, and another answer to what the first row is about."""

    protocol: str
    header: str
    rows: tuple[str, ...]
    other: str


SCORES = ("w,s,A,{}", "w,s,B,{}", "v,s,A,{}", "v,s,B,{}", "w,t,A,{}", "w,t,B,{}", "v,t,A,{}", "v,t,B,{}")


def scores(protocol: str, values: str, other: str, header: str = "worker,source,system,score") -> Kept:
    rows = tuple(row.format(value) for row, value in zip(SCORES, values.split("|"), strict=True))
    return Kept(protocol, header, rows, SCORES[0].format(other))


FILES = {
    "direct_assessment": scores("custom", "80|20|70|30|75|25|60|40", "10"),
    "ordinal": scores("likert", "5|2|4|1|4|2|3|1", "1"),
    "esa": scores("esa", "80|20|70|30|75|25|60|40", "10"),
    "magnitude": scores("magnitude", "8|2|7|3|7|2|6|4", "1", "worker,source,system,value"),
    "choice": scores("option-selection", "x|y|x|y|x|x|y|y", "y", "worker,source,system,answer"),
    "edits": scores(
        "post-edit", "a b,a c|a d,a d|a b,a b|a d,a e|b,b|c,c|b,d|c,c", "a b,z", "worker,source,system,output,edited"
    ),
    "fact_count": scores(
        "fact-count",
        "5,4,1|5,2,3|4,4,1|5,1,4|5,5,0|3,1,2|5,4,1|4,2,3",
        "5,1,1",
        "worker,source,system,present,correct,missing",
    ),
    "preference": Kept(
        *("preference", "worker,source,system_a,system_b,winner"),
        *(("w,s,A,B,A", "v,s,B,A,A", "w,t,A,B,B", "v,t,A,B,tie"), "w,s,A,B,B"),
    ),
    "ranking": Kept(
        *("ranking", "worker,source,system,rank"),
        *(("w,s,A,1", "w,s,B,2", "w,s,C,3", "v,s,A,1", "v,s,B,3", "v,s,C,2"), "w,s,A,3"),
    ),
    "best_worst": Kept(
        *("best-worst", "worker,source,system_1,system_2,system_3,best,worst"),
        *(("w,s,A,B,C,A,C", "v,s,A,B,C,A,B", "w,t,A,B,C,B,C", "v,t,A,B,C,A,C", "u,s,A,B,C,C,A"), "w,s,A,B,C,B,A"),
    ),
    "ssa": Kept(
        *("ssa", "worker,source,system,criterion,score"),
        *(
            tuple(f"{w},{s},{m},{c},1" for w in "wv" for s in "st" for m in "AB" for c in ("sensible", "specific")),
            "w,s,A,sensible,0",
        ),
    ),
}
# An error that a rater marks twice is two errors in every table of this field: rows of marks are no answers.
NO_ANSWERS = {"spans"}


@pytest.fixture
def write(tmp_path: Path):
    def rows(kept: Kept, *more: str) -> Path:
        path = tmp_path / "responses.csv"
        path.write_text("\n".join([kept.header, *kept.rows, *more]))
        return path

    return rows


def test_every_method_is_asked() -> None:
    assert FILES.keys() | NO_ANSWERS == {method.slug for method in list_response_methods()}


@pytest.mark.parametrize("slug", FILES)
def test_an_exact_copy_counts_once_and_another_answer_is_refused(write, analyse, slug: str) -> None:
    kept = FILES[slug]

    def printed(*more: str, **options: str) -> tuple[str, str]:
        no_test = {} if slug in ("preference", "ranking", "best_worst", "choice") else {"worker_test": "none"}
        scale = {"scale": [0, 100]} if slug == "direct_assessment" else {}
        return analyse(write(kept, *more), protocol=kept.protocol, format="json", **scale, **no_test, **options)

    alone, said = printed()
    assert "count once" not in said
    copied, said = printed(kept.rows[0])
    assert copied == alone
    assert "Exact copies of another row, which count once: 1." in said
    with pytest.raises((CommandError, DomainError), match=r"--twice") as refused:
        printed(kept.other)
    assert f"row {len(kept.rows) + 2}" in str(refused.value) and "row 2 " in str(refused.value)
    assert printed(kept.other, twice="first")[0] == alone
    last, said = printed(kept.other, twice="last")
    assert last != alone
    assert "of which the last counts: 1" in said


@pytest.mark.parametrize("slug", ["direct_assessment", "ordinal", "esa"])
@pytest.mark.parametrize("word", ["", "NA", "n/a", "NaN", "null", "-"])
def test_missing_scores_are_left_out_and_counted(write, analyse, slug: str, word: str) -> None:
    kept = FILES[slug]
    scale = {"scale": [0, 100]} if slug == "direct_assessment" else {}
    options = {"protocol": kept.protocol, "format": "json", "worker_test": "none", **scale}
    alone, _ = analyse(write(kept), **options)
    found, said = analyse(write(kept, SCORES[0].replace(",s,", ",u,").format(word)), **options)
    assert found == alone
    assert "one answer is missing" in said and "left out: 1" in said


def test_a_mean_of_answers_that_are_no_numbers_is_refused(write, analyse) -> None:
    kept = FILES["preference"]
    with pytest.raises(CommandError, match="are no numbers and have no mean"):
        analyse(write(kept, kept.other), protocol=kept.protocol, twice="mean")


def test_a_mean_counts_once(write, analyse) -> None:
    kept = FILES["ordinal"]
    _, said = analyse(write(kept, kept.other), protocol=kept.protocol, twice="mean")
    assert "of which the mean counts: 1" in said


@pytest.mark.parametrize("slug", FILES)
def test_each_language_pair_has_a_result_of_its_own(write, analyse, slug: str) -> None:
    """Source s of en-de is not source s of en-zh: no answer stands twice, and none is pooled unless that is said."""
    kept = FILES[slug]
    no_test = {} if slug in ("preference", "ranking", "best_worst", "choice") else {"worker_test": "none"}
    scale = {"scale": [0, 100]} if slug == "direct_assessment" else {}
    options = {"protocol": kept.protocol, "format": "json", **scale, **no_test}
    alone = json.loads(analyse(write(kept), **options)[0])
    both = [f"{row},{pair}" for pair in ("en-de", "en-zh") for row in kept.rows]
    path = write(kept._replace(header=f"{kept.header},language_pair", rows=tuple(both)))
    found, said = analyse(path, **options)
    assert json.loads(found) == {"tasks": {"en-de": alone, "en-zh": alone}}
    assert "answers of 2 tasks" in said
    pooled, said = analyse(path, **options, pool=True)
    assert "tasks" not in json.loads(pooled)
    assert "analysed as one" in said


def _level(cell: str) -> float:
    return float(cell) if is_number(cell) else nan


def test_a_mean_changes_no_other_score(tmp_path: Path) -> None:
    """Degraded items and repeats are given once more by design: they keep their scores, whatever else stands twice."""
    path = tmp_path / "kinds.csv"
    rows = ["w,s,A,5,ordinary", "w,s,A,2,degraded", "w,s,A,4,repeat", "w,s,A,3,repeat", "w,s,A,1,ordinary", "w,t,A,4,"]
    path.write_text("\n".join(["worker,source,system,score,kind", *rows]))
    choices = Choices(twice="mean")
    data = load_scores(path, _level, "a level", criterion="score", choices=choices, kinds=WITH_COPIES)
    assert data.score.tolist() == [3, 2, 4, 3, 4]
