"""`manage.py agreement`, as users run it."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

EXAMPLE = Path(__file__).parent.parent / "examples" / "ratings.csv"
# Shrout & Fleiss 1979, Table 2: six targets, four judges
TARGETS = [(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)]
UNDEFINED = {
    "krippendorff_alpha": {"nominal": None, "ordinal": None, "interval": None, "ratio": None},
    "icc": {"single": None, "average": None},
    "fleiss_kappa": None,
}


def between(found):
    """Return the coefficients of an object that are of workers with each other, and of how many they are."""
    return {key: found[key] for key in (*UNDEFINED, "n_items", "n_workers")}


def agreement(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("agreement", *map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def measured(path, **options):
    options = {"protocol": "mrc-adequacy", "worker_test": "none", "scale": [0, 100], "format": "json"} | options
    return json.loads(agreement(path, **options)[0])


@pytest.fixture
def write(tmp_path):
    """Return a function that writes ratings as CSV and returns the path."""

    def write_rows(*rows, header="worker,source,system,kind,score"):
        path = tmp_path / "ratings.csv"
        path.write_text("\n".join([header, *rows]))
        return path

    return write_rows


@pytest.fixture
def targets():
    """Rows of Shrout and Fleiss's ratings: target k is the output of system S for source k."""
    return [f"w{w},t{t},S,ordinary,{score}" for t, scores in enumerate(TARGETS) for w, score in enumerate(scores)]


def test_each_criterion_has_its_coefficients(write, targets):
    found = measured(write(*targets))
    assert {"protocol", "worker_test", "workers", "n_bins", "criteria"} <= set(found)
    of = found["criteria"]["adequacy"]
    assert of["answer"] == "slider" and of["within"]["n_items"] == 0
    assert {name: round(value, 2) for name, value in of["icc"].items()} == {"single": 0.29, "average": 0.62}
    assert (of["n_items"], of["n_workers"]) == (6, 4)
    assert round(of["krippendorff_alpha"]["interval"], 3) == 0.147
    assert of["fleiss_kappa"] is None  # up to 10 points, all are in the first of five categories
    assert measured(write(*targets), bins=40)["criteria"]["adequacy"]["fleiss_kappa"] < 0.2


def test_copies_and_second_ratings_change_nothing(write, targets):
    alone = between(measured(write(*targets))["criteria"]["adequacy"])
    more = ["w0,t0,S,repeat,50", "w1,t0,S,degraded,3", "w2,t0,S,reference,99", "w3,t0,other,ordinary,7"]
    assert between(measured(write(*targets, *more))["criteria"]["adequacy"]) == alone
    header = "worker,source,system,kind,score,hit"
    again = [f"{row},h1" for row in targets] + ["w0,t0,S,ordinary,77,h2"]
    assert between(measured(write(*again, header=header))["criteria"]["adequacy"]) == alone


def test_outputs_without_exactly_the_same_workers_are_left_out_of_icc_and_a_note_says_so(write, targets):
    path = write(*targets, "w0,t9,S,ordinary,4", "w9,t9,S,ordinary,60")
    out, err = agreement(path, protocol="mrc-adequacy", worker_test="none", scale=[0, 100], format="json")
    found = json.loads(out)["criteria"]["adequacy"]
    assert (round(found["icc"]["single"], 2), found["n_items"], found["n_workers"]) == (0.29, 7, 5)
    assert "adequacy: the intraclass correlations are of 6 of 7 outputs" in err


def test_negative_criteria_are_reversed(write, tmp_path):
    rows = ["w0,a,S,ordinary,90", "w1,a,S,ordinary,100", "w0,b,S,ordinary,80", "w1,b,S,ordinary,70"]
    protocol = tmp_path / "study.json"
    protocol.write_text(json.dumps({"criteria": [{"name": "robotic", "is_negative": True}]}))
    found = measured(write(*rows), protocol=str(protocol))["criteria"]["robotic"]["krippendorff_alpha"]
    straight = [f"{row.rsplit(',', 1)[0]},{100 - int(row.rsplit(',', 1)[1])}" for row in rows]
    assert found == measured(write(*straight))["criteria"]["adequacy"]["krippendorff_alpha"]
    assert found["ratio"] != measured(write(*rows))["criteria"]["adequacy"]["krippendorff_alpha"]["ratio"]


