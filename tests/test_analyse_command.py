"""`manage.py analyse`: what it prints, writes and refuses."""

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command, execute_from_command_line

from analysis.methods.study import direct_assessment

EXAMPLE = Path(settings.BASE_DIR) / "examples" / "ratings.csv"
TRUE_ORDER = ["human", "cedar", "birch", "maple", "aspen", "willow"]


def analyse(*arguments, **options):
    out, err = StringIO(), StringIO()
    call_command("analyse", *map(str, arguments), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


@pytest.fixture
def no_figures(monkeypatch):
    """Draw nothing: the test looks at other files."""
    monkeypatch.setattr("analysis.results.exports.write_figures", lambda folder, report: None)


def test_the_example_recovers_its_known_truth(tmp_path, no_figures):
    found = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json", out=tmp_path)[0])
    assert [row["system"] for row in found["systems"]] == TRUE_ORDER
    assert found["clusters"] == [["human"], ["cedar", "birch"], ["maple", "aspen", "willow"]]
    as_before = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json", comparison="studies")[0])
    assert as_before["clusters"] == [["human"], ["cedar", "birch"], ["maple"], ["aspen", "willow"]]
    assert found["workers"] == {"total": 48, "passed": 35, "failed": 13, "untested": 0}
    report = json.loads((tmp_path / "report.json").read_text())
    passed = {row["worker"] for row in report["worker_table"] if row["verdict"] == "passed"}
    careless = {f"worker-{k:02}" for k in range(1, 13)}
    assert len(passed & careless) <= 1
    assert len(passed - careless) >= 34


def test_the_example_is_what_its_script_writes():
    script = EXAMPLE.parent / "make_ratings.py"
    written = subprocess.run([sys.executable, script], capture_output=True, check=True).stdout
    assert written == EXAMPLE.read_bytes()


def test_json_is_one_object_with_the_documented_keys():
    found = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json")[0])
    assert set(found) == {
        "protocol",
        "unit",
        "n_counts",
        "worker_test",
        "workers",
        "references",
        "systems",
        "significance",
        "clusters",
        "concluded_by",
        "method",
        "higher_is_better",
        "findings",
        "pairs",
    }
    assert (found["method"], found["higher_is_better"]) == ("direct_assessment", True)
    keys = {"system", "n", "n_outputs", "n_ratings", "z", "raw", "criteria", "score", "interval", "rank", "ranks"}
    assert set(found["systems"][0]) == keys
    assert [row["rank"] for row in found["systems"]] == list(range(1, len(found["systems"]) + 1))
    for row in found["systems"]:
        low, high = row["interval"]
        assert low < row["score"] == row["z"] < high
    assert found["systems"][0]["criteria"]["adequacy"] == {
        "z": found["systems"][0]["z"],
        "raw": found["systems"][0]["raw"],
    }


def test_json_concludes_by_the_comparison_that_allows_for_shared_workers_and_sources():
    found = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json")[0])
    assert found["concluded_by"] == "clustered"
    assert found["findings"][0].endswith("it beats each of the others at p < 0.05 after Holm’s correction.")
    first = found["pairs"][0]
    assert (first["better"], first["worse"], first["differs"]) == ("human", "cedar", True)
    assert 0 < first["low"] < first["difference"] < first["high"]
    assert all(pair["differs"] == (pair["p_holm"] < 0.05) for pair in found["pairs"])
    # The rank-sum tests of the studies, uncorrected, name two differences more.
    by_studies = [min(pair["p_studies"]) < 0.05 for pair in found["pairs"]]
    assert (sum(pair["differs"] for pair in found["pairs"]), sum(by_studies)) == (11, 13)


def test_intervals_of_many_items_are_not_resampled_and_the_same_for_a_reader(monkeypatch):
    def intervals():
        found = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json")[0])
        return [end for row in found["systems"] for end in row["interval"]]

    resampled = intervals()
    monkeypatch.setattr(direct_assessment, "_MOST_RESAMPLED", 0)
    assert intervals() == pytest.approx(resampled, abs=0.01)
    assert intervals() != resampled


def test_table_and_latex_show_every_system_and_the_rules():
    table, _ = analyse(EXAMPLE, protocol="mrc-adequacy")
    assert "35 of 48 workers passed" in table
    latex, _ = analyse(EXAMPLE, protocol="mrc-adequacy", format="latex")
    ranking = latex.split(r"\end{table}")[0]
    assert ranking.count(r"\midrule") == 1 + 2  # below the header, and below two of the three clusters
    assert all(name in table and name in latex for name in TRUE_ORDER)


def test_reference_items_are_reported_per_worker_and_overall_where_there_are_any(tmp_path, no_figures):
    rows = ["w1,q1,A,ordinary,40", "w1,q2,A,ordinary,60", "w1,q1,A,reference,90", "w2,q1,A,ordinary,50"]
    path = tmp_path / "references.csv"
    path.write_text("\n".join(["worker,source,system,kind,score", *rows]))
    options = {"protocol": "mrc-adequacy", "worker_test": "none", "format": "json"}
    assert json.loads(analyse(path, out=tmp_path / "out", **options)[0])["references"] == {
        "mean": 90.0,
        "distance": 40.0,
    }
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    found = {row["worker"]: (row["reference_mean"], row["reference_distance"]) for row in report["worker_table"]}
    assert found == {"w1": (90.0, 40.0), "w2": (None, None)}
    assert "reference distance" in (tmp_path / "out" / "tables" / "workers.csv").read_text()

    path.write_text("\n".join(["worker,source,system,kind,score", *rows[:2]]))
    assert json.loads(analyse(path, out=tmp_path / "none", **options)[0])["references"] is None
    assert "reference" not in (tmp_path / "none" / "tables" / "workers.csv").read_text()


def test_alpha_and_worker_test_change_who_is_kept():
    strict = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json", alpha=0.001)[0])
    assert strict["worker_test"] == {"preset": "paired-wilcoxon", "alpha": 0.001}
    assert strict["workers"]["passed"] < 35
    other = json.loads(analyse(EXAMPLE, protocol="mrc-adequacy", format="json", worker_test="paired-t")[0])
    assert other["worker_test"]["preset"] == "paired-t"


@pytest.fixture
def untested(tmp_path):
    """The example's ratings of ordinary items only, as trusted raters give them."""
    rows = EXAMPLE.read_text().splitlines(keepends=True)
    path = tmp_path / "untested.csv"
    path.write_text("".join([rows[0], *(row for row in rows[1:] if ",ordinary," in row)]))
    return path


def test_without_quality_control_items_the_way_out_is_named(untested):
    out, err = analyse(untested, protocol="mrc-adequacy", format="json")
    found = json.loads(out)
    assert found["workers"] == {"total": 48, "passed": 0, "failed": 0, "untested": 48}
    assert all(row["z"] is None for row in found["systems"])
    assert "No worker could be tested" in err and "--worker-test none" in err


def test_without_a_worker_test_every_worker_counts_and_the_results_say_so(untested, tmp_path):
    said = "No worker test was applied"
    out, err = analyse(untested, protocol="mrc-adequacy", worker_test="none", format="json", out=tmp_path / "out")
    found = json.loads(out)
    assert found["worker_test"] == {"preset": "none", "alpha": 0.05}
    assert found["workers"] == {"total": 48, "passed": 0, "failed": 0, "untested": 0}
    assert {row["system"] for row in found["systems"]} == set(TRUE_ORDER)
    assert all(row["z"] is not None for row in found["systems"])
    assert said in err and "no system has a score" not in err

    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {row["verdict"] for row in report["worker_table"]} == {"trusted"}
    assert said in report["notes"][0]
    for table in ("systems", "workers"):
        assert said in (tmp_path / "out" / "tables" / f"{table}.tex").read_text()
    assert not list((tmp_path / "out" / "figures").glob("workers.*"))  # there are no p-values to draw

    table, _ = analyse(untested, protocol="mrc-adequacy", worker_test="none")
    assert f"{said}: 48 of 48 workers count." in table
    latex, _ = analyse(untested, protocol="mrc-adequacy", worker_test="none", format="latex")
    assert said in latex


def test_without_a_worker_test_no_criterion_needs_to_enter_it(tmp_path):
    protocol = tmp_path / "trusted.json"
    criterion = {"name": "adequacy", "is_in_worker_test": False}
    protocol.write_text(json.dumps({"criteria": [criterion], "worker_test": "none"}))
    found = json.loads(analyse(EXAMPLE, protocol=str(protocol), format="json")[0])
    assert found["systems"][0]["z"] is not None


def test_out_writes_tables_and_figures_that_are_the_same_each_time(tmp_path):
    for name in ("first", "second"):
        analyse(EXAMPLE, protocol="mrc-adequacy", out=tmp_path / name)
    first = {path.relative_to(tmp_path / "first"): path.read_bytes() for path in (tmp_path / "first").rglob("*.*")}
    second = {path.relative_to(tmp_path / "second"): path.read_bytes() for path in (tmp_path / "second").rglob("*.*")}
    assert first == second
    names = {str(path) for path in first}
    assert {"tables/systems.csv", "tables/systems.tex", "tables/workers.csv", "tables/pairs.csv"} <= names
    for figure in ("boxes", "workers", "significance-overall"):
        assert first[Path(f"figures/{figure}.svg")].startswith(b"<?xml")
        assert first[Path(f"figures/{figure}.pdf")].startswith(b"%PDF")


def test_a_protocol_file_defines_criteria_and_test(tmp_path):
    protocol = tmp_path / "study.json"
    protocol.write_text(
        json.dumps(
            {
                "criteria": [{"name": "adequacy", "is_negative": True}],
                "worker_test": {"preset": "paired-t", "alpha": 0.01},
                "unit": "output",
            }
        )
    )
    found = json.loads(analyse(EXAMPLE, protocol=str(protocol), format="json")[0])
    assert (found["protocol"], found["unit"]) == ("study", "output")
    assert found["worker_test"] == {"preset": "paired-t", "alpha": 0.01}
    assert found["workers"]["passed"] <= 2  # with adequacy reversed, degraded items look better to careful workers


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "line 1"),
        ("[]", "JSON object"),
        ('{"criteria": "adequacy"}', "must be a list"),
        ('{"criteria": []}', "at least one"),
        ('{"criteria": ["a", "A"]}', "name of its own"),
        ('{"criteria": ["a"], "alfa": 1}', "no field “alfa”"),
        ('{"criteria": ["a"], "worker_test": "coin-toss"}', "coin-toss"),
        ('{"criteria": ["a"], "worker_test": {"alpha": 5}}', "between 0 and 1"),
        ('{"criteria": [{"name": "a", "is_negative": "no"}]}', "true or false"),
        ('{"criteria": ["a"], "unit": "page"}', "rating or output"),
        ('{"criteria": ["a"], "n_counts": "workers"}', "outputs or ratings"),
        ('{"criteria": ["a"], "comparison": "eyes"}', "clustered, crossed, permuted"),
    ],
)
def test_a_wrong_protocol_file_is_refused_with_its_mistake(tmp_path, text, says):
    protocol = tmp_path / "wrong.json"
    protocol.write_text(text)
    with pytest.raises(CommandError, match=says):
        analyse(EXAMPLE, protocol=str(protocol))


