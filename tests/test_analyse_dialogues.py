"""`manage.py analyse --dialogues`: what it prints, writes and refuses."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

PROTOCOL = {
    "criteria": ["fun"],
    "worker_test": {"preset": "unpaired-ranksum", "alpha": 0.2},
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with a careful worker, a careless one, and one whose ratings are lost."""
    ratings, chats, work = ["worker,assignment,position,system,kind,criterion,score"], [], []
    for worker, lowest in (("careful", 5), ("careless", 95)):
        for position, (system, kind) in enumerate([("A", "ordinary"), ("B", "ordinary"), ("zero", "degraded")] * 2, 1):
            score = lowest if kind == "degraded" else 50 + position
            ratings.append(f"{worker},{worker}1,{position},{system},{kind},fun,{score}")
    for worker in ("careful", "careless", "lost"):
        for position, system in enumerate(["A", "B", "zero"] * 2, 1):
            topic = "=Food" if position % 2 else "the SEA"
            opinion = "like" if position < 5 else "dislike"
            chats.append(
                f"{worker},{worker}1,{position},{system},{topic},{opinion},10,{40 + position},{200 + position}"
            )
        work.append(f"{worker},{worker}1,{360 if worker == 'careful' else 720}")
    (tmp_path / "ratings.csv").write_text("\n".join(ratings))
    header = "worker,assignment,position,system,topic,opinion,worker_inputs,worker_words,worker_chars"
    (tmp_path / "dialogues.csv").write_text("\n".join([header, *chats]))
    (tmp_path / "assignments.csv").write_text("\n".join(["worker,assignment,work_seconds", *work]))
    (tmp_path / "protocol.json").write_text(json.dumps(PROTOCOL))
    return tmp_path


def analyse(study: Path, *, files: tuple[str, ...] = ("dialogues", "assignments"), **options) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    named = {name: study / f"{name}.csv" for name in files}
    options = {"protocol": str(study / "protocol.json")} | named | options
    call_command("analyse", str(study / "ratings.csv"), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def test_json_has_the_chats_only_if_they_are_given(study: Path) -> None:
    found = json.loads(analyse(study, format="json")[0])
    without = json.loads(analyse(study, files=(), format="json")[0])
    assert found.keys() - without.keys() == {"dialogues"}
    groups = found["dialogues"]["groups"]
    assert [groups[name]["workers"] for name in ("passed", "failed", "all")] == [1, 1, 3]
    assert [groups[name]["minutes_per_chat"] for name in ("passed", "failed", "all")] == [1, 2, pytest.approx(5 / 3)]
    assert groups["passed"]["opinions"]["like"] == {"n": 4, "share": pytest.approx(2 / 3)}
    assert (groups["passed"]["chats"], groups["passed"]["chats_not_degraded"]) == (6, 4)
    assert {row["topic"] for row in found["dialogues"]["topics"]} == {"=food", "the sea"}


def test_the_worker_test_decides_who_passed(study: Path) -> None:
    strict = json.loads(analyse(study, format="json", alpha=0.001)[0])["dialogues"]["groups"]
    assert (strict["passed"]["chats"], strict["failed"]["chats"]) == (0, 12)
    assert strict["passed"]["opinions"]["like"]["share"] is None


def test_tables_are_printed_and_what_does_not_fit_is_reported(study: Path) -> None:
    out, err = analyse(study)
    assert all(words in out for words in ("minutes per chat", "ambivalent", "characters per input", "=food"))
    assert "1 worker without ratings" in err
    assert "the sea" in analyse(study, format="latex")[0]


def test_without_times_there_are_no_minutes(study: Path) -> None:
    found = json.loads(analyse(study, files=("dialogues",), format="json")[0])["dialogues"]["groups"]
    assert found["all"]["minutes_per_chat"] is None
    assert found["all"]["assignments_per_worker"] == 1


def test_times_alone_give_the_minutes_of_hits(study: Path) -> None:
    analyse(study, files=("assignments",), out=study / "out")
    rows = (study / "out/tables/hits-and-minutes.csv").read_text().splitlines()
    assert rows[1:] == ["passed,1.0,6.0,1", "failed,1.0,12.0,1", "all,1.0,9.0,2"]
    assert not (study / "out/tables/chats.csv").exists()


def test_costs_are_of_a_protocol_that_says_what_a_hit_costs(study: Path) -> None:
    def analyse_at(cost: object) -> str:
        (study / "protocol.json").write_text(json.dumps(PROTOCOL | {"cost": cost}))
        return analyse(study, files=(), out=study / "out")[0]

    analyse_at({"per_assignment": 1.5, "currency": "EUR"})
    rows = (study / "out/tables/cost.csv").read_text().splitlines()
    assert rows == ["HITs,EUR,per system,per usable rating", "that passed,1.5,0.75,0.375", "all,3.0,1.5,0.75"]
    for bad, said in (
        (3, "must be an object"),
        ({"per_assignment": -1}, "0 or more"),
        ({"rate": 1}, "no field “rate”"),
    ):
        with pytest.raises(CommandError, match=said):
            analyse_at(bad)


def test_a_bad_cell_is_named(study: Path) -> None:
    text = (study / "dialogues.csv").read_text()
    (study / "dialogues.csv").write_text(text.replace("like", "love", 1))
    with pytest.raises(CommandError, match=r"dialogues.csv, row 2, column “opinion”: “love”"):
        analyse(study)


def test_out_writes_tables_and_figures_that_are_the_same_each_time(study: Path) -> None:
    written = []
    for name in ("first", "second"):
        analyse(study, out=study / name)
        written.append({path.relative_to(study / name): path.read_bytes() for path in (study / name).rglob("*.*")})
    first, second = written
    assert first == second
    for name in ("chats", "opinions", "chat-lengths", "topics", "topic-words"):
        assert {Path(f"tables/{name}.csv"), Path(f"tables/{name}.tex")} <= set(first)
    for name in ("topic-words", "words-per-chat"):
        assert {Path(f"figures/{name}.{suffix}") for suffix in ("svg", "pdf", "png")} <= set(first)
    assert b"'=food" in first[Path("tables/topics.csv")]  # no spreadsheet runs it


def test_without_chats_no_table_or_figure_of_chats_is_written(study: Path) -> None:
    analyse(study, files=(), out=study / "plain")
    assert not [path for path in (study / "plain").rglob("*") if path.stem in ("chats", "opinions", "topic-words")]
