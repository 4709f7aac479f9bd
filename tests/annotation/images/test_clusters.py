"""What is never split, and where lines may end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.images.clusters import LONGEST, find_clusters, find_pieces

FAMILY = "👨\u200d👩\u200d👧\u200d👦"


def split(text):
    return [text[start:end] for start, end in find_clusters(text)]


def pieces(text):
    clusters = split(text)
    return ["".join(clusters[start:end]) for start, end in find_pieces(clusters)]


@pytest.mark.parametrize(
    "clusters",
    [
        pytest.param(["e\u0301", "t", "e\u0301"], id="combining marks"),
        pytest.param([FAMILY, "!"], id="joined emoji"),
        pytest.param(["👍🏽", "👍"], id="skin tone"),
        pytest.param(["🇫🇷", "🇩🇪", "🇮"], id="flags"),
        pytest.param(["1\ufe0f\u20e3"], id="keycap"),
        pytest.param(["क्ष", "त्रि", "य"], id="conjuncts"),
        pytest.param(["क्\u200dष"], id="half form"),
        pytest.param(["น้ำ", "ที่"], id="Thai"),
        pytest.param(["שָׁ", "ל"], id="Hebrew points"),
        pytest.param(["\u1112\u1161\u11ab", "한"], id="Hangul"),
        pytest.param(["\u0301", "a"], id="a mark with nothing before it"),
    ],
)
def test_clusters(clusters):
    assert split("".join(clusters)) == clusters


def test_control_characters_lie_in_no_cluster():
    assert split("a\x00\x1b[1m\u202eb\u2066\ufeffc\td") == ["a", "[", "1", "m", "b", "c", "\t", "d"]
    assert split("a\x00b\x7f") == ["a", "b"]


@given(st.text())
def test_clusters_are_in_order_and_apart(text):
    places = [place for cluster in find_clusters(text) for place in cluster]
    assert places == sorted(places)
    assert all(start < end for start, end in find_clusters(text))


@pytest.mark.parametrize("text", ["a" + "\u0301" * 1000, "😀\u200d" * 500, "क्" * 500])
def test_clusters_without_end_are_cut(text):
    clusters = split(text)
    assert "".join(clusters) == text
    assert max(map(len, clusters)) == LONGEST


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(["one ", "two,  ", "three"], id="spaces"),
        pytest.param(["well-", "known ", "-5 ", "3-4"], id="hyphens"),
        pytest.param(["10\u00a0km ", "off"], id="no-break space"),
        pytest.param(["日", "本", "語。", "「は", "い」"], id="Japanese"),
        pytest.param(["你", "好，", "ABC ", "（一）"], id="Chinese"),
        pytest.param(["우", "림", "은 ", "남"], id="Korean"),
        pytest.param(["ป่าดิบชื้น", "แอมะซอน ", "เป็น"], id="Thai"),
        pytest.param(["see ", "(this)"], id="Latin brackets"),
        pytest.param([], id="empty"),
    ],
)
def test_lines_may_end_between_pieces(expected):
    assert pieces("".join(expected)) == expected


@given(st.text())
def test_pieces_put_together_are_the_clusters(text):
    assert "".join(pieces(text)) == "".join(split(text))
