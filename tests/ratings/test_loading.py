"""Sound ratings: the same arrays from every format and in every order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.data.ratings.loading import LoadedRatings, load_ratings
from campaigns.design.composition import Kind
from evalsite.lib.tables import TableError, preview
from tests.ratings.conftest import FORMATS, study, write_rows

BOTH = ["fluency", "adequacy"]


def assert_same(one: LoadedRatings, other: LoadedRatings) -> None:
    assert one.fingerprint == other.fingerprint
    for name in ("scores", "worker", "system", "assignment", "source", "kind"):
        np.testing.assert_array_equal(getattr(one.ratings, name), getattr(other.ratings, name))
    for name in ("workers", "systems", "criteria", "sources", "assignments", "warnings"):
        assert getattr(one, name) == getattr(other, name)


def test_a_study_becomes_arrays(write) -> None:
    loaded = load_ratings(write(study()), criteria=BOTH)
    ratings = loaded.ratings
    assert ratings.scores.shape == (12, 2)
    assert ratings.scores[:5].tolist() == [[29, 36], [58, 65], [87, 94], [15, 22], [46, 53]]
    assert ratings.kind[:4].tolist() == [Kind.ORDINARY, Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT]
    assert ratings.system[:4].tolist() == [0, 1, 0, 1]
    assert (
        ratings.worker.tolist() == ratings.assignment.tolist() == ratings.source.tolist() == [0] * 4 + [1] * 4 + [2] * 4
    )
    assert (ratings.n_workers, ratings.n_systems) == (3, 2)
    assert (loaded.workers, loaded.systems) == (["w0", "w1", "w2"], ["A", "B"])
    assert (loaded.sources, loaded.assignments) == (["s0", "s1", "s2"], ["a0", "a1", "a2"])
    assert (loaded.criteria, loaded.warnings) == (BOTH, [])


@pytest.mark.parametrize("format_", FORMATS)
def test_every_format_gives_the_same_ratings(write, format_: str) -> None:
    rows = study()
    rows[3]["score"] = 33.25
    assert_same(load_ratings(write(rows, format_), criteria=BOTH), load_ratings(write(rows, "csv"), criteria=BOTH))


@given(order=st.permutations(range(24)), format_=st.sampled_from(FORMATS))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_rows_does_not_matter(tmp_path_factory, order: list[int], format_: str) -> None:
    rows = study()
    folder = tmp_path_factory.mktemp("order")
    straight = load_ratings(write_rows(rows, folder / "straight.csv"), criteria=BOTH)
    shuffled = load_ratings(write_rows([rows[i] for i in order], folder / f"shuffled.{format_}"), criteria=BOTH)
    assert_same(straight, shuffled)


@pytest.mark.parametrize("column", ["worker", "assignment", "source", "system", "kind", "score"])
def test_the_fingerprint_tells_any_difference(write, column: str) -> None:
    rows = study()
    before = load_ratings(write(rows), criteria=BOTH).fingerprint
    new = {"kind": "reference", "score": 99.5}.get(column, "other")
    for row in rows:
        if row["worker"] == "w1" and (row["position"] == 3 or column in {"worker", "assignment"}):
            row[column] = new
    assert load_ratings(write(rows), criteria=BOTH).fingerprint != before


def test_minus_zero_and_zero_are_one_score(write) -> None:
    rows = [{"worker": "w", "system": "A", "score": "0"}]
    before = load_ratings(write(rows), criteria=["x"]).fingerprint
    assert load_ratings(write([{**rows[0], "score": "-0"}]), criteria=["x"]).fingerprint == before


def test_positions_order_items_by_number_not_by_text(write) -> None:
    rows = [
        {"worker": "w", "position": position, "system": "A", "source": "s", "score": score}
        for position, score in [("10", 4), ("9", 3), ("1.0", 2), ("100", 5), ("-2", 1)]
    ]
    assert load_ratings(write(rows), criteria=["x"]).ratings.scores[:, 0].tolist() == [1, 2, 3, 4, 5]


def test_capitals_of_kinds_and_criteria_do_not_matter(write) -> None:
    rows = [{**row, "kind": str(row["kind"]).upper(), "criterion": str(row["criterion"]).title()} for row in study()]
    assert_same(load_ratings(write(rows), criteria=BOTH), load_ratings(write(study()), criteria=BOTH))


def test_criteria_come_in_the_order_asked_for(write) -> None:
    forth = load_ratings(write(study()), criteria=BOTH).ratings.scores
    back = load_ratings(write(study()), criteria=BOTH[::-1]).ratings.scores
    np.testing.assert_array_equal(forth, back[:, ::-1])


def test_a_column_of_criteria_is_not_needed_for_one(write) -> None:
    rows = [{k: v for k, v in row.items() if k != "criterion"} for row in study(criteria=["fluency"])]
    assert_same(
        load_ratings(write(rows), criteria=["fluency"]),
        load_ratings(write(study(criteria=["fluency"])), criteria=["fluency"]),
    )


def without(*columns: str) -> list[dict]:
    return [{name: cell for name, cell in row.items() if name not in columns} for row in study(n_workers=5)]


def test_without_assignments_each_worker_and_hit_is_one(write) -> None:
    rows = [
        *without("assignment"),
        *({**row, "hit": "h9"} for row in without("assignment") if row["worker"] == "w1"),
    ]
    loaded = load_ratings(write(rows), criteria=BOTH)
    assert loaded.assignments == ["h0 w0", "h1 w1", "h9 w1", "h0 w2", "h1 w3", "h0 w4"]
    assert loaded.ratings.assignment.tolist() == np.repeat(range(6), 4).tolist()


def test_without_assignments_and_hits_each_worker_is_one(write) -> None:
    loaded = load_ratings(write(without("assignment", "hit")), criteria=BOTH)
    assert loaded.assignments == loaded.workers == ["w0", "w1", "w2", "w3", "w4"]
    assert loaded.ratings.assignment.tolist() == loaded.ratings.worker.tolist()


def test_without_positions_an_item_is_a_source_system_and_kind(write) -> None:
    loaded = load_ratings(write(without("position")), criteria=BOTH)
    assert loaded.ratings.scores.shape == (20, 2)
    assert not np.isnan(loaded.ratings.scores).any()
    first = loaded.ratings.worker == 0
    assert loaded.ratings.system[first].tolist() == [0, 0, 1, 1]
    assert loaded.ratings.kind[first].tolist() == [Kind.ORDINARY, Kind.DEGRADED, Kind.ORDINARY, Kind.REPEAT]


def test_assignments_are_numbered_by_worker_first(write) -> None:
    rows = [
        {"worker": worker, "assignment": assignment, "system": "A", "score": 5}
        for worker, assignment in [("w1", "a2"), ("w2", "a1"), ("w1", "a3")]
    ]
    loaded = load_ratings(write(rows), criteria=["x"])
    assert loaded.assignments == ["a2", "a3", "a1"]
    assert loaded.ratings.worker.tolist() == [0, 0, 1]


def test_a_source_that_is_not_given_is_unknown(write) -> None:
    rows = study()
    for row in rows:
        if row["worker"] == "w1":
            row["source"] = ""
    loaded = load_ratings(write(rows), criteria=BOTH)
    assert loaded.sources == ["s0", "s2"]
    assert loaded.ratings.source.tolist() == [0] * 4 + [-1] * 4 + [1] * 4


def test_other_names_are_guessed_and_chosen_ones_obeyed(write) -> None:
    names = {
        "worker": "WorkerId",
        "system": "model",
        "score": "rating",
        "criterion": "aspect",
        "source": "segment",
    }
    rows = [{names.get(name, name): cell for name, cell in row.items()} for row in study()]
    expected = load_ratings(write(study()), criteria=BOTH)
    assert_same(load_ratings(write(rows), criteria=BOTH), expected)
    strange = [{f"x{name}y": cell for name, cell in row.items()} for row in study()]
    mapping = {name: f"x{name}y" for name in study()[0]}
    assert_same(load_ratings(write(strange), criteria=BOTH, mapping=mapping), expected)


def test_a_column_that_json_lines_begin_to_have_far_down_is_not_overlooked(write) -> None:
    early = [{"worker": f"w{i}", "system": "A", "score": 5, "note": "x" * 4000} for i in range(1500)]
    path = write([*early, {"worker": "w", "system": "A", "kind": "degraded", "score": 5}], "jsonl")
    assert "kind" not in preview(path).columns
    with pytest.raises(TableError) as caught:
        load_ratings(path, criteria=["x"])
    # The lines before it have no kind, which is said rather than guessed.
    assert {problem.code for problem in caught.value.problems} == {"unknown_kind"}
    assert len(caught.value.problems) + caught.value.n_more == 1500


def test_progress_ends_at_one(write) -> None:
    reported: list[float] = []
    load_ratings(write(study()), criteria=BOTH, on_progress=reported.append)
    assert reported[-1] == 1.0


@pytest.mark.parametrize("criteria", [[], ["fluency", "Fluency "]])
def test_criteria_must_be_some_and_different(write, criteria: list[str]) -> None:
    with pytest.raises(ValueError, match="criterion"):
        load_ratings(write(study()), criteria=criteria)


# --- Real ratings (see the README of the shared data)

DIALOGUE = ["robotic", "interesting", "fun", "consistent", "fluent", "repetitive", "topic"]


def test_the_dialogue_study_comes_in_whole(shared_data) -> None:
    loaded = load_ratings(shared_data / "dialogue-run1" / "ratings.csv", criteria=DIALOGUE)
    assert loaded.ratings.scores.shape == (1824, 7)
    assert not np.isnan(loaded.ratings.scores).any()
    assert (len(loaded.workers), len(loaded.assignments), len(loaded.systems)) == (248, 304, 11)
    assert "qc" in loaded.systems
    degraded = loaded.ratings.kind == Kind.DEGRADED
    np.testing.assert_array_equal(degraded, loaded.ratings.system == loaded.systems.index("qc"))
    assert [warning.code for warning in loaded.warnings] == ["no_source"]


def test_the_direct_assessment_batch_comes_in_whole_with_every_twin(shared_data) -> None:
    loaded = load_ratings(shared_data / "da-batch" / "ratings.csv", criteria=["adequacy"])
    assert loaded.ratings.scores.shape == (2900, 1)
    assert (len(loaded.workers), len(loaded.assignments)) == (29, 29)
    assert np.bincount(loaded.ratings.kind).tolist() == [2030, 290, 290, 290]
    assert loaded.warnings == []
