"""Files of other tools as they are: scores, marked errors and votes, in the columns used here."""

import csv
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.choices import Choices
from analysis.data.loading import load_scores
from analysis.data.ratings.loading import load_ratings
from analysis.data.responses import Responses
from analysis.data.spans.loading import load_spans
from analysis.data.spans.rows import Side
from analysis.data.spans.weights import DEFAULTS
from analysis.data.spans.writing import to_mqm_tsv
from analysis.data.tools import Wanted, find_made, read_made
from analysis.data.votes import load_votes
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.results.stored import document_of
from campaigns.design.composition import Kind
from campaigns.design.worker_test import NO_TEST
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError

EXAMPLES = Path(__file__).parents[3] / "data" / "tools"
ITEMS = EXAMPLES / "potato_items.jsonl"
ORDER = ["alpha", "beta", "gamma"]


def lines(name: str) -> list[str]:
    return (EXAMPLES / name).read_text().splitlines()


def numbers(label: str) -> float:
    return float(label) if label.replace(".", "", 1).isdecimal() else float("nan")


def scores(name: str | Path, **options: object) -> Responses:
    choices = Choices(**options)  # type: ignore[arg-type]
    return load_scores(EXAMPLES / name, numbers, "a number", criterion="score", choices=choices)


def means(data: Responses) -> list[float]:
    return [round(float(data.score[data.system == code].mean()), 3) for code in range(len(data.systems))]


def reported(name: str, protocol: str) -> dict:
    settings = from_protocol(protocol)
    if protocol == "esa":  # of few segments nobody passes
        settings = replace(settings, preset=NO_TEST)
    method = get_method(settings.method)
    return document_of(method.analyse(method.read(ResponsesFile(EXAMPLES / name), settings), settings))


def test_appraise_esa_scores_are_those_of_segments_of_documents_whatever_their_number_in_a_task():
    rows = [row for n, row in enumerate(csv.reader(lines("appraise_esa_scores.csv"))) if n != 5]  # 5 was revised
    rows = [row for row in rows if row[3] == "TGT" and row[8] == "False" and "tutorial" not in row[7]]
    report = reported("appraise_esa_scores.csv", "esa")
    for system in report["summary"]["systems"]:
        kept = [float(row[6]) for row in rows if row[1] == system["system"]]
        assert system["score"] == pytest.approx(np.mean(kept))
        assert system["n"] == 6  # segments: two raters saw three of each of two documents
    codes = {warning["code"] for warning in report["warnings"]}
    assert codes == {"revised", "whole_documents", "tutorial"}


def test_appraise_marks_are_counted_by_severity_beside_the_scores():
    counts = {row["system"]: row["counts"] for row in reported("appraise_esa_scores.csv", "esa")["errors"]}
    assert counts == {
        "wmt.alpha": {"major": 0.0, "minor": 0.0},
        "wmt.beta": {"major": 0.0, "minor": 1.0},
        "wmt.gamma": {"major": 1.0, "minor": 1.0},
    }


def test_appraise_marks_end_with_their_last_character_and_may_be_of_the_whole(tmp_path):
    spans = [
        {"start_i": 4, "end_i": 4, "severity": "minor", "error_type": None},
        {"start_i": "missing", "end_i": "missing", "severity": "major", "error_type": "Accuracy/Omission"},
    ]
    path = tmp_path / "scores.csv"
    with path.open("w", newline="") as file:
        row = ["w01", "A+", 1, "TGT", "eng", "deu", 70, "d#A", "False", json.dumps(spans), "1.5", "2.5"]
        csv.writer(file).writerow(row)
    data = load_spans(path, DEFAULTS)
    assert (data.start.tolist(), data.end.tolist()) == ([4, -1], [5, -1])
    assert data.side.tolist() == [Side.TARGET, Side.NONE]
    assert [data.categories[code] for code in data.category] == ["error", "Accuracy/Omission"]
    assert get_method("spans").files(data) == {}  # there is no text to mark


