"""What is counted of Markdown: length, headings, items of lists, bold text, blocks of code, tables."""

import pytest

from campaigns.design.style import STYLE_FEATURES, count_style, count_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        (" \n\n", {}),
        ("Plain text, with a # and a - in it, 2 * 3 ** 4.", {"words": 11}),
        ("# One\n ## Two\n#hash\n####### seven", {"words": 4, "headings": 2}),
        ("- a\n* b\n  + c\n1. d\n2) e\n-f\n---", {"words": 8, "list_items": 5}),
        ("**a** and __b c__, ***d***, snake__case__name", {"words": 6, "bold": 2}),
        ("```py\n# no\n- no **no**\n```\n~~~\nx\n~~~", {"words": 5, "code_blocks": 2}),
        ("````\n```\n# no\n````\n# yes", {"words": 2, "code_blocks": 1, "headings": 1}),
        ("```\nleft open\n# no", {"words": 3, "code_blocks": 1}),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\n\na|b\n-|-", {"words": 5, "tables": 2}),
        ("你好吗？", {"words": 3}),
        ("**a " * 2000, {"words": 2000}),
    ],
)
def test_counts(text: str, found: dict[str, float]) -> None:
    assert count_style(text) == dict.fromkeys(STYLE_FEATURES, 0) | found
    assert count_words(text) == found.get("words", 0)