def test_an_unknown_protocol_is_refused_with_the_known_ones():
    with pytest.raises(CommandError, match="mrc-adequacy, mrc-fluency, qg, da-translation, da-summary, "):
        analyse(EXAMPLE, protocol="telepathy")


def test_ratings_of_other_criteria_are_refused_by_row_and_column():
    with pytest.raises(CommandError, match=r"column “criterion”: 4,800 rows \(2, 3, .*Row 2: “adequacy” is not known"):
        analyse(EXAMPLE, protocol="mrc-fluency")


def test_a_column_for_each_criterion_is_guessed_and_said(tmp_path):
    protocol, long, wide = (tmp_path / name for name in ("protocol.json", "long.csv", "wide.csv"))
    protocol.write_text('{"criteria": ["clear", "wordy"], "worker_test": "none"}')
    scores = [("a", "A", 20, 70), ("a", "B", 30, 90), ("b", "A", 10, 50), ("b", "B", 70, 40)]
    rows = [f"{w},{s},{name},{x}" for w, s, *both in scores for name, x in zip(("clear", "wordy"), both, strict=True)]
    long.write_text("\n".join(["worker,system,criterion,score", *rows]))
    wide.write_text("\n".join(["worker,system,clear,wordy", *(f"{w},{s},{x},{y}" for w, s, x, y in scores)]))
    expected = analyse(long, protocol=protocol, format="json")[0]
    found, said = analyse(wide, protocol=protocol, format="json")
    assert found == expected
    assert "used for the scores of a criterion: clear, wordy." in said
    found, said = analyse(wide, protocol=protocol, format="json", score_columns=["clear", "wordy"])
    assert (found, "scores of a criterion" in said) == (expected, False)
    with pytest.raises(CommandError, match="there is no column “wordier”"):
        analyse(wide, protocol=protocol, score_columns=["clear", "wordier"])


