"""Error spans: reading and writing MQM files, the penalties of systems, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import strategies as st

from analysis.data.spans.loading import COLUMNS, load_spans
from analysis.data.spans.rows import Side, read_mark, read_marks, with_mark
from analysis.data.spans.weights import DEFAULTS, read_weights, weigh
from analysis.data.spans.writing import to_mqm_tsv
from analysis.methods import ResponsesFile, get_method
from analysis.methods.settings import from_protocol
from analysis.questions.reliability import measure_reliability
from analysis.stats.segment_means import segment_means
from analysis.stats.spans import span_agreement
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from evalsite.lib.tables.arrow_columns import arrow_text, clean_cells

HEADER = "\t".join(COLUMNS)
# Mean penalty of a segment as published with the data; two printed values are cut, not rounded.
PUBLISHED = {
    "refB": 0.42,
    "DIDI-NLP": 1.65,
    "metricsystem2": 1.76,
    "metricsystem1": 1.90,
    "MiSS": 1.97,
    "IIE-MT": 1.98,
    "metricsystem4": 2.05,
    "metricsystem5": 2.15,
    "SMU": 2.202,
    "Borderline": 2.4053,
    "NiuTrans": 2.49,
    "Facebook-AI": 2.64,
    "Online-W": 2.93,
    "metricsystem3": 2.99,
    "ref": 5.52,
}


@pytest.fixture
def mqm_file(tmp_path):
    """Return a function that writes rows of a table as an MQM file."""

    def write(*rows, header=HEADER):
        path = tmp_path / "errors.tsv"
        path.write_text("\n".join([header, *("\t".join(row) for row in rows)]) + "\n", encoding="utf-8")
        return path

    return write


def row(system="A", seg="1", rater="r1", target="a <v>bad</v> word", category="Style", severity="Minor", source="src"):
    return (system, "d", "1", seg, rater, source, target, category, severity)


NOTHING = {"target": "fine", "category": "No-error", "severity": "No-error"}


def test_more_systems_than_are_compared_are_refused(mqm_file):
    with pytest.raises(TableError, match="501 different systems, and at most 500"):
        load_spans(mqm_file(*(row(system=f"S{k}") for k in range(501))), DEFAULTS)


def test_the_published_table_of_ted_talks(shared_data, analyse):
    path = shared_data / "mqm-ted-zhen" / "mqm_ted_zhen.tsv"
    out, err = analyse(path, protocol="mqm", format="json")
    found = json.loads(out)
    scores = {row["system"]: row["score"] for row in found["systems"]}
    assert list(scores) == list(PUBLISHED)
    assert scores == pytest.approx(PUBLISHED, abs=0.005)
    assert found["higher_is_better"] is False and found["method"] == "spans"
    assert all(row["n"] == 529 and row["interval"][0] < row["score"] < row["interval"][1] for row in found["systems"])
    assert found["criteria"]["errors"] == scores
    assert "Errors without </v>, taken to reach to the end of the text: 1." in err


def test_the_file_is_written_as_it_was(shared_data, tmp_path):
    path = shared_data / "mqm-ted-zhen" / "mqm_ted_zhen.tsv"
    text = path.read_text(encoding="utf-8")
    opened = "<v>The same country, the same inequality measurement method, one problem after another."
    closed = text.replace(f"{opened}\t", f"{opened}</v>\t")
    whole = tmp_path / "whole.tsv"
    whole.write_text(closed, encoding="utf-8")
    data = load_spans(whole, DEFAULTS)
    assert not data.warnings
    assert sorted(to_mqm_tsv(data).splitlines()) == sorted(closed.splitlines())
    again = tmp_path / "again.tsv"
    again.write_text(to_mqm_tsv(data), encoding="utf-8")
    assert to_mqm_tsv(load_spans(again, DEFAULTS)) == to_mqm_tsv(data)


def test_raters_are_averaged_first_and_weights_are_the_most_specific(mqm_file, analyse):
    path = mqm_file(
        row(severity="Major"),
        row(severity="Minor", category="Fluency/Punctuation"),
        row(rater="r2", **NOTHING),
        row(seg="2", category="Non-translation!", severity="Major", target="<v>x y</v>"),
        row(system="B", **NOTHING),
        row(system="B", seg="2", severity="neutral"),
    )
    found = json.loads(analyse(path, protocol="mqm", format="json")[0])
    scores = {row["system"]: (row["score"], row["rank"], row["n"]) for row in found["systems"]}
    assert scores == {"B": (0.0, 1, 2), "A": (pytest.approx(((5 + 0.1) / 2 + 25) / 2), 2, 2)}


def test_weights_are_settable(mqm_file, analyse, tmp_path):
    path, protocol = mqm_file(row(severity="Critical"), row(system="B")), tmp_path / "own.json"
    with pytest.raises(CommandError, match="row 2, column “severity”: “Critical” is no known severity"):
        analyse(path, protocol="mqm")
    protocol.write_text(json.dumps({"protocol": "mqm", "options": {"weights": {"critical": 10, ":style": 3}}}))
    found = json.loads(analyse(path, protocol=str(protocol), format="json")[0])
    assert [row["score"] for row in found["systems"]] == [3.0, 3.0]
    assert [row["rank"] for row in found["systems"]] == [1, 1]
    assert weigh(read_weights({}), ["Minor"], ["Fluency/Punctuation", "Fluency"]).tolist() == [[0.1, 1.0]]
    for bad in ({"major": -1}, {"major": "5"}, {"": 1}, {"major": float("inf")}, [5]):
        with pytest.raises(DomainError):
            read_weights(bad)


@pytest.mark.parametrize(
    ("changes", "column", "words"),
    [
        ({"target": "a <v>b</v> <v>c</v>"}, "target", "2 times <v>"),
        ({"target": "a b</v> c"}, "target", "</v> without <v>"),
        ({"target": "a </v>b<v> c"}, "target", "</v> without <v>"),
        ({"source": "<v>s</v>"}, "source", "both have a mark"),
        ({"category": "No-error", "severity": "no-error"}, "target", "without an error has a mark"),
        ({"severity": "Huge"}, "severity", "is no known severity"),
        ({"severity": ""}, "severity", "the cell is empty"),
        ({"rater": ""}, "rater", "the cell is empty"),
    ],
)
def test_a_bad_row_is_named(mqm_file, changes, column, words):
    with pytest.raises(TableError) as caught:
        load_spans(mqm_file(row(seg="9"), row(**changes)), DEFAULTS)
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(3, column)]
    assert words in str(caught.value)


def test_missing_columns_and_ragged_lines_are_named(mqm_file, tmp_path):
    with pytest.raises(TableError, match="there is no column “severity”"):
        load_spans(mqm_file(row()[:-1], header="\t".join(COLUMNS[:-1])), DEFAULTS)
    with pytest.raises(TableError, match=r"row 3.*too few"):
        load_spans(mqm_file(row(), row()[:-2]), DEFAULTS)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_are_left_out_and_rows_keep_their_numbers(tmp_path, end):
    blank = "\t" * (len(COLUMNS) - 1)
    lines = [HEADER, "", "\t".join(row()), "  ", blank, "\t".join(row(seg="2")), "\t".join(row(severity="Huge")), ""]
    path = tmp_path / "lines.tsv"
    path.write_bytes(("\ufeff" + end.join(lines)).encode())
    with pytest.raises(TableError) as caught:
        load_spans(path, DEFAULTS)
    assert [problem.row for problem in caught.value.problems] == [7]
    path.write_bytes(end.join(lines[:-2]).encode())
    assert [name for _, name in load_spans(path, DEFAULTS).segments] == ["1", "2"]


@given(st.lists(st.text(alphabet="ab<v>/ é😀", max_size=14), max_size=5))
def test_marks_of_many_texts_are_those_of_each(texts):
    found, each = read_marks(pa.array(texts, pa.large_string())), [read_mark(text) for text in texts]
    assert [(mark.text, mark.start, mark.end, mark.is_closed) for mark in each] == list(
        zip(
            [found.texts[code] for code in found.text],
            found.start.tolist(),
            found.end.tolist(),
            found.is_closed.tolist(),
            strict=True,
        )
    )
    assert found.faults == {k: mark.fault for k, mark in enumerate(each) if mark.fault}
    assert sorted({*found.text.tolist()}) == list(range(len(found.texts)))


@given(st.lists(st.text(alphabet="ab='=\u00a0\u3000\x00é😀 ", max_size=4), min_size=1, max_size=6, unique=True))
def test_cells_without_codes_are_those_with_codes_or_are_refused(cells):
    column = pa.chunked_array([cells[:2], cells[2:]], pa.large_string())
    with_codes, found = arrow_text(column), clean_cells(column)
    kept = [with_codes.labels[code] for code in with_codes.codes]
    assert found is None or found.to_pylist() == kept
    is_clean = kept == cells and not any("\x00" in cell for cell in cells)
    assert (found is not None) == is_clean or not any(cells)


@pytest.mark.parametrize("odd", ["a <v>b</v> c", " a <v>b</v> c", "'=a <v>b</v>", "语 <v>言</v>", '"a" <v>b</v>'])
def test_texts_that_are_all_different_are_read_as_those_that_are_not(tmp_path, odd):
    """Whether texts of a file have codes changes nothing, nor does a blank line between them, nor the format."""
    rows = [row(seg=str(k), target=f"text {k} <v>is</v> plain") for k in range(5)] + [row(seg="9", target=odd)]
    lines = [HEADER, *("\t".join(cells) for cells in rows)]
    lines.insert(3, "\t" * (len(COLUMNS) - 1))
    (tmp_path / "one.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    objects = [json.dumps(dict(zip(COLUMNS, cells, strict=True))) for cells in rows]
    (tmp_path / "other.jsonl").write_text("\n".join(objects), encoding="utf-8")
    one, other = (load_spans(tmp_path / name, DEFAULTS) for name in ("one.tsv", "other.jsonl"))
    assert sorted(one.target_texts) == sorted(other.target_texts)
    assert [one.target_texts[code] for code in one.target] == [other.target_texts[code] for code in other.target]
    assert (one.start.tolist(), one.end.tolist()) == (other.start.tolist(), other.end.tolist())
    assert one.fingerprint == other.fingerprint


def test_where_a_mark_is_changes_the_fingerprint(mqm_file):
    marked = ("a <v>b</v> c", "a b <v>c</v>", "a b <v>c", "a b c")
    assert len({load_spans(mqm_file(row(target=text)), DEFAULTS).fingerprint for text in marked}) == len(marked)


def test_half_a_surrogate_pair_beside_a_mark_is_refused(tmp_path):
    path = tmp_path / "marks.jsonl"
    cells = row(target="a <v>b\ud800</v>")
    path.write_text(json.dumps(dict(zip(COLUMNS, cells, strict=True))) + "\n")
    with pytest.raises(TableError, match="holds bytes that are not UTF-8") as caught:
        load_spans(path, DEFAULTS)
    assert [(problem.row, problem.column) for problem in caught.value.problems] == [(1, "target")]


def test_quotation_marks_are_text_unless_the_file_is_quoted(mqm_file, tmp_path):
    raw = load_spans(
        mqm_file(row(target='"Why?" <v>I</v> ask'), row(seg="2", target='"Yes."', severity="Major")), DEFAULTS
    )
    assert raw.target_texts == ['"Why?" I ask', '"Yes."']
    quoted = load_spans(mqm_file(row(target='"""Why?"" <v>I</v> ask"')), DEFAULTS)
    assert quoted.target_texts == ['"Why?" I ask'] and (quoted.start[0], quoted.end[0]) == (7, 8)


