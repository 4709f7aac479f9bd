"""Answers chosen from the options of several criteria: each by itself, and their mean."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError
from scipy.stats import binomtest, t

from analysis.methods import ResponsesFile
from analysis.methods.choice import Choice
from analysis.methods.settings import from_json, from_protocol
from analysis.results.exports import figure_files, table_files, to_latex
from analysis.results.reading import read_result
from analysis.results.sections import LIGHT
from analysis.results.stored import as_result, document_of
from evalsite.lib.errors import DomainError
from tests.results import figures_of

HEADER = ("worker", "source", "system", "criterion", "answer", "kind")
TONE = [
    ("ann", "s1", "A", "polite"),
    ("ann", "s1", "B", "rude"),
    ("ann", "s2", "A", "polite"),
    ("ann", "s2", "B", "polite"),
    ("bob", "s1", "A", "neutral"),
    ("bob", "s1", "B", "rude"),
    ("bob", "s2", "A", "polite"),
    ("bob", "s2", "B", "neutral"),
]
TRUE = [
    ("ann", "s1", "A", "yes"),
    ("ann", "s1", "B", "no"),
    ("ann", "s2", "A", "yes"),
    ("ann", "s2", "B", "yes"),
    ("bob", "s1", "A", "no"),
    ("bob", "s1", "B", "no"),
    ("bob", "s2", "B", "yes"),
]
"""Bob was not asked whether A's output for s2 is true."""
GOOD = {"tone": ["Polite"]}


def on(criterion, rows, kind="ordinary"):
    return [(*row[:3], criterion, row[3], kind) for row in rows]


BOTH = [*on("tone", TONE), *on("true", TRUE)]


@pytest.fixture
def answers_file(tmp_path):
    def write(rows, header=HEADER):
        path = tmp_path / "answers.csv"
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([header, *rows])
        return path

    return write


@pytest.fixture
def found_in(answers_file):
    """The report of rows of answers, and the files beside it."""

    def find(rows, header=HEADER, **options):
        method, settings = Choice(), replace(from_protocol("option-selection"), options=options)
        data = method.read(ResponsesFile(answers_file(rows, header)), settings)
        return document_of(method.analyse(data, settings)), method.files(data)

    return find


def of_criterion(report, name):
    return next(each for each in report["criteria"] if each["criterion"] == name)


def test_a_score_is_the_mean_over_criteria_of_shares_of_good_answers(found_in):
    """Tone: polite 3 of 4 times for A, once for B. True: 2 of 3 and 2 of 4. So A has 17/24 and B 9/24.

    The influences of A's answers on 17/24 add up to 25/144 for ann, whose answers on both criteria are one cluster,
    and to −25/144 for bob: a variance of 2 · 2 · (25/144)². That by source, and by both, is smaller: t has 1 df.
    """
    report, _ = found_in(BOTH, good=GOOD)
    summary = report["summary"]
    first, second = summary["systems"]
    assert (first["system"], first["n"], second["system"], second["n"]) == ("A", 7, "B", 8)
    assert (first["score"], second["score"]) == (pytest.approx(17 / 24), pytest.approx(9 / 24))
    assert first["criteria"] == {"tone": 0.75, "true": pytest.approx(2 / 3)}
    half = t.ppf(0.975, 1) * 2 * 25 / 144
    assert first["interval"] == pytest.approx([17 / 24 - half, 17 / 24 + half])
    assert report["pairs"][0]["difference"] == pytest.approx(1 / 3)
    assert summary["criteria"]["tone"] == {"A": 0.75, "B": 0.25}
    assert (summary["n_workers"], summary["n_answers"], summary["clusters"]) == (2, 15, {"worker": 2, "source": 2})
    assert summary["options"] == {"tone": ["neutral", "polite", "rude"], "true": ["no", "yes"]}
    assert summary["good"] == {"tone": ["Polite"], "true": ["yes"]} and summary["scored"] == ["tone", "true"]


