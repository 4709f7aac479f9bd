"""Code, differences, HTML and JSON: what is read, shown and degraded."""

import json
import re

import numpy as np
import pytest

from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.formats.code import Code, Difference
from campaigns.formats.html import Html
from campaigns.formats.json_tree import JsonTree
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.code import mark_code

CODE = """```python
def area(width, height):
    '''Two
    lines.'''
    total = width * height
    print(total)
    return total
```"""
DIFF = """--- a/area.py
+++ b/area.py
@@ -1,3 +1,4 @@
 def area(width, height):
-    return width
+    total = width * height
+    return total"""
PAGE = """<h1>How it <b>works</b></h1><p onclick="x()">First one, then the other &amp; at last
<a href="https://a.example/">all of them</a>.</p><script>never()</script><img src="x" alt="a cat">
<table><tr><td colspan="2">In a cell<td colspan="999">another</table>"""
TREE = (
    '{"name": "Ann <b>", "n": 3.50, "big": 123456789012345678901234567890, "in": [1, {"deep": [true, null]}], "n": 1}'
)
DONOR = "Rivers run to the sea, and mountains do not move at all, whatever people say about them."
VALUES: list[tuple[type[ContentFormat], str]] = [(Code, CODE), (Difference, DIFF), (Html, PAGE), (JsonTree, TREE)]


def degraded(format: type[ContentFormat], value: str, seed: int = 1) -> str:
    return format.degrade(value, Degradation(np.random.default_rng(seed), lambda: [DONOR]))


@pytest.mark.parametrize(("format", "value"), VALUES)
def test_what_is_read_is_read_again_as_the_same(format: type[ContentFormat], value: str) -> None:
    kept = format.read(value, is_output=True)
    assert format.read(kept, is_output=True) == kept
    assert "So it is" in format.read(format.example("So it is"), is_output=True)


@pytest.mark.parametrize(("format", "value"), VALUES)
@pytest.mark.parametrize("seed", range(15))
def test_a_degraded_one_differs_by_chance_alone_and_can_be_read(
    format: type[ContentFormat], value: str, seed: int
) -> None:
    kept = format.read(value, is_output=True)
    worse = degraded(format, kept, seed)
    assert worse != kept and format.html(worse) != format.html(kept)
    assert worse == degraded(format, kept, seed)
    assert format.read(worse, is_output=True) == worse


def test_lines_of_code_have_numbers_that_are_not_in_the_text() -> None:
    html = Code.html(CODE)
    assert html.count('<span class="line">') == 6 and '<p class="code-language">python</p>' in html
    text = re.sub(r"<[^>]*>", "", html.partition("<code>")[2])
    assert text.replace("&#x27;", "'") == Code.words(CODE)


def test_the_language_is_what_the_first_line_says() -> None:
    assert '<span class="k">' in Code.html("#!/usr/bin/env python3\nimport os")
    assert '<span class="k">' not in Code.html("import os")
    assert '<span class="k">' not in Code.html("```nothing\nimport os\n```")


def test_degraded_code_has_the_same_lines_in_another_order_and_a_wrong_name() -> None:
    worse = degraded(Code, CODE)
    assert worse.startswith("```python\n") and worse.endswith("\n```")
    assert len(worse.split("\n")) == len(CODE.split("\n"))
    names = re.compile(r"\w+")
    assert set(names.findall(worse)) <= set(names.findall(CODE))


def test_what_is_added_and_removed_is_said_by_elements_and_signs() -> None:
    html = Difference.html(DIFF)
    assert html.count("<ins") == 2 and html.count("<del") == 1
    assert '<del class="line">-    return width</del>' in html and '<ins class="line">+    return total</ins>' in html


def test_a_degraded_difference_changes_what_is_added() -> None:
    worse = degraded(Difference, DIFF)
    assert worse.split("\n")[:5] == DIFF.split("\n")[:5]