def test_a_file_of_windows_is_refused_with_the_option_that_reads_it(tmp_path):
    text = "worker,system,score\n" + "".join(f"Zoë,{system},{score}\n" for system in "ab" for score in (20, 70))
    text = text.replace("Zoë,a,70", "ann,a,70").replace("Zoë,b,70", "ann,b,70")
    path, same = tmp_path / "windows.csv", tmp_path / "utf8.csv"
    path.write_text(text, encoding="windows-1252")
    same.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match="--encoding windows-1252") as refused:
        analyse(path, protocol="mrc-adequacy")
    assert "“Zoë,a,20”" in str(refused.value)
    found = analyse(path, protocol="mrc-adequacy", format="json", encoding="windows-1252")
    assert found[0] == analyse(same, protocol="mrc-adequacy", format="json", encoding="windows-1252")[0]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04junk", b"\x00\x01\x02", b"worker,system\na,b\n", b"\xff\xfe"])
def test_whatever_the_file_holds_no_traceback_is_printed(tmp_path, content, capsys):
    path = tmp_path / "ratings.csv"
    path.write_bytes(content)
    with pytest.raises(SystemExit) as end:
        execute_from_command_line(["manage.py", "analyse", str(path), "--protocol", "mrc-adequacy"])
    out, err = capsys.readouterr()
    assert end.value.code == 1
    assert "Traceback" not in err
    assert "ratings.csv" in err
    assert out == ""


