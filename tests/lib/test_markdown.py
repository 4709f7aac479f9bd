"""Markdown that people write: what passes, and what must not."""

from html import unescape
from html.parser import HTMLParser

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from evalsite.lib.markdown import render_contact, render_markdown

ALLOWED = {
    *("p", "em", "strong", "ul", "ol", "li", "blockquote", "code", "pre", "hr", "br", "a"),
    *("h3", "h4", "h5", "h6"),
}


class Tags(HTMLParser):
    """Every tag and attribute of a text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_plain_things_pass() -> None:
    html = render_markdown("# Rate *each* text\n\n- **good**\n- bad\n\n`code`")
    assert html == (
        "<h3>Rate <em>each</em> text</h3>\n<ul>\n<li><strong>good</strong></li>\n<li>bad</li>\n</ul>\n"
        "<p><code>code</code></p>\n"
    )


def test_a_link_opens_beside_the_hit_and_tells_nobody_where_from() -> None:
    [(_, paragraph), (tag, attrs)] = Tags(render_markdown("[here](https://example.org/a?b=1&c=2)")).tags
    assert paragraph == {}
    assert tag == "a"
    assert attrs == {"href": "https://example.org/a?b=1&c=2", "target": "_blank", "rel": "noopener noreferrer"}


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "a <b onclick='alert(1)'>b</b>",
        "<svg/onload=alert(1)>",
        "<!-- --><iframe src=//example.org></iframe>",
        "![image](https://example.org/track.png)",
        "![image][1]\n\n[1]: https://example.org/track.png",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](java&#115;cript:alert(1))",
        "[x](\\x01javascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:msgbox)",
        "[x](//example.org)",
        "[x](/accounts/sign-out/)",
        "<javascript:alert(1)>",
        '[x](https://example.org "a\\" onmouseover=\\"alert(1)")',
        '[x](https://example.org/"onmouseover="alert(1))',
        "`<script>`",
        "```<script>\n<script>alert(1)</script>\n```",
        "# <style>body{display:none}</style>",
        "[x](http://[bad)",
    ],
)
def test_nothing_that_acts_passes(text: str) -> None:
    check_is_harmless(render_markdown(text))


@given(st.text(alphabet=st.sampled_from("<>![]()\"'`*_#&;:/=\n ajsx1"), max_size=60))
def test_nothing_that_acts_can_be_written(text: str) -> None:
    check_is_harmless(render_markdown(text))


def check_is_harmless(html: str) -> None:
    for tag, attrs in Tags(html).tags:
        assert tag in ALLOWED
        assert set(attrs) <= {"href", "target", "rel", "title", "start", "class"}
        assert (attrs.get("href") or "https:").split(":")[0].lower() in {"http", "https", "mailto"}
        assert (attrs.get("class") or "language-").startswith("language-")


def test_templates_have_it_as_a_filter() -> None:
    html = Template("{% load markdown %}{{ text|markdown }}").render(Context({"text": "*<b>*"}))
    assert html == "<p><em>&lt;b&gt;</em></p>\n"


@pytest.mark.parametrize(
    ("contact", "url"),
    [
        ("help@example.org", "mailto:help@example.org"),
        ("a&b+c@example.org", "mailto:a%26b%2Bc@example.org"),
        ("https://example.org/a?b=1&c=2", "https://example.org/a?b=1&c=2"),
        ("http://example.org", "http://example.org"),
    ],
)
def test_a_contact_that_is_an_address_is_a_link(contact: str, url: str) -> None:
    [(tag, attrs)] = Tags(render_contact(contact)).tags
    assert (tag, attrs["href"], attrs["rel"]) == ("a", url, "noopener noreferrer")


@pytest.mark.parametrize(
    "contact",
    [
        *("Ada, room 7", "Ada <ada@example.org>", "javascript:alert(1)", "data:text/html,x", "ftp://example.org"),
        *('"><script>alert(1)</script>', "**Ada**", "[x](javascript:alert(1))", "https://exa mple.org", ""),
    ],
)
def test_any_other_contact_is_text(contact: str) -> None:
    html = render_contact(contact)
    assert Tags(html).tags == []
    assert unescape(html) == contact