def test_appraise_direct_assessment_has_kinds_and_twins():
    data = load_ratings(EXAMPLES / "appraise_da_scores.csv", criteria=["adequacy"]).ratings
    assert data.kind.size == len(lines("appraise_da_scores.csv"))
    assert np.bincount(data.kind).tolist()[Kind.DEGRADED] == 3 * 6 * 2
    report = reported("appraise_da_scores.csv", "da-translation")
    assert report["summary"]["workers"]["passed"] == 3
    assert [row["system"] for row in report["summary"]["systems"]] == ["alpha", "beta"]


def test_appraise_scores_of_contrastive_campaigns_have_the_source_first(tmp_path):
    path = tmp_path / "wave.csv"
    name = "en-cs_CZ_#_news_#_doc7_#_3"
    path.write_text(f"w01,{name},A,1,TGT,eng,ces,55,doc7,False,[],1.0,2.0,b1,77\n")
    data = scores(path)
    assert (data.systems, data.sources) == (["A"], ["en-cs_CZ_#_news_#_doc7:3"])
    assert data.score.tolist() == [55]


@pytest.mark.parametrize(
    ("name", "items"),
    [("label_studio.json", None), ("label_studio.csv", None), ("potato.jsonl", ITEMS), ("potato.csv", ITEMS)],
)
def test_answers_of_annotation_tools_are_scores_by_criterion(name: str, items: Path | None):
    criterion = "fluency" if items else "quality"
    data = scores(name, columns={"score": criterion}, items=items)
    assert (data.systems, data.sources, data.criteria) == (ORDER, ["q1", "q2", "q3"], [criterion])
    assert len(data.workers) == 2
    assert means(data) == [round(v - 1 / 6, 3) for v in (5, 3, 2)]  # the second worker gives one less for q2
    levels = {"good": 1.0, "bad": 0.0}
    choices = Choices(columns={"score": "verdict"}, items=items)
    chosen = load_scores(EXAMPLES / name, lambda label: levels[label], "", criterion="", choices=choices)
    assert means(chosen) == [1, 0, 0]


@pytest.mark.parametrize(("name", "items"), [("label_studio.json", None), ("potato.jsonl", ITEMS)])
def test_marks_of_annotation_tools_are_errors_in_code_points(name: str, items: Path | None, tmp_path):
    data = load_spans(EXAMPLES / name, DEFAULTS, Choices(items=items))
    assert data.n_annotations == 18
    marks = zip(data.target[data.annotation], data.start, data.end, strict=True)
    assert {data.target_texts[k][a:b] for k, a, b in marks} == {"it"}
    by_system = {
        data.systems[code]: {data.severities[s] for s in data.severity[data.system[data.annotation] == code]}
        for code in range(3)
    }
    assert by_system == {"alpha": set(), "beta": {"minor"}, "gamma": {"major"}}
    again = tmp_path / "mqm.tsv"
    again.write_text(to_mqm_tsv(data))
    read = load_spans(again, DEFAULTS)
    assert (read.start.tolist(), read.end.tolist()) == (data.start.tolist(), data.end.tolist())


def test_answers_about_two_systems_are_votes(tmp_path):
    def task(n: int, worker: int, said: dict) -> dict:
        result = [{"from_name": "better", "to_name": "pair", "id": "r", **said}]
        return {
            "id": n,
            "data": {"prompt": "Q", "system_a": "ash", "system_b": "fir"},
            "annotations": [{"completed_by": worker, "result": result}],
        }

    path = tmp_path / "pairs.json"
    said = [{"type": "pairwise", "value": {"selected": "left"}}, {"type": "choices", "value": {"choices": ["tie"]}}]
    path.write_text(json.dumps([task(n, n, each) for n, each in enumerate(said, start=1)]))
    data = load_votes(path)
    assert (data.systems, data.workers, data.outcome.tolist()) == (["ash", "fir"], ["1", "2"], [0, 2])