def test_marks_in_the_source_and_errors_without_a_mark(mqm_file):
    data = load_spans(
        mqm_file(row(target="t", source="a <v>b</v>"), row(seg="2", target="t", severity="Major")), DEFAULTS
    )
    assert data.side.tolist() == [1, -1] and (data.start[0], data.end[0]) == (2, 3)
    assert [warning.code for warning in data.warnings] == ["no_mark"]


@given(st.text(alphabet="ab <>v/é😀", max_size=12), st.data())
def test_a_mark_is_read_where_it_was_written(text, data):
    if "<v>" in text or "</v>" in text:
        return
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    marked = with_mark(text, start, end)
    if marked.count("<v>") + marked.count("</v>") == 2:  # "<" before a mark may make another one
        assert read_mark(marked)[:3] == (text, start, end)


# --- Means of segments


def test_the_interval_of_segments_is_students(rng):
    values = rng.normal(3, 2, 40)
    found = segment_means(values, np.zeros(40, int), np.arange(40), 1, {"segment": np.arange(40)})
    from scipy.stats import sem, t

    low, high = t.interval(0.95, 39, values.mean(), sem(values))
    assert (found.mean[0], found.low[0], found.high[0]) == pytest.approx((values.mean(), low, high))


def test_a_difference_on_the_same_segments_is_the_paired_t(rng):
    from scipy.stats import ttest_rel

    one, other = rng.normal(3, 2, 30), rng.normal(2, 2, 30)
    segment = np.tile(np.arange(30), 2)
    found = segment_means(np.r_[one, other], np.repeat([0, 1], 30), segment, 2, {"segment": segment})
    assert found.pairs.p_value[0, 1] == pytest.approx(ttest_rel(one, other).pvalue)