def test_each_criterion_has_its_own_shares_chance_and_paired_tests(found_in):
    report, _ = found_in(BOTH, good=GOOD)
    tone, true = report["criteria"]
    assert (tone["criterion"], tone["chance"], true["criterion"], true["chance"]) == ("tone", 1 / 3, "true", 0.5)
    polite = next(row for row in tone["shares"] if (row["system"], row["option"]) == ("A", "polite"))
    assert (polite["count"], polite["n"], polite["p"]) == (3, 4, pytest.approx(binomtest(3, 4, 1 / 3).pvalue))
    assert {(row["system"], row["n"]) for row in true["shares"]} == {("A", 3), ("B", 4)}
    # On tone only A is good for ann and s1, and for bob and s2: 2 of 2 by chance is p = 1/2.
    assert [(row["n"], row["only"], row["p"]) for row in tone["paired"]] == [(4, [2, 0], 0.5)]
    assert [(row["n"], row["only"], row["p"]) for row in true["paired"]] == [(3, [1, 0], 1.0)]
    assert [(row["system"], row["n"]) for row in true["systems"]] == [("A", 3), ("B", 4)]


def test_each_criterion_is_analysed_as_it_is_alone(found_in):
    """Repeats count for none of it, here too."""
    rows = [*BOTH, *on("tone", [("ann", "s1", "A", "rude"), ("bob", "s1", "B", "rude")], "repeat")]
    together, _ = found_in(rows, good=GOOD)
    for name, options in (("tone", {"good": ["polite"]}), ("true", {})):
        alone, _ = found_in([row for row in rows if row[3] == name], **options)
        own = of_criterion(together, name)
        for key in ("shares", "chance", "seconds", "paired", "labels"):
            assert own[key] == alone[key], (name, key)
        scores = {row["system"]: (row["score"], row["interval"]) for row in own["systems"]}
        assert scores == {row["system"]: (row["score"], row["interval"]) for row in alone["summary"]["systems"]}


def test_labels_of_items_say_of_which_criterion_they_are(found_in):
    report, files = found_in(BOTH, good=GOOD)
    lines = list(csv.DictReader(io.StringIO(files["labels.csv"])))
    majority = {(row["criterion"], row["source"], row["system"]): row["majority"] for row in lines}
    assert majority == {
        ("tone", "s1", "A"): "",
        ("tone", "s1", "B"): "rude",
        ("tone", "s2", "A"): "polite",
        ("tone", "s2", "B"): "",
        ("true", "s1", "A"): "",
        ("true", "s1", "B"): "no",
        ("true", "s2", "A"): "yes",
        ("true", "s2", "B"): "yes",
    }
    assert next(iter(lines[0])) == "criterion"
    counts = [(each["labels"]["n_items"], each["labels"]["n_without_majority"]) for each in report["criteria"]]
    assert counts == [(4, 2), (4, 1)]


def test_a_criterion_without_good_options_counts_for_no_score_and_is_said(found_in):
    report, _ = found_in(BOTH)
    assert [row["score"] for row in report["summary"]["systems"]] == [pytest.approx(2 / 3), 0.5]
    assert [row["n"] for row in report["summary"]["systems"]] == [3, 4]
    assert report["summary"]["scored"] == ["true"] and list(report["summary"]["criteria"]) == ["true"]
    assert any(note.startswith("Not in the score") and "tone" in note for note in report["notes"])
    assert of_criterion(report, "tone")["paired"] == [] and of_criterion(report, "tone")["shares"]
    caption = Choice().sections(as_result(report))[0].tables[0].caption
    assert "Not in the score, without good options: tone." in caption
    neither, _ = found_in([row for row in BOTH if row[3] == "tone"] + on("way", TONE))
    assert {row["score"] for row in neither["summary"]["systems"]} == {None} and neither["pairs"] == []
    assert Choice().sections(as_result(neither))[0].slug == "shares"