def test_a_missing_file_is_named():
    command = [sys.executable, "manage.py", "analyse", "nowhere.csv", "--protocol", "mrc-adequacy"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=settings.BASE_DIR)
    assert done.returncode == 1
    assert "nowhere.csv" in done.stderr and "Traceback" not in done.stderr


def test_with_only_one_system_or_worker_the_result_is_explained(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("worker,system,score\nw1,s1,50\n")
    out, err = analyse(path, protocol="mrc-adequacy", format="json")
    found = json.loads(out)
    assert found["workers"] == {"total": 1, "passed": 0, "failed": 0, "untested": 1}
    assert found["systems"] == [
        {
            "system": "s1",
            "n": 0,
            "n_outputs": 0,
            "n_ratings": 0,
            "z": None,
            "raw": None,
            "criteria": {"adequacy": {"z": None, "raw": None}},
            "score": None,
            "interval": None,
            "rank": None,
            "ranks": None,
        }
    ]
    assert found["significance"] == {"order": ["s1"], "p": [[None]]}
    table_out, table_err = analyse(path, protocol="mrc-adequacy")
    assert "No worker could be tested" in table_err and "only one system" in table_err
    assert "s1" in table_out
    assert err


@pytest.mark.parametrize("format_", ["json", "latex", "table"])
def test_what_is_undefined_is_explained_in_every_format(tmp_path, format_):
    path = tmp_path / "apart.csv"
    path.write_text("worker,position,system,criterion,score\nw,1,A,c1,50\nw,2,A,c2,60\nw,3,B,c1,40\nw,4,B,c2,50\n")
    protocol = tmp_path / "two.json"
    protocol.write_text('{"criteria": ["c1", "c2"]}')
    _, err = analyse(path, protocol=str(protocol), format=format_)
    assert "No worker could be tested" in err


def test_latex_has_nothing_that_plain_latex_stops_at():
    latex, _ = analyse(EXAMPLE, protocol="mrc-adequacy", format="latex")
    assert "α" not in latex and r"$\alpha$" in latex


def test_a_stream_is_refused_as_it_cannot_be_read_twice():
    with pytest.raises(CommandError, match="not a regular file"):
        analyse("/dev/null", protocol="mrc-adequacy")
