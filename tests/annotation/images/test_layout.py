"""Lines and runs."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.images import fonts
from annotation.images.layout import MAX_HEIGHT_PX, SCALES, Style, TextTooTallError, lay_out, measure_run

NARROW = Style(width=200, font_size=16)
LONG = "The quick brown fox jumps over the lazy dog, " * 8


def texts_of(layout):
    return ["".join(run.text for run in line.runs) for line in layout.lines]


def width_of(line, scale, style=NARROW):
    return sum(measure_run(run.text, run.font, run.is_rtl, style.font_size * scale) for run in line.runs) / scale


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "text", [LONG, "w" * 300, "多" * 100, "مرحبا بالعالم " * 20, "सत्यमेव जयते " * 20, "\U0001e900" * 60]
)
def test_no_line_is_wider_than_the_room_at_either_scale(text, scale):
    lines = lay_out(text, NARROW).lines
    assert len(lines) > 3
    assert all(0 < width_of(line, scale) <= NARROW.room + 1 for line in lines)


@settings(deadline=None)
@given(
    st.text(st.characters() | st.sampled_from("aבم한国ก\u0e33क\u094dष\u200d\u0301\ufe0f😀🏽🇫 \t-(,.1"), max_size=150)
)
def test_any_line_stays_within_the_margins_at_either_scale(text):
    style = Style(width=320, font_size=17)
    for line in lay_out(text, style).lines:
        assert max(width_of(line, scale, style) for scale in SCALES) <= style.room + style.padding


def test_lines_are_filled_and_hold_every_word():
    lines = texts_of(lay_out(LONG, NARROW))
    assert " ".join(lines) == LONG.rstrip()
    for line, following in pairwise(lines):
        word = following.split()[0]
        assert fonts.measure(fonts.LATIN, 16, f"{line} {word}", False) > NARROW.room - 2


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\rc\u2028d", ["a", "b", "c", "d"]),
        ("a\n\nb\n", ["a", "", "b"]),
        ("\n", [""]),
        ("a\tb", ["a    b"]),
        ("  a  ", ["  a"]),
    ],
)
def test_newlines_and_spaces(text, lines):
    assert texts_of(lay_out(text, NARROW)) == lines


def test_a_run_per_font():
    (line,) = lay_out("one 二三 four", Style(720, 16)).lines
    assert [(run.text, run.font) for run in line.runs] == [
        ("one ", fonts.LATIN), ("二三 ", fonts.SC[0]), ("four", fonts.LATIN),
    ]  # fmt: skip


def test_runs_stand_in_visual_order():
    (line,) = lay_out("אב cd גד", Style(720, 16)).lines
    assert line.is_rtl
    assert [run.text.strip() for run in line.runs if run.text.strip()] == ["גד", "cd", "אב"]


def test_each_paragraph_has_its_own_direction_or_that_of_the_text():
    text = "שלום\nhello\n12"
    assert [line.is_rtl for line in lay_out(text, NARROW).lines] == [True, False, True]
    assert [line.is_rtl for line in lay_out("hello\n12", NARROW).lines] == [False, False]


def test_highlights_are_places_in_the_text_whatever_is_dropped_from_it():
    (line,) = lay_out("a\x00b\u202ecd", NARROW, [(2, 5)]).lines
    (run,) = line.runs
    assert run.text == "abcd"
    assert [run.text[start:end] for start, end in run.highlights] == ["bc"]


def test_a_cluster_is_highlighted_whole():
    (line,) = lay_out("xe\u0301y", NARROW, [(2, 3)]).lines
    assert [line.runs[0].text[start:end] for start, end in line.runs[0].highlights] == ["e\u0301"]


def test_missing_characters_are_counted():
    layout = lay_out("a \U0001e900\U0001e900 \ue000 b", NARROW)
    assert layout.missing == {"\U0001e900": 2, "\ue000": 1}


def test_a_text_higher_than_browsers_show_is_refused():
    style = Style(720, 16)
    most = (MAX_HEIGHT_PX - 2 * style.padding) // style.wide_line_height
    assert lay_out("a\n" * most, style).height <= MAX_HEIGHT_PX
    with pytest.raises(TextTooTallError):
        lay_out("a\n" * (most + 1), style)