def test_mechanical_turk_rows_are_read_item_by_item_without_the_rejected():
    rows = list(csv.DictReader(lines("mturk.csv")))
    loaded = load_ratings(EXAMPLES / "mturk.csv", criteria=["Fluency", "Adequacy"])
    data = loaded.ratings
    assert data.scores.shape == (5 * 10, 2)
    expected = {
        (row["WorkerId"], row[f"Input.item_{k}_source"], row[f"Input.item_{k}_system"], row[f"Input.item_{k}_kind"]): (
            float(row[f"Answer.item_{k}_fluency"]),
            float(row[f"Answer.item_{k}_adequacy"]),
        )
        for row in rows
        if row["AssignmentStatus"] == "Approved"
        for k in range(1, 11)
    }
    found = {
        (loaded.workers[w], loaded.sources[s], loaded.systems[y], Kind(k).name.lower()): tuple(each)
        for w, s, y, k, each in zip(data.worker, data.source, data.system, data.kind, data.scores.tolist(), strict=True)
    }
    assert found == expected
    assert {"rejected", "unread"} <= {warning.code for warning in loaded.warnings}


def test_mechanical_turk_forms_have_their_answers_as_json():
    rows = [row for row in csv.DictReader(lines("mturk_forms.csv")) if row["AssignmentStatus"] != "Rejected"]
    rows.sort(key=lambda row: (row["WorkerId"], row["AssignmentId"]))
    answers = [json.loads(row["Answer.taskAnswers"])[0] for row in rows]
    first = [int(next(n for n, is_on in each["adequacy_1"].items() if is_on)) for each in answers]
    data = load_ratings(EXAMPLES / "mturk_forms.csv", criteria=["adequacy"], scale=(1, 6)).ratings
    assert data.scores[::10, 0].tolist() == first


def test_radio_buttons_of_crowd_forms_may_be_columns_of_true_and_false(tmp_path):
    path = tmp_path / "radio.csv"
    header = "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.system_1,Input.system_2"
    header += ",Answer.adequacy_1.1,Answer.adequacy_1.2,Answer.adequacy_2.1,Answer.adequacy_2.2"
    path.write_text(f"{header}\nh,a,w01,Submitted,A,B,true,false,false,true\n")
    assert means(scores(path)) == [1, 2]


@pytest.mark.parametrize(
    ("name", "change", "row", "column", "said"),
    [
        (
            "appraise_da_scores.csv",
            ("deueng0b01,alpha,1,TGT,deu,eng,", "deueng0b01,alpha,1,TGT,deu,eng,x"),
            1,
            "score",
            "no",
        ),
        ("appraise_esa_scores.csv", ('""start_i"":3,', '""start_i"":99,'), None, "spans", "start_i"),
        ("mturk.csv", ('"alpha"', '""'), 2, "Input.item_2_system", "empty"),
        ("label_studio.json", ('"rating": 5', '"rating": "five"'), 1, "quality", "five"),
        ("label_studio.json", ('"completed_by"', '"by"'), 1, "completed_by", "who"),
        ("potato.jsonl", ('"instance_id"', '"instance"'), 1, "instance_id", "instance_id"),
    ],
)
def test_what_is_wrong_is_named_as_in_the_file(name, change, row, column, said, tmp_path):
    path = tmp_path / name
    text = (EXAMPLES / name).read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    items = ITEMS if name.startswith("potato") else None
    answer = {"label": "quality", "potat": "fluency"}.get(name[:5])
    choices = Choices(columns={"score": answer} if answer else {}, items=items)
    with pytest.raises(TableError) as caught:
        load_scores(path, numbers, "a number", criterion="", choices=choices)
    problem = caught.value.problems[0]
    assert (row is None or problem.row == row) and column in str(problem.column) and said in problem.message


