"""Answers written in any shape, by any names, are read back as the same table."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.data.choices import Choices
from analysis.data.layout import Shape, find_layout
from analysis.data.loading import SCORE_NAMES, load_scores
from analysis.data.ratings.loading import load_ratings
from analysis.data.responses import Responses
from analysis.data.values import is_number, read_values
from evalsite.lib.tables import TableError

AGREEMENT = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
GERMAN = ("sehr schlecht", "schlecht", "mittel", "gut", "sehr gut")
MISSING = ("", "NA", "n/a", "nan", "null", "None", "-")
WORKER = ("worker", "annotator", "Rater ID", "judge", "coder", "participant_id")
SOURCE = ("source", "item", "segment_id", "example_id", "doc", "question_id")
SYSTEM = ("system", "model", "Model name", "engine")
SCORE = ("score", "rating", "answer", "label", "response")
CRITERION = ("criterion", "dimension", "aspect", "question")

Key = tuple[str, str, str, str]
"""Rater, source, system, criterion."""


@dataclass(frozen=True)
class Written:
    """Answers, and a file that holds them; `known` are the names of things that the file's shape can say."""

    answers: Mapping[Key, float]
    name: str
    content: str


@st.composite
def values(draw: st.DrawFn) -> tuple[dict[float, str], str]:
    """Return how each score is written, and the delimiter of the file."""
    way = draw(st.sampled_from(["number", "comma", "words", "German", "numbered"]))
    delimiter = draw(st.sampled_from(";\t" if way == "comma" else ",;\t"))
    if way == "comma":
        return {level: f"{level},{draw(st.integers(0, 9))}" for level in range(1, 6)}, delimiter
    if way == "number":
        return {level: str(level) for level in range(1, 6)}, delimiter
    if way == "numbered":
        form = draw(st.sampled_from(["{} - {}", "{} ({})", "{}: {}", "{}. {}"]))
        return {level: form.format(level, AGREEMENT[level - 1]) for level in range(1, 6)}, delimiter
    words = AGREEMENT if way == "words" else GERMAN
    return {level: words[level - 1] for level in range(1, 6)}, delimiter


@st.composite
def written(draw: st.DrawFn) -> Written:
    """Return a file of levels from 1 to 5 in one of the shapes."""
    shape = draw(st.sampled_from(["long", "criteria", "raters", "both", "systems", "nested", "lists"]))
    say, delimiter = draw(values())
    n_raters, n_sources = draw(st.integers(2, 4)), draw(st.integers(3, 6))
    systems = draw(st.sampled_from([["alpha", "beta"], ["GPT-4", "T5 (base)", "human"]]))
    criteria = ["fluency", "adequacy"] if shape in ("long", "criteria", "both", "nested", "lists") else [""]
    stem = draw(st.sampled_from(["A", "rater_", "annotator ", "R"]))
    raters = [f"{stem}{n}" for n in range(1, n_raters + 1)]
    sources = [f"{n:03}" for n in range(n_sources)]
    keys = [(r, s, m, c) for s in sources for m in systems for c in criteria for r in raters]
    levels = {key: draw(st.integers(1, 5)) for key in keys}
    levels |= dict(zip(keys, [1, 2, 3, 4, 5], strict=False))  # each occurs, and a scale is known by its words
    gone = draw(st.sets(st.sampled_from(keys[5:]), max_size=4))
    empty = draw(st.sampled_from(MISSING))
    cells = {key: empty if key in gone else say[level] for key, level in levels.items()}
    score_of = {level: text.replace(",", ".") for level, text in say.items()}
    score_of = score_of if is_number(score_of[1]) else dict.fromkeys(say) | {level: str(level) for level in say}
    right = {key: float(score_of[levels[key]]) for key in keys if key not in gone}
    worker, source, system = (draw(st.sampled_from(names)) for names in (WORKER, SOURCE, SYSTEM))
    rows: list[dict[str, str]] = []
    if shape == "long":
        score, criterion = draw(st.sampled_from(SCORE)), draw(st.sampled_from(CRITERION))
        rows = [{worker: r, source: s, system: m, criterion: c, score: cells[r, s, m, c]} for r, s, m, c in keys]
    elif shape == "criteria":
        rows = [
            {source: s, worker: r, system: m, **{c: cells[r, s, m, c] for c in criteria}}
            for s in sources
            for m in systems
            for r in raters
        ]
    elif shape == "raters":
        rows = [{source: s, system: m, **{r: cells[r, s, m, ""] for r in raters}} for s in sources for m in systems]
    elif shape == "both":
        form = draw(st.sampled_from(["{c}_{r}", "{r}.{c}", "{r}: {c}"]))
        rows = [
            {source: s, system: m, **{form.format(c=c, r=r): cells[r, s, m, c] for c in criteria for r in raters}}
            for s in sources
            for m in systems
        ]
    elif shape == "systems":
        rows = [{source: s, worker: r, **{m: cells[r, s, m, ""] for m in systems}} for s in sources for r in raters]
    else:
        return Written(
            _by_place(right, raters), "answers.json", _nested(draw, shape, cells, criteria, raters, sources, systems)
        )
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return Written(right, "answers.csv", file.getvalue())