def test_two_way_clusters_are_summed_by_definition(rng):
    system, segment, rater = rng.integers(0, 3, 200), rng.integers(0, 20, 200), rng.integers(0, 6, 200)
    values = rng.normal(0, 1, 200) + rater
    found = segment_means(values, system, segment, 3, {"rater": rater, "segment": segment})
    expected = []
    for code in range(3):
        rows = np.flatnonzero(system == code)
        segments = np.unique(segment[rows])
        mean = np.mean([values[rows][segment[rows] == s].mean() for s in segments])
        influence = np.array([(values[r] - mean) / segments.size / (segment[rows] == segment[r]).sum() for r in rows])

        def variance(groups, rows=rows, influence=influence):
            total = {}
            for r, value in zip(rows, influence, strict=True):
                total[groups[r]] = total.get(groups[r], 0) + value
            n = len(set(groups))
            return sum(x**2 for x in total.values()) * n / (n - 1)

        one, other = variance(rater.tolist()), variance(segment.tolist())
        both = variance(list(zip(rater.tolist(), segment.tolist(), strict=True)))
        from scipy.stats import t

        half = t.ppf(0.975, 5) * np.sqrt(max(one, other, one + other - both))
        expected.append((mean, mean - half, mean + half))
    np.testing.assert_allclose(np.c_[found.mean, found.low, found.high], expected)