def test_workers_who_failed_count_only_if_asked_for_and_excluded_ones_never(tmp_path):
    options = {"worker_test": None, "scale": None}
    passed, everybody = (measured(EXAMPLE, workers=workers, **options) for workers in ("passed", "all"))
    assert (passed["workers"], everybody["workers"]) == ("passed", "all")
    passed, everybody = passed["criteria"]["adequacy"], everybody["criteria"]["adequacy"]
    assert (passed["n_workers"], everybody["n_workers"]) == (35, 48)
    assert passed["krippendorff_alpha"]["interval"] > everybody["krippendorff_alpha"]["interval"] + 0.1
    protocol = tmp_path / "study.json"
    protocol.write_text(json.dumps({"criteria": ["adequacy"], "excluded": {"worker-20": "asked for it"}}))
    found = measured(EXAMPLE, workers="all", protocol=str(protocol), **options)
    assert found["criteria"]["adequacy"]["n_workers"] == 47


def test_nothing_shared_and_nothing_different_are_undefined(write, shared_data):
    chats = shared_data / "dialogue-run1" / "ratings.csv"
    out, err = agreement(chats, protocol="dialogue-free", format="json")
    nothing = UNDEFINED | {"n_items": 0, "n_workers": 0}
    assert all(between(of) == nothing for of in json.loads(out)["criteria"].values())
    assert "No output was judged by two workers who count" in err
    equal = [f"w{w},{t},S,ordinary,50" for w in range(3) for t in range(3)]
    found = measured(write(*equal))["criteria"]["adequacy"]
    assert between(found) == UNDEFINED | {"n_items": 3, "n_workers": 3}


def test_text_is_a_table_with_dashes_for_what_is_undefined(write, targets):
    out, _ = agreement(write(*targets), protocol="mrc-adequacy", worker_test="none", scale=[0, 100])
    header, _rule, row, caption = out.splitlines()
    assert header.split()[-3:] == ["items", "answers", "workers"]
    assert row.split()[-6:] == ["0.290", "0.620", "–", "6", "24", "4"]
    assert "5 categories" in caption


def test_what_is_wrong_is_listed_by_row_and_column(write, targets):
    with pytest.raises(CommandError, match=r"row 2, column “score”.*\n.*row 4, column “kind”"):
        agreement(write("w,t,S,ordinary,x", "w,u,S,ordinary,1", "w,v,S,rare,1"), protocol="mrc-adequacy")
    with pytest.raises(CommandError, match="--scale LOW HIGH"):
        agreement(write(*targets), protocol="mrc-adequacy")
    with pytest.raises(CommandError, match="a whole number from 2 up"):
        call_command("agreement", str(EXAMPLE), "--protocol", "mrc-adequacy", "--bins", "1")


def test_of_votes_and_marks_there_is_what_fits_them(tmp_path) -> None:
    votes = tmp_path / "votes.csv"
    rows = [
        f"q{item},x,y,{winner},{who}"
        for who, won in (("ann", "xyx"), ("bob", "xyy"))
        for item, winner in enumerate(won)
    ]
    votes.write_text("\n".join(["question_id,model_a,model_b,winner,judge", *rows]))
    found = json.loads(agreement(votes, format="json")[0])
    assert found["protocol"] == "preference"
    assert found["criteria"]["preference"]["same"] == pytest.approx(2 / 3)
    text, _ = agreement(votes)
    assert "66.7" in text
    marks = tmp_path / "marks.tsv"
    about = "s\td\t1\t{who}\tsource\ta <v>{text}</v> word\tStyle\tMinor"
    lines = [about.format(who=who, text="bad") for who in ("ann", "bob")]
    marks.write_text("\n".join(["system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity", *lines]))
    assert json.loads(agreement(marks, format="json")[0])["criteria"]["penalty"]["f1"] == 1
