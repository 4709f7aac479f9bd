"""Files of metric scores: of segments, of whole systems, of both."""

import numpy as np
import pytest

from analysis.metrics.loading import combine, load_segment_scores
from evalsite.lib.tables import TableError


@pytest.fixture
def load(tmp_path):
    def write_and_load(text, name="scores.csv", **options):
        path = tmp_path / "scores"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_segment_scores(path, has_metrics=True, name=name, **options)

    return write_and_load


def test_a_score_without_a_source_is_of_the_whole_system(load):
    found = load("metric,system,source,score\nBLEU,ash,,31\nBLEU,ash,q1,20\nBLEU,ash,q2,30\nBLEU,elm,q1,10\n")
    assert found.sources == ["q1", "q2"]
    assert found.system_scores("BLEU", ["elm", "ash", "oak"]) == pytest.approx([10, 31, np.nan], nan_ok=True)
    assert found.matrix("BLEU", ["ash", "elm"], ["q2", "q1"]) == pytest.approx(
        np.array([[30, np.nan], [20, 10]]), nan_ok=True
    )


def test_a_file_may_have_no_sources_at_all(load):
    found = load("metric;system;score\nBLEU;ash;31.5\nBLEU;elm;10.25\n")
    assert found.system_scores("BLEU", ["ash", "elm"]).tolist() == [31.5, 10.25]
    assert found.matrix("BLEU", ["ash"], []).shape == (0, 1)


def test_windows_1252_is_read_where_it_is_said(load):
    text = "metric;system;source;score\nBLEU;Käfer;q1;31.5\n".encode("windows-1252")
    assert load(text, encoding="windows-1252").systems == ["Käfer"]
    with pytest.raises(TableError, match="UTF-8"):
        load(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "metric,system,score\nBLEU,ash,1\nBLEU,ash,2\n",
            "row 3, column “system”: row 2 has a score of the same metric and system",
        ),
        (
            "metric,system,source,score\nB,ash,q,1\nB,ash,q,2\n",
            "row 3, column “source”: row 2 has a score of the same metric, system and source",
        ),
        ("metric;system;score\nBLEU;ash;1,5\n", "row 2, column “score”: “1,5” is not a number. Write a decimal point"),
        ("metric,system,score\n,ash,1\n", "row 2, column “metric”: the cell is empty"),
        ("metric,score\nBLEU,1\n", "column “system”: there is no such column"),
    ],
)
def test_what_is_wrong_is_said_by_row_and_column(load, text, said):
    with pytest.raises(TableError, match=said) as error:
        load(text, name="mine.csv")
    assert str(error.value).startswith("mine.csv")


def test_several_files_are_one_set_of_scores(load):
    first = load("metric,system,source,score\nBLEU,ash,q2,2\nBLEU,elm,q1,1\n", name="a.csv")
    second = load("metric,system,score\nCOMET,oak,9\nCOMET,ash,8\n", name="b.csv")
    both = combine([first, second])
    assert (both.file, both.metrics, both.systems) == ("a.csv, b.csv", ["BLEU", "COMET"], ["ash", "elm", "oak"])
    for name, one in (("BLEU", first), ("COMET", second)):
        systems, sources = ["oak", "elm", "ash"], ["q1", "q2"]
        assert both.matrix(name, systems, sources) == pytest.approx(one.matrix(name, systems, sources), nan_ok=True)
        assert both.system_scores(name, systems) == pytest.approx(one.system_scores(name, systems), nan_ok=True)


def test_a_million_rows_are_placed_without_a_loop(load):
    n_systems, n_sources = 50, 2000
    from analysis.metrics.loading import SegmentScores

    system, source = (each.ravel() for each in np.indices((n_systems, n_sources)))
    names = [f"s{k:02}" for k in range(n_systems)], [f"q{k:04}" for k in range(n_sources)]
    scores = SegmentScores("", ["m"], *names, np.zeros(system.size, int), system, source, system * 1.0)
    assert scores.system_scores("m", names[0]).tolist() == list(range(n_systems))
    assert scores.matrix("m", *names).shape == (n_sources, n_systems)