def _by_place(answers: Mapping[Key, float], raters: list[str]) -> dict[Key, float]:
    return {(str(raters.index(r) + 1), s, m, c): score for (r, s, m, c), score in answers.items()}


def _nested(draw, shape, cells, criteria, raters, sources, systems) -> str:
    def held(s: str, m: str) -> object:
        if shape == "nested":
            return [{c: cells[r, s, m, c] for c in criteria} for r in raters]
        return {c: [cells[r, s, m, c] for r in raters] for c in criteria}

    outputs = [(s, m) for s in sources for m in systems]
    objects = [{"id": s, "model": m, "output": f"text of {m}", "annotations": held(s, m)} for s, m in outputs]
    return json.dumps(objects) if draw(st.booleans()) else "\n".join(map(json.dumps, objects))


def number(cell: str) -> float:
    return float(cell) if is_number(cell) else nan


def read(path: Path, choices: Choices = Choices()) -> Responses:  # noqa: B008
    return load_scores(path, number, "a number", criterion="", criteria=["fluency"], choices=choices)


def table(data: Responses) -> dict[Key, float]:
    rows = zip(data.worker, data.source, data.system, data.criterion, data.score.tolist(), strict=True)
    return {(data.workers[w], data.sources[s], data.systems[m], data.criteria[c]): score for w, s, m, c, score in rows}


@given(file=written())
def test_what_was_written_in_any_shape_is_read_back(tmp_path_factory: pytest.TempPathFactory, file: Written) -> None:
    path = tmp_path_factory.mktemp("shapes") / file.name
    path.write_text(file.content, encoding="utf-8", newline="")
    found = table(read(path))
    assert {tuple(map(plain, key)): score for key, score in found.items()} == {
        tuple(map(plain, key)): score for key, score in file.answers.items()
    }
    criteria = sorted({criterion for _, _, _, criterion in file.answers})
    loaded = load_ratings(path, criteria=criteria if criteria != [""] else ["score"], scale=(0, 10))
    scores = loaded.ratings.scores
    assert sorted(scores[~np.isnan(scores)].tolist()) == sorted(file.answers.values())
    assert (len(loaded.workers), len(loaded.systems)) == tuple(len({key[k] for key in file.answers}) for k in (0, 2))


def plain(name: str) -> str:
    return name.strip()


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["71,1", "80", "NA"], ["71.1", "80", ""]),
        (["1,5", "2.5"], ["1,5", "2.5"]),  # two marks in one file: neither is guessed
        (["4 (good)", "3 - fair", "none"], ["4", "3", ""]),
        (["Yes", "no", "-"], ["1", "0", ""]),
        (["oui", "non"], ["1", "0"]),
        (["非常同意", "不同意"], ["5", "2"]),
        (["d’accord", "pas d'accord"], ["4", "2"]),
        (["muy bueno", "regular", "malo"], ["5", "3", "2"]),
        (["4/5", "3 / 5", "NA"], ["4", "3", ""]),
        (["4/5", "3/7"], ["4/5", "3/7"]),  # of two scales
        (["3 out of 5", "5 out of 5"], ["3", "5"]),
        (["95%", "7,5 %"], ["95", "7.5"]),
        (["good", "good"], ["good", "good"]),  # one word is of many scales
        (["good", "purple"], ["good", "purple"]),
    ],
)
def test_values_of_a_file_are_read_in_one_way(cells: list[str], numbers: list[str]) -> None:
    assert [read_values(cells, is_number).number_of(cell) for cell in cells] == numbers


def test_words_of_ones_own_scale_are_levels_in_their_order() -> None:
    cells = ["meh", "wow", "ugh"]
    assert read_values(cells, is_number, Choices(words=("ugh", "meh", "wow"))).changed == {
        "meh": "2",
        "wow": "3",
        "ugh": "1",
    }


