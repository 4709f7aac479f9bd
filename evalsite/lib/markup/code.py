"""Code with its keywords, strings, comments, numbers and names marked, line by line."""

import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# Lexers that take quadratic time take no more than half a second for so much; those of C do for space alone, too.
_LONGEST, _LONGEST_LINE = 6_000, 2_000
_MUCH_SPACE = re.compile(r"\s{100}")
# By the names that people write behind ```. Others are shown without colours: the library's other lexers
# are not tested with hostile text.
_LANGUAGES = frozenset(
    str.split(
        "bash c c++ cpp cs csharp css diff docker dockerfile go golang haskell html ini java javascript js "
        "json jsx julia kotlin latex lua matlab perl php powershell py python python3 r rb ruby rs "
        "rust scala sh shell sql swift tex toml ts typescript xml yaml yml zsh"
    )
)
# Whose own lexers take seconds for a screen of words, so that another marks what they have in common.
_LEXERS = dict.fromkeys(("java", "cs", "csharp"), "javascript")
_SHEBANG = re.compile(r"#!\S*?(?:env\s+)?(\w+?)[\d.]*\s*$")
_CLASSES = {
    "Token.Keyword": "k",
    "Token.Operator.Word": "k",
    "Token.Name.Tag": "k",
    "Token.Literal.String": "s",
    "Token.Literal.Number": "m",
    "Token.Comment": "c",
    "Token.Name.Function": "n",
    "Token.Name.Class": "n",
    "Token.Name.Attribute": "n",
    "Token.Name.Decorator": "n",
}


def known_language(name: str) -> str:
    """Return a language's name as it is looked up, "" if code in it is shown without colours."""
    name = name.strip().lower()
    return name if name in _LANGUAGES else ""


def language_of_shebang(code: str) -> str:
    """Return the language that the first line of a script names, "" if none.

    >>> language_of_shebang("#!/usr/bin/env python3"), language_of_shebang("#!/bin/sh")
    ('python', 'sh')
    """
    first = code.partition("\n")[0]
    found = _SHEBANG.match(first[:200]) if first.startswith("#!") else None
    return known_language(found[1].rpartition("/")[2]) if found else ""


def mark_code(code: str, language: str) -> list[str]:
    """Return the lines of code as HTML. Code that is very long, or in a language that is not known, is not marked."""
    lines = code.split("\n")
    if (
        not known_language(language)
        or len(code) > _LONGEST
        or max(map(len, lines)) > _LONGEST_LINE
        or _MUCH_SPACE.search(code)
    ):
        return [escape(line) for line in lines]
    marked = [""]
    for kind, value in _lexer(known_language(language)).get_tokens(code):
        name = _class_of(kind)
        first, *further = (
            f'<span class="{name}">{escape(part)}</span>' if name and part else escape(part)
            for part in value.split("\n")
        )
        marked[-1] += first
        marked += further
    return marked


@lru_cache(maxsize=len(_LANGUAGES))
def _lexer(language: str) -> "Lexer":
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(_LEXERS.get(language, language), stripnl=False, ensurenl=False)


@lru_cache(maxsize=512)
def _class_of(kind: Any) -> str:
    while kind is not None:
        if name := _CLASSES.get(str(kind)):
            return name
        kind = kind.parent
    return ""
