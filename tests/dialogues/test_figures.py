"""The figures of chats: words that do not touch, the same bytes each time, nothing where there is nothing."""

from pathlib import Path

import pytest
from matplotlib.transforms import Bbox

from analysis.data.dialogues.rows import in_order
from analysis.data.dialogues.summary import CLOUD, LENGTHS, summarise_dialogues
from analysis.methods.study.dialogue import Dialogue
from analysis.results import figures
from analysis.results.result import Result
from analysis.results.sections import DARK, LIGHT
from analysis.results.word_cloud import draw_cloud

SCRIPTS = ["music", "الموسيقى", "हिन्दी", "音楽", "กีฬา", "спорт", "rock'n'roll", "w" * 60]


def report_of(words=(), histogram=None):
    found = summarise_dialogues(in_order([], []), {}, {})
    found["words"] = [{"word": word, "n": n} for word, n in words]
    found["histogram"] = histogram or found["histogram"]
    return {"summary": {"dialogues": found}}


def drawn(report):
    """Return what draws each figure of a report, by name."""
    return {
        figure.name: figure.draw for section in Dialogue().sections(Result(own=report)) for figure in section.figures
    }


def boxes_of(words):
    """Return the box of each word: of the points of its curves, which enclose them."""
    figure = draw_cloud([{"word": word, "n": n} for word, n in words], LIGHT)
    paths = [patch.get_path() for patch in figure.axes[0].patches]
    points = [path.vertices[path.codes != path.CLOSEPOLY] for path in paths]
    return [Bbox([each.min(axis=0), each.max(axis=0)]) for each in points]


@pytest.mark.parametrize(
    "words",
    [
        [(word, 30 - 3 * k) for k, word in enumerate(SCRIPTS)],
        [(f"word{k}", 80 - k) for k in range(80)],
        [(f"{'very' * 7}{k}", 5) for k in range(80)],
        [("a", 1)],
    ],
)
def test_all_words_are_drawn_inside_and_none_touches_another(words) -> None:
    boxes = boxes_of(words)
    assert len(boxes) == len(words)
    for k, box in enumerate(boxes):
        assert 0 <= box.x0 < box.x1 <= 7.5 * 72 and 0 <= box.y0 < box.y1 <= 4.2 * 72
        assert not any(box.overlaps(other) for other in boxes[:k])


def test_the_more_chats_the_larger() -> None:
    heights = [box.height for box in boxes_of([("xxx", 90), ("xxx", 40), ("xxx", 10)])]
    assert heights == sorted(heights, reverse=True) and heights[0] > 2 * heights[2]


def test_without_chats_or_with_empty_ones_nothing_is_drawn() -> None:
    assert drawn({"summary": {}}) == {}
    assert drawn(report_of()) == {}


def test_words_that_no_font_has_are_left_out() -> None:
    assert list(drawn(report_of([("𓀀𓀁", 3)]))) == []
    assert list(drawn(report_of([("𓀀𓀁", 3), ("food", 1)]))) == [CLOUD]


@pytest.mark.parametrize("failed", [[0, 0], [1, 4]])
def test_lengths_are_drawn_with_one_group_or_two(failed: list[int], tmp_path: Path) -> None:
    histogram = {"edges": [0, 10], "passed": [2, 3], "failed": failed}
    draws = drawn(report_of(histogram=histogram))
    assert list(draws) == [LENGTHS]
    shown = draws[LENGTHS](DARK).axes[0]
    assert [patch.get_height() for patch in shown.patches[:2]] == [40, 60]
    assert len(shown.get_legend().get_texts()) == (2 if any(failed) else 1)


def test_a_single_bin_is_drawn() -> None:
    drawn(report_of(histogram={"edges": [0], "passed": [2], "failed": [1]}))[LENGTHS](LIGHT)


@pytest.mark.parametrize("suffix", ["svg", "pdf"])
def test_the_same_words_give_the_same_bytes_without_a_font(tmp_path: Path, suffix: str) -> None:
    words = [{"word": word, "n": 9 - k} for k, word in enumerate(SCRIPTS)]
    for name in ("first", "second"):
        figures.save(draw_cloud(words, LIGHT), tmp_path / f"{name}.{suffix}")
    first = (tmp_path / f"first.{suffix}").read_bytes()
    assert first == (tmp_path / f"second.{suffix}").read_bytes()
    assert b"<text" not in first and b"font-family" not in first
