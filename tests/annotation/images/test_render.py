"""What is seen in the images."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.images import DARK, LIGHT, RenderedImage, TextTooTallError, fonts, layout, render
from annotation.images.layout import Style
from tests.annotation.images.pixels import PADDING, decode, ink_box, rows_of
from tests.services import missing

SAMPLES = {
    "English": "The Amazon rainforest covers most of the Amazon basin of South America.",
    "Vietnamese": "Rừng mưa nhiệt đới Amazon",
    "Arabic": "غابات الأمازون المطيرة",
    "Hebrew": "יער הגשם באמזונס (באנגלית: Amazon)",
    "Hindi": "अमेज़न वर्षावन एक नम वन है।",
    "Bengali": "আমাজন অরণ্য",
    "Tamil": "அமேசான் மழைக்காடு",
    "Thai": "ป่าดิบชื้นแอมะซอน",
    "Georgian and Armenian": "ქართული Հայերեն",
    "Chinese": "亚马逊雨林位于南美洲",
    "Taiwanese": "亞馬遜雨林橫越了8個國家",
    "Japanese": "アマゾン熱帯雨林である",
    "Korean": "아마존 우림은 습한 숲이다",
    "emoji": "😀 👨\u200d👩\u200d👧 🇫🇷 👍🏽 ❤\ufe0f",
}


@pytest.mark.parametrize("text", SAMPLES.values(), ids=SAMPLES)
def test_scripts_are_drawn_with_real_glyphs_inside_the_margins(text):
    rendered = render(text, width_px=320)
    left, top, right, bottom = ink_box(decode(rendered))
    assert rendered.missing == {}
    assert left >= PADDING - 2 and right <= 320 - PADDING + 2
    assert top >= 2 and bottom <= rendered.height - 2


def test_a_letter_is_not_drawn_as_the_placeholder():
    boxes = decode(render("\ue000\ue000"))
    assert all(decode(render(text)).tobytes() != boxes.tobytes() for text in ("国国", "한한", "😀😀", "กก"))
    assert ink_box(boxes) is not None


@pytest.mark.parametrize("text", [*SAMPLES.values(), SAMPLES["English"] * 5, "a\n\nb", "", "x" * 200])
def test_the_doubled_image_is_twice_as_large_and_shows_the_same(text):
    once, twice = render(text, width_px=320, scale=1), render(text, width_px=320, scale=2)
    assert (twice.width, twice.height) == (2 * once.width, 2 * once.height)
    small, large = ink_box(decode(once)), ink_box(decode(twice))
    assert (small is None) == (large is None)
    if small and large:
        assert large == pytest.approx([2 * edge for edge in small], abs=12)


def test_right_to_left_text_stands_on_the_right():
    for text in (SAMPLES["Arabic"], SAMPLES["Hebrew"]):
        left, _, right, _ = ink_box(decode(render(text, width_px=720)))
        assert left > 300 and right > 720 - PADDING - 4
    assert ink_box(decode(render("hello", width_px=720)))[0] < PADDING + 4


def test_arabic_letters_are_joined():
    if not fonts.can_shape():
        missing("libfribidi, which Pillow shapes letters with,")
    assert fonts.measure("NotoSansArabic.ttf", 40, "ببب", True) < 2.5 * fonts.measure(
        "NotoSansArabic.ttf", 40, "ب", True
    )


def test_without_raqm_words_are_all_there_in_the_right_order(monkeypatch):
    def forget():
        fonts.load.cache_clear()
        layout._measure.cache_clear()
        layout._prepare.cache_clear()

    monkeypatch.setattr(fonts, "can_shape", lambda: False)
    forget()
    try:
        for text in SAMPLES.values():
            rendered = render(text, width_px=320)
            assert ink_box(decode(rendered))[2] <= 320 - PADDING + 2 and rendered.missing == {}
        # Lamed is taller than the other letters: it stays in second place from the right.
        image = decode(render("של" + "ו" * 8, width_px=320, font_size=40))
        assert (
            ink_box(image.crop((290 - 40, 0, 320, image.height)))[1] < ink_box(image.crop((0, 0, 240, image.height)))[1]
        )
    finally:
        forget()


@pytest.mark.parametrize("scale", [1, 2])
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_highlight_is_in_its_lines_only(scale, theme):
    text = "one\ntwo three\nfour\nfive"
    start = text.index("three")
    image = decode(render(text, scale=scale, theme=theme, highlights=[(start, start + 5)]))
    style = Style(720, 17)
    rows = rows_of(image, theme.highlight)
    assert (style.padding + style.line_height) * scale <= min(rows)
    assert max(rows) < (style.padding + 2 * style.line_height) * scale
    assert len(rows) > style.font_size * scale
    assert not rows_of(decode(render(text, scale=scale, theme=theme)), theme.highlight)


def test_the_highlight_begins_and_ends_with_its_text():
    def edges(text, start, end):
        image = decode(render(text, highlights=[(start, end)]))
        wanted = tuple(bytes.fromhex(LIGHT.highlight[1:]))
        columns = [x for x in range(image.width) if any(image.getpixel((x, y)) == wanted for y in range(image.height))]
        return columns[0], columns[-1]

    first, last = edges("aaa bbb ccc", 4, 7)
    assert first == pytest.approx(PADDING + fonts.measure(fonts.LATIN, 17, "aaa ", False), abs=1)
    assert last == pytest.approx(PADDING + fonts.measure(fonts.LATIN, 17, "aaa bbb", False), abs=1.5)
    first, last = edges("אאא בבב", 0, 3)
    assert last == pytest.approx(720 - PADDING, abs=1.5) and first > 680


def test_a_highlight_out_of_the_text_or_empty_shows_nothing():
    assert render("text", highlights=[(2, 2), (50, 60)]).content == render("text").content


def test_the_same_arguments_give_the_same_bytes_and_the_dark_theme_others():
    text = " ".join(SAMPLES.values())
    assert render(text).content == render(text).content
    assert render(text, salt=b"one").content == render(text, salt=b"one").content
    dark = decode(render(text, theme=DARK))
    assert dark.getpixel((0, 0)) == tuple(bytes.fromhex(DARK.background[1:]))


def test_missing_characters_are_counted_and_seen():
    rendered = render("\U0001e900 \U0001e900 \ud800")
    assert rendered.missing == {"\U0001e900": 2, "\ud800": 1}
    assert ink_box(decode(rendered)) is not None


def test_an_empty_text_is_one_empty_line():
    for text in ("", " ", "\n", "\x00"):
        rendered = render(text, width_px=320)
        assert ink_box(decode(rendered)) is None
        assert rendered.height < 50 and len(rendered.content) < 1000


def test_control_characters_change_nothing():
    for text in ("a\x00b\x1b\u202ec\ufeff", "ab\x00c"):
        assert render(text).content == render("abc").content
    assert render("e\x00\u0301").content == render("e\u0301").content
    assert render("e\x00\u0301\u00ad").missing == {}


def test_a_long_text_is_drawn_in_time():
    text = (SAMPLES["English"] + " " + SAMPLES["Chinese"] + " " + SAMPLES["Arabic"] + " ") * 40
    render(text[:5000], scale=2)
    start = time.process_time()
    rendered = render(text[:5000], scale=2, highlights=[(100, 200)], salt=b"x")
    assert time.process_time() - start < 2
    assert rendered.height > 2000


any_text = st.text(st.characters(), max_size=80) | st.text(
    st.sampled_from("aבم한国ก\u0e33क\u094d\u200d\u0301\ufe0f😀🏽🇫 \t\n-(,.1"), max_size=80
)


@settings(deadline=None, max_examples=150)
@given(any_text, st.sampled_from([60, 320]), st.sampled_from([1, 2]), st.tuples(st.integers(0, 80), st.integers(0, 80)))
def test_any_text_is_drawn_within_its_width(text, width, scale, highlight):
    start = time.process_time()
    try:
        rendered = render(text, width_px=width, scale=scale, highlights=[highlight], salt=b"salt")
    finally:
        assert time.process_time() - start < 2
    assert isinstance(rendered, RenderedImage) and rendered.width == width * scale
    box = ink_box(decode(rendered))
    assert box is None or (box[0] >= 0 and box[2] <= rendered.width)
    assert set(rendered.missing) <= set(text)


def test_a_text_of_too_many_lines_is_refused():
    with pytest.raises(TextTooTallError):
        render("\n" * 5000)