def test_a_shape_that_somebody_names_goes_before_what_is_guessed() -> None:
    columns, rows = ["item", "worker", "precision", "recall"], [["1", "w", "3", "4"]]
    assert find_layout(columns, rows, SCORE_NAMES, can_read=is_number).shape is Shape.CRITERIA
    said = find_layout(columns, rows, SCORE_NAMES, can_read=is_number, choices=Choices(shape="systems"))
    assert [dict(each.says) for each in said.answers] == [{"system": "precision"}, {"system": "recall"}]


def test_a_word_that_somebody_says_means_missing_hides_no_rater(tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text("item,system,A1,A2\n1,x,4,keine Angabe\n2,x,5,3\n", encoding="utf-8")
    data = read(path, Choices(missing=("keine Angabe",)))
    assert (data.workers, sorted(data.score.tolist())) == (["A1", "A2"], [3, 4, 5])


def test_a_column_of_one_word_is_of_the_scale_of_the_others(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("item,system,A1,A2,note\n1,x,Agree,Disagree,fine\n2,x,Agree,Agree,\n3,x,Agree,NA,\n")
    assert table(read(path)) == {
        ("A1", "1", "x", ""): 4,
        ("A2", "1", "x", ""): 2,
        **{(rater, "2", "x", ""): 4 for rater in ("A1", "A2")},
        ("A1", "3", "x", ""): 4,
    }


def test_short_rows_are_refused_by_their_line(tmp_path: Path) -> None:
    path = tmp_path / "short.csv"
    path.write_text("worker,item,system,question,answer\nw,1,A,fluency,2\nw,1\nw,1,A,clarity,3\n")
    with pytest.raises(TableError) as refused:
        read(path)
    assert [(problem.row, problem.code) for problem in refused.value.problems] == [(3, "ragged_row")]


def test_ids_are_one_whatever_nobody_sees(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("worker,source,system,score\nZoe\u0301,01,A\u200b,1\nZo\u00e9,02,A,2\nzo\u00e9,01,A,3\n")
    data = read(path)
    assert (data.workers, data.systems, data.sources) == (["Zo\u00e9", "zo\u00e9"], ["A"], ["01", "02"])
    assert [warning.code for warning in data.warnings] == ["capitals"]


def test_a_column_may_be_of_a_system_and_a_criterion(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(
        "worker,item,ours_fluency,ours_coherence,base_fluency,base_coherence\nann,1,5,4,3,2\nbob,1,4,4,2,1\n"
    )
    assert table(read(path)) == {
        ("ann", "1", "ours", "fluency"): 5,
        ("ann", "1", "ours", "coherence"): 4,
        ("ann", "1", "base", "fluency"): 3,
        ("ann", "1", "base", "coherence"): 2,
        ("bob", "1", "ours", "fluency"): 4,
        ("bob", "1", "ours", "coherence"): 4,
        ("bob", "1", "base", "fluency"): 2,
        ("bob", "1", "base", "coherence"): 1,
    }
    path.write_text("worker,item,gpt_4,gpt_5\nann,1,5,4\n")  # names of systems, whatever they look like
    assert read(path).systems == ["gpt_4", "gpt_5"]


def test_the_column_that_tells_answers_apart_is_of_workers_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    about = [f"{item},{system}" for item in ("1,news", "2,chat") for system in ("x", "y")]
    rows = [f"{who},{each},4" for who in ("ann", "bob") for each in about]
    path.write_text("\n".join(["Gutachter,item,domain,system,score", *rows]))
    assert read(path).workers == ["ann", "bob"]
    path.write_text("\n".join(["Gutachter,day,item,domain,system,score", *(f"{row[:3]},{row}" for row in rows)]))
    with pytest.raises(TableError, match="no column “worker”"):  # two columns could be it
        read(path)


def test_a_table_of_json_may_be_written_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "frame.json"
    columns = {"worker": ["ann", "bob"], "item": [1, 1], "system": ["x", "x"], "score": [4, 2]}
    path.write_text(json.dumps({name: {str(k): cell for k, cell in enumerate(each)} for name, each in columns.items()}))
    assert table(read(path)) == {("ann", "1", "x", ""): 4, ("bob", "1", "x", ""): 2}


def test_a_column_of_types_is_one_of_kinds_only_if_it_has_their_words(tmp_path: Path) -> None:
    path = tmp_path / "types.csv"
    path.write_text("worker,item,system,type,score\nann,1,x,news,4\nann,2,x,chat,2\n")
    assert read(path).n == 2
    path.write_text("worker,item,system,type,score\nann,1,x,ordinary,4\nann,1,x,repeat,2\n")
    assert read(path).kind.tolist() == [0, 2]
    path.write_text("worker,item,system,kind,score\nann,1,x,news,4\n")
    with pytest.raises(TableError, match="“news” is not known"):
        read(path)