def test_a_missing_column_is_named_with_those_there_are():
    with pytest.raises(TableError, match=r"no column “system”.*displayed_text.*--columns system="):
        scores("potato.jsonl")
    with pytest.raises(DomainError, match=r"no column “engine” for system.*“model”"):
        scores("label_studio.json", columns={"system": "engine"})
    with pytest.raises(DomainError, match="no answers to “speed”, but to “quality”, “verdict”"):
        scores("label_studio.json", columns={"score": "speed"})
    with pytest.raises(TableError, match="Potato with scores, and votes are needed"):
        load_votes(EXAMPLES / "potato.csv", Choices(items=ITEMS))


def test_a_file_of_items_is_refused_where_it_says_nothing():
    with pytest.raises(DomainError, match=r"--items says nothing about label_studio.csv"):
        scores("label_studio.csv", items=ITEMS)


def test_a_column_may_be_named_in_any_file(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("who,engine,points\nw01,A,3\nw02,B,4\n")
    data = scores(path, columns={"worker": "who", "system": "engine", "score": "points"})
    assert (data.workers, data.systems, data.score.tolist()) == (["w01", "w02"], ["A", "B"], [3, 4])
    loaded = load_ratings(
        path, criteria=["q"], choices=Choices(columns={"worker": "who", "system": "engine", "score": "points"})
    )
    assert loaded.systems == ["A", "B"]
    with pytest.raises(DomainError, match="no column “x”"):
        load_ratings(path, criteria=["q"], choices=Choices(columns={"worker": "x"}))


def _mutated(content: bytes, rng: random.Random) -> bytes:
    """Return bytes of which some are cut, doubled, exchanged or replaced."""
    data = bytearray(content)
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(len(data))
        end = min(len(data), place + rng.choice((1, 3, 40, 400)))
        match rng.randrange(5):
            case 0:
                del data[place:end]
            case 1:
                data[place:place] = data[place:end]
            case 2:
                data[place] = rng.randrange(256)
            case 3:
                data[place:place] = rng.choice(
                    (b'"', b",", b"\n", b"{", b"]", b"null", b"1e999", b"-5", b"\x00", b"\xed\xa0\x80")
                )
            case _:
                del data[place:]
        data = data or bytearray(b"x")
    return bytes(data)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path != ITEMS))
def test_damaged_files_are_read_or_refused_with_a_reason(name: str, tmp_path):
    rng = random.Random(f"damage to {name}")
    content = (EXAMPLES / name).read_bytes()
    items = ITEMS if name.startswith("potato") else None
    path = tmp_path / name
    n_refused = 0
    for _ in range(60):
        path.write_bytes(_mutated(content, rng))
        for load in (
            lambda: scores(path, items=items),
            lambda: load_spans(path, None, Choices(items=items)),
            lambda: load_ratings(path, criteria=["adequacy", "fluency"], choices=Choices(items=items)),
            lambda: read_made(path, Wanted.VOTES),
        ):
            try:
                load()
            except DomainError as error:
                n_refused += 1
                assert error.message
    assert n_refused > 20


def test_every_file_of_several_annotators_is_read(tmp_path: Path) -> None:
    content = (EXAMPLES / "potato.jsonl").read_text().splitlines()
    alone = scores("potato.jsonl", columns={"score": "fluency"}, items=ITEMS)
    halves = [tmp_path / name / "annotated_instances.jsonl" for name in ("ann", "bob")]
    for path, lines in zip(halves, (content[::2], content[1::2]), strict=True):
        path.parent.mkdir()
        path.write_text("\n".join(lines))
    found = scores(halves[0], columns={"score": "fluency"}, items=ITEMS, more=(halves[1],))
    assert sorted(found.score.tolist()) == sorted(alone.score.tolist())
    assert (found.workers, found.sources) == (alone.workers, alone.sources)


def test_a_long_state_of_an_annotator_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "user_state.json"
    state = {"user_id": "ann", "behaviour": "x" * (1 << 22)}
    state["instance_id_to_label_to_value"] = {"q1": [[{"schema": "fluency", "name": "scale_4"}, "4"]]}
    path.write_text(json.dumps(state))
    assert find_made(path).tool == "Potato"
