"""Words and character clusters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.design.words import Unit, segment, unit_of
from evalsite.lib.clusters import split_clusters

units = st.sampled_from(list(Unit))
FAMILY = "👨\u200d👩\u200d👧\u200d👦"


@given(st.text(), units)
def test_segments_put_together_are_the_text(text, unit):
    segments = segment(text, unit)
    assert segments.replaced(0, ()) == text
    assert len(segments.gaps) == len(segments.units) + 1
    assert "" not in segments.units


@given(st.text())
def test_words_are_those_of_white_space(text):
    assert list(segment(text, Unit.WORD).units) == text.split()


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_clusters_put_together_are_the_text_whatever_it_holds(text):
    clusters = split_clusters(text)
    assert "".join(clusters) == text and "" not in clusters


@given(st.text(), st.text())
def test_a_line_feed_always_divides(before, after):
    assert split_clusters(f"{before}x\n{after}") == [*split_clusters(f"{before}x"), "\n", *split_clusters(after)]


@pytest.mark.parametrize(
    "clusters",
    [
        pytest.param(["什", "么", "时", "候", "？"], id="Han"),
        pytest.param(["か\u3099", "き"], id="combining voicing mark"),
        pytest.param(["ｶﾞ", "ｷ"], id="halfwidth voicing mark"),
        pytest.param(["葛\U000e0100", "城"], id="ideographic variation selector"),
        pytest.param(["น้ำ", "ใ", "ส"], id="Thai tone mark and am"),
        pytest.param(["ນ້ຳ", "ໃ", "ສ"], id="Lao tone mark and am"),
        pytest.param(["ខ្មែ", "រ"], id="Khmer subscript consonant and vowel sign"),
        pytest.param(["မြ", "န်", "မာ"], id="Myanmar marks, aa with its consonant"),
        pytest.param(["ဿ", "က္ခ", "ရာ"], id="Myanmar stacked consonants"),
        pytest.param(["བོ", "ད", "་"], id="Tibetan"),
        pytest.param(["क्षि", "ति"], id="Devanagari conjunct"),
        pytest.param(["한", "국", "\u1112\u1161\u11ab"], id="Hangul syllables and jamo"),
        pytest.param(["e\u0301\u0323", "x"], id="two marks"),
        pytest.param([FAMILY, "🏳️\u200d🌈", "👍🏽"], id="joined emoji, variation selector, skin tone"),
        pytest.param(["🇫🇷", "🇩🇪", "🇮"], id="flags by pairs"),
        pytest.param(["1\ufe0f\u20e3", "🏴\U000e0067\U000e0062\U000e007f"], id="keycap and tag sequence"),
        pytest.param(["\r\n", "\n", "\r"], id="line ends"),
        pytest.param(["\ud83d\ude00", "\ude00", "\ud83d", "a"], id="surrogates, a pair and alone"),
        pytest.param(["\u0600\u0661", "\u0662"], id="prepended number sign"),
        pytest.param(["\u0301", "\u200b", "\u0301"], id="marks without a base"),
        pytest.param(["क", "அ"], id="letters of two scripts"),
    ],
)
def test_what_a_reader_takes_for_one_character_stays_whole(clusters):
    assert split_clusters("".join(clusters)) == clusters


def test_spacing_between_clusters_is_no_cluster():
    segments = segment("ไทย ลาว\u200bจีน\n", Unit.CLUSTER)
    assert segments.units == ("ไ", "ท", "ย", "ล", "า", "ว", "จี", "น")
    assert [gap for gap in segments.gaps if gap] == [" ", "\u200b", "\n"]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("", Unit.WORD),
        ("  42!", Unit.WORD),
        ("Where was she born?", Unit.WORD),
        ("The sign 猫 means cat", Unit.WORD),
        ("그는 학교에 갔다", Unit.WORD),
        ("Anh ấy đã đi học", Unit.WORD),
        ("कहाँ है", Unit.WORD),
        ("أين ولدت؟", Unit.WORD),
        ("她在哪里出生？", Unit.CLUSTER),
        ("我喜欢iPhone15ProMax", Unit.CLUSTER),
        ("東京タワーはどこですか。", Unit.CLUSTER),
        ("ｶﾀｶﾅ", Unit.CLUSTER),
        ("เขาเกิดที่ไหน", Unit.CLUSTER),
        ("ລາວເກີດຢູ່ໃສ", Unit.CLUSTER),
        ("តើគាត់កើតនៅឯណា", Unit.CLUSTER),
        ("သူဘယ်မှာမွေးသလဲ", Unit.CLUSTER),
        ("ཁོང་གང་དུ་འཁྲུངས།", Unit.CLUSTER),
        ("𠮷野家", Unit.CLUSTER),
    ],
)
def test_texts_are_counted_in_clusters_where_words_have_no_spaces(text, unit):
    assert unit_of(text) is unit