def test_a_system_without_answers_on_a_criterion_that_counts_has_no_score(found_in):
    rows = [*BOTH, ("ann", "s1", "C", "tone", "polite", "ordinary"), ("bob", "s2", "C", "tone", "rude", "ordinary")]
    report, _ = found_in(rows, good=GOOD)
    assert [(row["system"], row["score"] is None) for row in report["summary"]["systems"]] == [
        ("A", False),
        ("B", False),
        ("C", True),
    ]
    assert any(note.endswith("without a score: C.") for note in report["notes"])
    assert [pair["systems"] for pair in report["pairs"]] == [["A", "B"]]
    assert of_criterion(report, "tone")["systems"][2]["score"] == 0.5
    assert of_criterion(report, "true")["systems"][2] == {
        "system": "C",
        "score": None,
        "interval": [None, None],
        "n": 0,
    }


def test_what_is_correct_of_each_item_may_be_known_of_some_criteria(found_in):
    header = (*HEADER[:5], "correct", "seconds")
    rows = [(*row[:5], "polite" if row[3] == "tone" else "", 4) for row in BOTH]
    report, _ = found_in(rows, header)
    assert report["summary"]["good"] == {"tone": None, "true": ["yes"]}
    assert report["summary"]["scored"] == ["tone", "true"]
    assert report["summary"]["systems"][0]["score"] == pytest.approx(17 / 24)
    assert of_criterion(report, "true")["seconds"] == {"A": [4.0, 4.0], "B": [4.0, 4.0]}


def test_tables_say_of_which_criterion_a_row_is_and_figures_are_of_one_each(found_in, tmp_path):
    report, _ = found_in(BOTH, good=GOOD)
    files = dict(table_files(read_result(report)))
    for name in ("criteria", "shares", "paired", "labels", "abilities"):
        rows = list(csv.reader(io.StringIO(files[f"{name}.csv"])))
        assert rows[0][0] == "criterion", name
        assert {row[0] for row in rows[1:]} == {"tone", "true"}, name
        assert files[f"{name}.tex"].count(r"\\") == len(rows), name
    sections = {section.slug: section for section in Choice().sections(as_result(report))}
    shares = sections["shares"].tables[0]
    assert [column.name for column in shares.columns][-2:] == ["chance", "p"]
    assert r"tone & A & polite & 3 & 4 & 0.750" in to_latex(shares)
    assert "mean over 2 criteria of the share of answers that are good" in sections["systems"].tables[0].caption
    assert "0 of 2 pairs differ in paired answers" in sections["paired"].finding
    names = [name for figure in figures_of(report) for name in figure_files(figure) if name.endswith(".svg")]
    assert {"figures/shares-tone.svg", "figures/shares-true.svg"} <= set(names)
    for figure in sections["shares"].figures:
        figure.draw(LIGHT)


def test_options_and_chance_are_said_by_criterion(found_in):
    options = {"tone": ["Polite", "neutral", "rude", "cold"]}
    report, _ = found_in(BOTH, good={"Tone": ["polite"], "TRUE": ["no"]}, options=options, chance={"true": 0.25})
    assert report["summary"]["options"]["tone"] == options["tone"]
    assert (of_criterion(report, "tone")["chance"], of_criterion(report, "true")["chance"]) == (0.25, 0.25)
    assert [row["count"] for row in of_criterion(report, "tone")["shares"] if row["option"] == "cold"] == [0, 0]
    assert report["summary"]["criteria"]["true"] == {"A": pytest.approx(1 / 3), "B": 0.5}