def test_nothing_is_said_without_two_clusters():
    found = segment_means(np.array([1.0, 2.0]), np.array([0, 1]), np.array([0, 0]), 3, {"segment": np.array([0, 0])})
    assert found.mean[:2].tolist() == [1, 2] and np.isnan(found.mean[2])
    assert np.isnan(found.low).all() and np.isnan(found.pairs.holm).all()


# --- Agreement


@pytest.mark.parametrize("most_words", [0, 10**6], ids=["intervals", "bits"])
@pytest.mark.parametrize("scale", [1, 17])  # texts of less than a word of bits, and of several
def test_span_agreement_is_that_of_brute_force(rng, most_words, scale, monkeypatch):
    monkeypatch.setattr("analysis.stats.spans._MOST_WORDS", most_words)
    for _ in range(30):
        n, n_spans = 6, int(rng.integers(0, 15))
        text, rater = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 0, 1, 0])
        length = scale * np.array([12, 12, 12, 7, 7, 9])
        annotation = rng.integers(0, n, n_spans)
        start = rng.integers(0, length[annotation])
        end = np.minimum(start + rng.integers(0, 5 * scale * scale, n_spans), length[annotation])
        severity = rng.choice([0, 1, 3], n_spans)
        found = span_agreement(text, rater, length, annotation, start, end, severity)
        marked = [{} for _ in range(n)]
        for a, s, e, code in zip(annotation, start, end, severity, strict=True):
            for k in range(s, e):
                marked[a][k] = max(marked[a].get(k, 0), code)
        both = same = each = agreed = characters = touched = spans = 0
        pairs = [(0, 1), (0, 2), (1, 2), (3, 4)]
        for a, b in pairs:
            common = set(marked[a]) & set(marked[b])
            both += len(common)
            same += sum(1.0 if marked[a][k] == marked[b][k] else 0.5 for k in common)
            each += len(marked[a]) + len(marked[b])
            characters += length[a]
            agreed += sum((k in marked[a]) == (k in marked[b]) for k in range(length[a]))
            for one, other in ((a, b), (b, a)):
                for s, e in zip(start[annotation == one], end[annotation == one], strict=True):
                    spans += e > s
                    touched += any(k in marked[other] for k in range(s, e))
        share = each / (2 * characters)
        chance = share**2 + (1 - share) ** 2
        kappa = (agreed / characters - chance) / (1 - chance) if chance < 1 else np.nan
        expected = [2 * both / each, 2 * same / each] if each else [np.nan, np.nan]
        expected += [kappa, touched / spans if spans else np.nan]
        assert found.n_pairs == 4
        np.testing.assert_allclose([found.f1, found.f1_severity, found.kappa, found.overlap], expected)