def test_of_html_stays_what_has_a_meaning() -> None:
    html = Html.html(PAGE)
    assert html.startswith("<h3>How it <b>works</b></h3><p>First one")
    assert '<span class="link">all of them</span> <span class="link-address">(https://a.example/)</span>' in html
    assert '<span class="no-image">Image: a cat</span>' in html
    assert '<td colspan="2">In a cell</td><td>another</td>' in html
    assert "never" not in html and "onclick" not in html
    assert Html.words(PAGE).startswith("How it works\nFirst one, then the other & at last")


def test_html_of_nothing_but_a_script_is_shown_as_it_is_written() -> None:
    assert Html.html("<script>x()</script>") == '<pre class="as-written">&lt;script&gt;x()&lt;/script&gt;</pre>'


def test_json_is_a_tree_with_its_numbers_as_they_were() -> None:
    kept = JsonTree.read(TREE, is_output=True)
    assert "3.50" in kept and "123456789012345678901234567890" in kept and kept.count('"n"') == 2
    html = JsonTree.html(kept)
    assert html.count('<details open="">') == 2 and html.count("<details>") == 2
    assert '<span class="key">name</span> <span class="s">"Ann &lt;b&gt;"</span>' in html
    assert JsonTree.words(kept).split("\n")[:2] == ["name Ann <b>", "n 3.50"]


@pytest.mark.parametrize("names", [("before", "after"), ("old", "new"), ("old_contents", "new_contents")])
def test_two_versions_are_kept_as_their_difference(names: tuple[str, str]) -> None:
    lines = [f"line {n}" for n in range(9)]
    versions = "\r\n".join(lines), "\n".join([*lines[:4], "another", *lines[5:], "one more"])
    cell = json.dumps({"id": 7} | dict(zip(names, versions, strict=True)))
    kept = Difference.read(cell, is_output=True)
    assert kept.split("\n") == [
        *("@@ -2,8 +2,9 @@", " line 1", " line 2", " line 3", "-line 4", "+another"),
        *(" line 5", " line 6", " line 7", " line 8", "+one more"),
    ]
    assert Difference.read(kept, is_output=True) == kept
    new = json.dumps(dict(zip(names, ("", "a\nb"), strict=True)))
    assert Difference.read(new, is_output=True) == "@@ -0,0 +1,2 @@\n+a\n+b"


@pytest.mark.parametrize(
    ("format", "text", "why"),
    [
        (JsonTree, '{"a": 1,\n  b: 2}', r"line 2, column 3"),
        (JsonTree, "[1, NaN]", "NaN"),
        (JsonTree, "[" * 20 + "]" * 20, "12 deep"),
        (JsonTree, "[" * 100_000, "characters"),
        (JsonTree, "[" * 40_000, "deep"),
        (Difference, "+ a\n- b", "diff -u"),
        (Difference, '{"before": "a", "now": "b"}', "diff -u"),
        (Difference, '{"before": "a\\r\\n", "after": "a"}', "the same"),
        (Difference, '{"old": ["a"], "new": "b"}', "not both texts"),
        (Difference, json.dumps({"old": "a\n" * 5_001, "new": "b"}), "5,000 lines"),
        (Code, "x" * 60_000, "60,000 characters"),
        (Html, "x" * 60_000, "60,000 characters"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_its_place(format: type[ContentFormat], text: str, why: str) -> None:
    with pytest.raises(DomainError, match=why) as refused:
        format.read(text, is_output=True)
    assert refused.value.code == f"bad_{format.slug}" and not refused.value.message.endswith(".")


def test_code_that_is_long_or_mostly_space_has_no_colours() -> None:
    for code in ("import os\n" * 700, "import os" + "\n" * 200):
        assert "<span class" not in "".join(mark_code(code, "python"))
    assert '<span class="k">public</span>' in "".join(mark_code("public class A { int x = 1; }", "java"))
