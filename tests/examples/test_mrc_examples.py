"""The MRC example set: complete, and its table what the script makes of the passages."""

import csv
import doctest
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from examples.mrc import answer

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    with answer.OUTPUTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def run_script(*arguments: str, hash_seed: str = "0") -> str:
    """Run answer.py as its reader does; the hash seed decides in which order Python walks through sets."""
    command = [sys.executable, answer.__file__, *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_script_reproduces_the_table_byte_for_byte(tmp_path: Path, hash_seed: str) -> None:
    written = tmp_path / "outputs.csv"
    run_script("--output", str(written), hash_seed=hash_seed)
    assert written.read_bytes() == answer.OUTPUTS.read_bytes()


def test_the_table_has_one_output_per_question_and_system(rows: Rows) -> None:
    pairs = Counter((row["source"], row["system"]) for row in rows)
    sources = {row["source"] for row in rows}
    systems = {*answer.PROGRAMS, answer.HUMAN}
    assert len(systems) == 7
    assert len(sources) >= 120
    assert pairs == {(source, system): 1 for source in sources for system in systems}


def test_every_cell_holds_words(rows: Rows) -> None:
    assert list(rows[0]) == answer.COLUMNS
    assert [row for row in rows if not all(any(map(str.isalnum, cell)) for cell in row.values())] == []


def test_programs_answer_with_words_of_the_passage(rows: Rows) -> None:
    assert [row for row in rows if row["system"] in answer.PROGRAMS and row["output"] not in row["passage"]] == []


def test_programs_do_not_see_the_references(monkeypatch: pytest.MonkeyPatch, rows: Rows, tmp_path: Path) -> None:
    unreferenced = [
        {**passage, "questions": [{**each, "reference": "?", "human": "?"} for each in passage["questions"]]}
        for passage in answer.read_passages()
    ]
    hidden = tmp_path / "passages.jsonl"
    hidden.write_text("\n".join(map(json.dumps, unreferenced)), encoding="utf-8")
    monkeypatch.setattr(answer, "PASSAGES", hidden)
    outputs = [row["output"] for row in rows if row["system"] in answer.PROGRAMS]
    assert [row["output"] for row in answer.answers() if row["system"] in answer.PROGRAMS] == outputs


def test_passages_are_short_and_have_questions_with_two_answers() -> None:
    passages = answer.read_passages()
    questions = [question for passage in passages for question in passage["questions"]]
    assert all(70 <= len(passage["passage"].split()) <= 130 for passage in passages)
    assert all(1 <= len(question["reference"].split()) <= 15 for question in questions)
    assert all(question["human"].casefold() != question["reference"].casefold() for question in questions)
    assert len({passage["id"] for passage in passages}) == len(passages)
    assert len({question["id"] for question in questions}) == len(questions)


def test_the_readme_gives_the_scores_of_the_table(rows: Rows) -> None:
    readme = (answer.HERE / "README.md").read_text(encoding="utf-8")
    scores = answer.mean_scores(rows)
    assert run_script("--scores").splitlines() == [f"{name:<16}{score:.3f}" for name, score in scores.items()]
    assert re.findall(r"^\| `([\w-]+)` \| (0\.\d{3}) \|", readme, re.MULTILINE) == [
        (name, f"{score:.3f}") for name, score in scores.items()
    ]


def test_the_scores_part_the_systems(rows: Rows) -> None:
    scores = answer.mean_scores(rows)
    assert next(iter(scores)) == "rules"
    assert scores["rules"] > 2 * scores["best-window"] > 4 * scores["random-span"]


def test_doctests() -> None:
    assert doctest.testmod(answer) == (0, 2)
