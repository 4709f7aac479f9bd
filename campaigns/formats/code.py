"""Code, and the difference of two versions of it."""

import json
import re
from difflib import unified_diff
from html import escape
from itertools import accumulate

from campaigns.contracts.format import ContentFormat, Degradation
from campaigns.design.code_lines import worsen_lines
from campaigns.design.prose import degrade_stretches
from evalsite.lib.errors import DomainError
from evalsite.lib.markup.cleaning import LONGEST, as_written, clean, folded, scrolling, with_line_feeds
from evalsite.lib.markup.code import known_language, language_of_shebang, mark_code

_FENCE = re.compile(r"(`{3,})[ \t]{0,9}([\w+#.-]{0,30})[ \t]{0,9}\n")
_HUNK = re.compile(r"^@@ .*@@", re.MULTILINE)
_VERSIONS = (("before", "after"), ("old", "new"), ("old_contents", "new_contents"))
_MOST_LINES = 5_000
"""Of a version: difflib takes a fifth of a second for so many at worst, and four times as long for twice as many."""


class Code(ContentFormat):
    """Code with line numbers. Its language is what a first line ```python or #!/bin/sh says; else it has no colours."""

    slug = "code"
    title = "Code"
    summary = "Code with numbered lines, in colours if its first line names the language: ```python, or #!/bin/sh."
    n_words = 100
    degraded = "in every 15 lines two exchanged and a name replaced by another"
    spans = "characters of the code as it is written"
    style = "css/rate_formats.css"
    hint = "The first line of code may name its language: <code>```python</code>."

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return it with line feeds alone, without empty lines around it; raise DomainError `bad_code`."""
        return _read(text, "bad_code")

    @classmethod
    def html(cls, text: str) -> str:
        """Return numbered lines; the numbers are the style sheet's, so that they are not copied."""
        if len(text) > LONGEST:
            return as_written(text)
        named, code = _parts(text)
        lines = mark_code(code, named or language_of_shebang(code))
        written = "\n".join(f'<span class="line">{line}</span>' for line in lines)
        title = f'<p class="code-language">{escape(named)}</p>' if named else ""
        frame = scrolling(f'<pre class="numbered"><code>{written}</code></pre>', "Code")
        return folded(clean(title + frame), code)

    @classmethod
    def words(cls, value: str) -> str:
        """Return the code without the fence around it."""
        return _parts(value)[1]

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return it with lines exchanged and names, from a line on, replaced by others; by chance alone."""
        code = _parts(value)[1]
        at = value.index(code)  # after the fence
        lines = code.split("\n")
        worse = "\n".join(worsen_lines(lines, range(len(lines)), by.rng))
        return value[:at] + (by.replaced(code, cls.lengths) if worse == code else worse) + value[at + len(code) :]


class Difference(ContentFormat):
    """The difference of two versions of a text, as `diff -u` and Git write it."""

    slug = "diff"
    title = "Difference"
    summary = "A unified difference of two versions, as diff -u and Git write it, or both versions."
    n_words = 100
    degraded = "in every 15 added lines two exchanged and a name replaced by another"
    spans = "characters of the difference as it is written"
    style = "css/rate_formats.css"
    hint = (
        'A difference may be two versions, as JSON in a text: <code>{"before": "…", "after": "…"}</code>, or '
        "<code>old</code> and <code>new</code>, <code>old_contents</code> and <code>new_contents</code>."
    )

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        """Return it with line feeds alone, of two versions with three lines around each change.

        Raises DomainError `bad_diff` if no line says where a change is, and for versions without one or too long.
        """
        read = _read(_difference(text), "bad_diff")
        if not _HUNK.search(read):
            raise DomainError("bad_diff", "no line of it begins with “@@ … @@”. Write it with diff -u or git diff")
        return read

    @classmethod
    def html(cls, text: str) -> str:
        """Return its lines, what is added and removed with its sign and colour."""
        if len(text) > LONGEST:
            return as_written(text)
        lines = []
        for line in text.split("\n"):
            if line.startswith(("+++", "---", "@@", "diff ", "index ")):
                lines.append(f'<span class="line c">{escape(line)}</span>')
            else:
                tag = {"+": "ins", "-": "del"}.get(line[:1], "span")
                lines.append(f'<{tag} class="line">{escape(line)}</{tag}>')
        return folded(clean(scrolling(f"<pre><code>{chr(10).join(lines)}</code></pre>", "Code")), text)

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        """Return it with lines of one side exchanged and names in them replaced: the added ones, if there are any."""
        lines = value.split("\n")
        sides = [[n for n, line in enumerate(lines) if line[:1] == sign and line[:3] != 3 * sign] for sign in "+-"]
        for side in sides:
            worse = "\n".join(worsen_lines(lines, side, by.rng))
            if worse != value:
                return worse
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        stretches = [(starts[n] + 1, starts[n] + len(lines[n])) for n in sorted(sides[0] or sides[1])]
        return degrade_stretches(value, stretches, lambda code: by.replaced(code, cls.lengths))

    @classmethod
    def example(cls, text: str) -> str:
        """Return a difference that adds this."""
        return f"@@ -1 +1 @@\n-It is not.\n+{text}"


def _read(text: str, error_code: str) -> str:
    return with_line_feeds(text, error_code).strip("\n").rstrip()


def _difference(text: str) -> str:
    """Return the difference of a JSON object's two versions, and any other text as it is; raise DomainError."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, dict) or not (names := next((each for each in _VERSIONS if {*each} <= found.keys()), ())):
        return text
    versions = [found[name] for name in names]
    if not all(isinstance(each, str) for each in versions):
        raise DomainError("bad_diff", f"“{names[0]}” and “{names[1]}” are not both texts")
    read = (with_line_feeds(each, "bad_diff").rstrip("\n") for each in versions)
    old, new = (each.split("\n") if each else [] for each in read)
    if max(len(old), len(new)) > _MOST_LINES:
        raise DomainError("bad_diff", f"a version has more than {_MOST_LINES:,} lines. Write it with diff -u")
    if old == new:
        raise DomainError("bad_diff", "its two versions are the same")
    return "\n".join([*unified_diff(old, new, lineterm="")][2:])  # after the names of the files


def _parts(value: str) -> tuple[str, str]:
    """Return the language that a fence names, "" if none is known, and the code in it."""
    found = _FENCE.match(value)
    if not found:
        return "", value
    code = value[found.end() :]
    before, _, last = code.rpartition("\n")
    return known_language(found[2]), before if last.strip() == found[1] else code
