"""Markdown: what is shown of it, what its words are, and what a degraded one keeps."""

import re

import numpy as np
import pytest

from campaigns.contracts.format import Degradation, Place
from campaigns.design.errors import DesignError
from campaigns.formats.markdown import Markdown
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.cleaning import LONGEST
from evalsite.lib.markup.markdown import structure_of

ANSWER = r"""# How to sort

Use **quicksort** and `sorted(x)`, as [Knuth says](https://example.org/knuth "a title") in volume three.

| Name | Time |
|:-----|-----:|
| Quicksort is fast | $n \log n$ |
| Merge sort<br>is stable | \(n \log n\) |

- Choose a pivot that is not the first
- Then recurse on both halves

```python
def sort(values):  # in place
    return values
```

$$
T(n) = \sum_i T(i)
$$

> Said somebody who knew ![a tree of calls](https://example.org/tree.png)
"""
DONORS = [
    "*Bread* is baked from flour, water | salt and [yeast](https://bread.example) in `an oven` - it rises for hours.",
    "1. Rivers run to the sea\n2. Mountains <b>do</b> not_move at all, whatever people *say* about them.",
]


def degraded(value: str, seed: int = 1, donors: list[str] = DONORS) -> str:
    return Markdown.degrade(value, Degradation(np.random.default_rng(seed), lambda: donors))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# One\n## Two", "<h3>One</h3><h4>Two</h4>"),
        ("a **b** *c* ~~d~~ `e`", "<strong>b</strong> <em>c</em> <s>d</s> <code>e</code>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("|a|b|\n|-|-:|\n|1|2<br>3|", '<td>1</td><td class="right">2<br>3</td>'),
        ("```python\nx = 1 # one\n```", 'x = <span class="m">1</span> <span class="c"># one</span>'),
        ("```nolanguage\n<b>\n```", "<code>&lt;b&gt;</code>"),
        ("$x^2$", '<math display="inline"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>'),
        ("$$\na\n- b\n$$", '<math display="block"><mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow></math>'),
        (r"\(a<b\) and \[c\]", "<mo>&lt;</mo>"),
        ("It costs $5, then $6.", "It costs $5, then $6."),
        (r"$\def\a{\a}\a$", r"<code>\def\a{\a}\a</code>"),
        ("$" + "x" * 2_000 + "$", "$xxx"),
        ("[here](https://a.example/)", '<span class="link">here</span> <span class="link-address">(https://a.example/)</span>'),
        ("<https://a.example/>", '<span class="link">https://a.example/</span></p>'),
        ("![a cat](https://a.example/cat.png)", '<span class="no-image">Image: a cat</span>'),
        ("<b>x</b> <T>", "&lt;b&gt;x&lt;/b&gt; &lt;T&gt;"),
        ("> " * 30 + "deep", "deep"),
        ("[a]: https://a.example", "[a]: https://a.example"),
    ],
)  # fmt: skip
def test_how_markdown_is_shown(written: str, shown: str) -> None:
    assert shown in Markdown.html(written)


def test_what_is_wide_scrolls_by_keyboard() -> None:
    frames = re.findall(r'<div class="scrolls" role="group" aria-label="(\w+)" tabindex="0">', Markdown.html(ANSWER))
    assert frames == ["Table", "Code", "Formula"]


def test_a_long_answer_is_folded_and_a_short_one_is_not() -> None:
    assert '<input type="checkbox"' in Markdown.html(ANSWER * 3)
    assert "fold" not in Markdown.html("Yes.\n\nIt is.")


def test_words_are_what_is_read() -> None:
    words = Markdown.words(ANSWER)
    assert not re.search(r"\*\*|https|\|:|```|\]\(", words)
    assert {"How to sort", "Quicksort is fast", "Choose a pivot that is not the first"} <= set(words.split("\n"))
    assert "def sort(values):  # in place" in words and r"n \log n" in words


def test_style_is_counted() -> None:
    assert Markdown.style_of(ANSWER) == {
        "words": pytest.approx(len(Markdown.words(ANSWER).split()), rel=0.1),
        "headings": 1,
        "list_items": 2,
        "bold": 1,
        "code_blocks": 1,
        "tables": 1,
    }


@pytest.mark.parametrize("seed", range(40))
def test_a_degraded_answer_has_other_words_and_the_same_markup(seed: int) -> None:
    worse = degraded(ANSWER, seed)
    assert worse != ANSWER and structure_of(worse) == structure_of(ANSWER)
    assert Markdown.style_of(worse) == pytest.approx(Markdown.style_of(ANSWER), abs=3)
    for kept in (
        "`sorted(x)`",
        "(https://example.org/knuth",
        r"$n \log n$",
        "def sort(values):  # in place",
        r"T(n) = \sum",
    ):
        assert kept in worse
    assert sum(a != b for a, b in zip(ANSWER.split(), worse.split(), strict=True)) <= 20


def test_an_answer_of_code_alone_has_its_lines_exchanged() -> None:
    code = "```\nfirst = 1\nsecond = first\n```"
    worse = degraded(code)
    assert worse != code and worse.startswith("```\n") and worse.endswith("\n```")


def test_chinese_prose_is_degraded_in_clusters() -> None:
    worse = degraded("**苹果** 是红色的，也是圆的，味道很甜。", 1, ["河流流向大海，山不动，人们说了很多关于它们的话。"])
    assert worse.startswith("**苹") and worse != "**苹果** 是红色的，也是圆的，味道很甜。"


def test_a_text_without_words_cannot_be_degraded() -> None:
    with pytest.raises(DesignError):
        degraded("---")


def test_lines_end_in_one_way_and_what_is_too_long_to_be_shown_is_refused() -> None:
    assert Markdown.read("a\r\nb\rc", is_output=True) == "a\nb\nc"
    with pytest.raises(DomainError, match=r"has 50,001 characters"):
        Markdown.read("x" * (LONGEST + 1), is_output=True)


def test_it_is_never_drawn_as_an_image() -> None:
    [block] = Markdown.blocks("a", Place("output", "Text", is_output=True, is_drawn=True))
    assert (block.format, block.is_drawn) == ("markdown", False)