def test_the_only_criterion_may_be_named_too(found_in):
    rows = on("tone", TONE)
    by_name, by_list = found_in(rows, good={"tone": ["polite"]}), found_in(rows, good=["polite"])
    assert by_name[0].pop("settings") != by_list[0].pop("settings")
    assert by_name == by_list


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"good": ["polite"]}, "“good” does not say of which criterion it is, and there are several: tone and true"),
        ({"chance": 0.5}, "“chance” does not say of which criterion"),
        ({"good": {"tune": ["polite"]}}, "“good” names the criterion “tune”. The criteria are: tone, true."),
        ({"good": {"tone": ["nice"]}}, "“nice” for the criterion “tone”. Its options are: neutral, polite, rude."),
        ({"good": {"tone": ["yes"]}}, "“yes” for the criterion “tone”"),
        ({"options": {"true": ["no"]}}, "Criterion “true”: “yes” is none of the options: no."),
    ],
)
def test_options_that_do_not_fit_the_criteria_are_refused(found_in, options, said):
    with pytest.raises(DomainError) as refused:
        found_in(BOTH, **options)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"good": {}}, "“good” is an object without a criterion"),
        ({"good": {"tone": []}}, "“good” of the criterion “tone” must be a list of options"),
        ({"good": {"tone": "polite"}}, "“good” of the criterion “tone” must be a list of options"),
        ({"options": {"tone": [1]}}, "“options” of the criterion “tone” must be a list of options"),
        ({"chance": {"tone": 1}}, "“chance” of the criterion “tone” must be a share between 0 and 1"),
        ({"chance": {"tone": True}}, "“chance” of the criterion “tone” must be a share"),
        ({"good": {"tone": ["x"], "Tone": ["y"]}}, "“good” names one criterion twice: “tone” and “Tone”"),
        ({"good": "polite"}, "“good” must be a list of options"),
        ({"good": None}, "“good” must be a list of options"),
    ],
)
def test_options_that_can_never_be_are_refused_in_a_protocol_s_file(options, said):
    with pytest.raises(DomainError) as refused:
        from_json({"protocol": "option-selection", "options": options})
    assert refused.value.code == "bad_settings" and said in refused.value.message


def test_criteria_that_differ_in_capital_letters_alone_are_refused(found_in):
    with pytest.raises(DomainError, match="The criteria “Tone” and “tone” differ in capital letters alone") as refused:
        found_in([*BOTH, *on("Tone", TONE)])
    assert refused.value.code == "same_criterion"


def test_criteria_of_which_all_answers_are_repeats_are_left_out(found_in):
    rows = [*on("tone", TONE), *on("way", TONE[:3], "repeat")]
    report, _ = found_in(rows, good=["polite"])
    alone, _ = found_in(rows[: len(TONE)], good=["polite"])
    assert report["summary"] == alone["summary"]
    assert [warning["message"] for warning in report["warnings"]] == [
        "Answers on way, all to repeats, which are left out: 3."
    ]


def test_a_criterion_that_is_answered_by_texts_is_named_with_what_to_do(found_in):
    rows = [("ann", f"s{k}", "A", "why", f"because {k}", "ordinary") for k in range(101)]
    with pytest.raises(DomainError, match="Criterion “why”: There are 101 different answers") as refused:
        found_in([*BOTH, *rows])
    assert "Leave out the rows of this criterion" in refused.value.message


def test_options_that_differ_in_capital_letters_alone_are_kept_apart(found_in):
    rows = [("ann", "s1", "A", "tone", "OK", "ordinary"), ("ann", "s2", "A", "tone", "ok", "ordinary")]
    report, _ = found_in(rows, options=["OK", "ok"])
    assert [(row["option"], row["count"]) for row in report["shares"]] == [("OK", 1), ("ok", 1)]


def test_several_questions_of_another_tool_are_read_together(analyse, tmp_path):
    path = Path(__file__).parents[1] / "data" / "tools" / "label_studio.csv"
    protocol = tmp_path / "own.json"
    protocol.write_text(json.dumps({"protocol": "option-selection", "options": {"good": {"verdict": ["good"]}}}))
    out, err = analyse(path, protocol=str(protocol), format="json")
    found = json.loads(out)
    assert found["options"]["verdict"] == ["bad", "good"] and found["options"]["quality"] == list("12345")
    assert found["scored"] == ["verdict"] and [row["score"] for row in found["systems"]] == [pytest.approx(1), 0, 0]
    assert "Not in the score" in err and "quality" in err
    printed, _ = analyse(path, protocol=str(protocol))
    assert "on 2 criteria" in printed


def test_the_command_says_which_option_is_wrong(answers_file, analyse, tmp_path):
    protocol = tmp_path / "own.json"
    protocol.write_text(json.dumps({"protocol": "option-selection", "options": {"good": {"tone": ["nice"]}}}))
    with pytest.raises(CommandError, match="“good” names “nice” for the criterion “tone”"):
        analyse(answers_file(BOTH), protocol=str(protocol))