@pytest.mark.parametrize("most_words", [0, 10**6], ids=["intervals", "bits"])
def test_span_agreement_of_many_texts_is_counted_in_blocks(rng, most_words, monkeypatch):
    monkeypatch.setattr("analysis.stats.spans._MOST_WORDS", most_words)
    n_texts, n_spans = 40, 300
    text, rater, length = np.repeat(np.arange(n_texts), 3), np.tile(np.arange(3), n_texts), np.full(3 * n_texts, 30)
    annotation, start = rng.integers(0, text.size, n_spans), rng.integers(0, 25, n_spans)
    marks = annotation, start, start + rng.integers(1, 6, n_spans), rng.integers(0, 3, n_spans)
    at_once = span_agreement(text, rater, length, *marks)
    monkeypatch.setattr("analysis.stats.spans._BLOCK", 7)
    monkeypatch.setattr("analysis.stats.span_bits._BLOCK", 7)
    assert span_agreement(text, rater, length, *marks) == at_once


def test_agreement_is_reported_where_raters_share_an_output(mqm_file, analyse):
    path = mqm_file(row(), row(rater="r2", target="a b<v>ad</v> word", severity="Major"), row(system="B", **NOTHING))
    method, settings = get_method("spans"), from_protocol("mqm")
    found = measure_reliability(method.judgements(method.read(ResponsesFile(path), settings), settings))
    between = found.criteria[0].between
    assert between.n_items == 1
    expected = {"f1": 0.8, "f1_severity": 0.4, "difference": 4}
    assert {key: between.coefficients[key] for key in expected} == pytest.approx(expected)


PLACED = "system\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tside\tstart\tend\n"


def test_columns_may_say_where_errors_are(tmp_path: Path):
    path = tmp_path / "placed.tsv"
    path.write_text(
        f"{PLACED}a\t1\tann\tZu viel\tToo <v>much\tOther\tminor\ttarget\t4\t7\n"
        "a\t1\tann\tZu viel\tToo <v>much\tOther\tmajor\tsource\t0\t2\n"
        "a\t2\tann\t\t\tOther\tmajor\t\t\t\n"
    )
    data = load_spans(path, DEFAULTS)
    assert data.side.tolist() == [Side.TARGET, Side.SOURCE, Side.NONE]
    assert (data.start[:2].tolist(), data.end[:2].tolist()) == ([4, 0], [7, 2])
    assert data.target_texts[data.target[0]] == "Too <v>much", "marks are in columns, so texts have none"


@pytest.mark.parametrize(
    "place", ["target\t7\t4", "target\t4\t4", "target\t\t4", "target\t1e3\t4", "left\t0\t1", "\t0\t1", "source\t-1\t2"]
)
def test_a_place_that_cannot_be_is_refused(tmp_path: Path, place: str):
    path = tmp_path / "placed.tsv"
    path.write_text(f"{PLACED}a\t1\tann\tZu viel\tToo much\tOther\tminor\t{place}\n")
    with pytest.raises(TableError, match=r"row 2, column “side”: .* is no place of an error"):
        load_spans(path, DEFAULTS)
