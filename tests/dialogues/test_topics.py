"""Topics in any script: what counts as one, and which words it has."""

import pytest

from analysis.data.dialogues.topics import can_draw, count_topics, count_words, most_common, normalise, words_of


@pytest.mark.parametrize("typed", ["Video Games", " video  games", "VIDEO\tGAMES "])
def test_case_and_spaces_do_not_matter(typed: str) -> None:
    assert normalise(typed) == "video games"


def test_what_looks_the_same_is_the_same() -> None:
    assert count_topics(["Caf\u00e9", "cafe\u0301", " "]) == {"caf\u00e9": 2}


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("What is your favorite type of food?", {"favorite", "type", "food"}),
        ("Covid-19!", {"covid-19"}),
        ("the 1990s in 2020", {"1990s"}),
        ("Grandma’s cats & dogs", {"grandma's", "cats", "dogs"}),
        ("-- rock'n'roll --", {"rock'n'roll"}),
        ("हिन्दी फिल्में", {"हिन्दी", "फिल्में"}),
        ("الموسيقى والطعام", {"الموسيقى", "والطعام"}),
        ("می‌خواهم", {"می‌خواهم"}),
        ("音楽", {"音楽"}),
        ("กีฬา ฟุตบอล", {"กีฬา", "ฟุตบอล"}),
        ("🎵", set()),
        ("", set()),
        ("you and me", set()),
    ],
)
def test_words_of_a_topic(topic: str, words: set[str]) -> None:
    assert words_of(topic) == words


def test_a_word_counts_once_a_chat() -> None:
    assert count_words(["food food food", "Food"]) == {"food": 2}


def test_equally_frequent_ones_come_by_name() -> None:
    assert most_common(count_topics(["b", "a", "c", "c"]), 2) == [("c", 2), ("a", 1)]


def test_only_what_the_fonts_have_is_drawn() -> None:
    assert all(map(can_draw, ("food", "हिन्दी", "الموسيقى", "音楽", "กีฬา", "می‌خواهم")))
    assert not can_draw("𓀀𓀁")  # hieroglyphs
