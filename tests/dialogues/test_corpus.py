"""A corpus beside the chats: what is counted in files of dialogues and in tables, and what a result says of it."""

import json
from pathlib import Path

import pytest

from analysis.data.dialogues.corpus import describe_lengths, load_corpus
from analysis.data.dialogues.loading import load_dialogues
from analysis.data.ratings.loading import load_ratings
from analysis.methods.settings import from_json
from analysis.methods.study.corpus import CorpusComparison
from analysis.methods.study.study import run_study
from analysis.results.result import Result
from analysis.results.sections import DARK
from evalsite.lib.errors import DomainError

TURNS = [["hello you", "hi", "how are you today ?", "fine"], ["a b c", "d"]]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same two dialogues as JSON Lines and as a table of turns."""
    lines = [json.dumps({"turns": turns}) for turns in TURNS]
    rows = [f"d{k},{turn}" for k, turns in enumerate(TURNS) for turn in turns]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    (tmp_path / "corpus.csv").write_text("\n".join(["dialogue,text", *rows]))
    return {name: tmp_path / f"corpus.{name}" for name in ("jsonl", "csv")}


def test_both_formats_give_the_same_lengths(files) -> None:
    found = {name: load_corpus(path, "corpus") for name, path in files.items()}
    assert found["jsonl"] == found["csv"]
    corpus = found["csv"]
    assert (corpus["dialogues"], corpus["turns"]) == (2, 6)
    assert corpus["lengths"]["words_per_input"]["n"] == 6
    # What each speaker says in a dialogue: 7, 2, 3 and 1 words.
    assert corpus["lengths"]["words_per_chat"] == {
        "n": 4, "mean": 3.25, "percentiles": pytest.approx([1.15, 1.75, 2.5, 4.0, 6.4]),
    }  # fmt: skip
    assert corpus["lengths"]["characters_per_input"]["percentiles"][2] == 3.5  # 8 2 15 4 3 1 without spaces


def test_speakers_of_a_table_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    path.write_text("dialogue,speaker,text\n1,a,one\n1,a,two\n1,b,three four\n")
    assert load_corpus(path)["lengths"]["words_per_chat"]["percentiles"] == [2.0] * 5


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [("a.csv", "dialogue,turn\n1,x\n", "“text”: there is no such column"), ("a.jsonl", '{"turns": 3}\n', "a.jsonl")],
)
def test_what_is_wrong_with_a_corpus_is_said(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DomainError, match=said):
        load_corpus(tmp_path / name)
    with pytest.raises(DomainError, match="upload the corpus again"):
        from_json({"criteria": ["fun"], "corpus": {"name": "x"}})


def test_results_say_how_long_chats_and_corpus_are(files, tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("worker,assignment,system,score\nw,a,A,60\nw,a,B,70\n")
    (tmp_path / "chats.csv").write_text(
        "worker,assignment,system,worker_inputs,worker_words,worker_chars,words_by_input,chars_by_input\n"
        "w,a,A,2,5,20,2 3,8 12\nw,a,B,1,4,16,4,16\n"
    )
    settings = from_json({"criteria": ["fun"], "worker_test": "none", "corpus": load_corpus(files["csv"])})
    loaded = load_ratings(tmp_path / "ratings.csv", criteria=["fun"])
    report = CorpusComparison().detail(run_study(loaded, settings, dialogues=load_dialogues(tmp_path / "chats.csv")))
    (section,) = CorpusComparison().sections(Result(own=json.loads(json.dumps(report))))
    assert section.finding.startswith(
        "Workers write 3 words an input and 4.5 a chat in the median; in “corpus.csv” it is"
    )
    section.figures[0].draw(DARK).draw_without_rendering()
    assert describe_lengths([])["words_per_chat"]["percentiles"] == [None] * 5
