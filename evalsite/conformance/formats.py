"""What every format does: it reads, shows, degrades and times its values."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

import numpy as np

from campaigns.contracts.format import Block, ContentFormat, Degradation, FileFormat, Made, Place
from campaigns.design.errors import DesignError
from evalsite.conformance.faults import HOSTILE, check_names, refused, require
from evalsite.lib.errors import DomainError

_SAID = "The quick brown fox jumps over the lazy dog, and nobody sees it."
_OTHERS = (
    "A small house stands by the river where we used to swim in summer.",
    "Trains run late today because of snow on the lines in the north.",
    "She wrote the report twice, and both versions were lost by the office.",
)
# What must not be in HTML that a format makes: what runs, loads, leads away, or could be found by a page's script.
_UNSAFE = (
    (r"<\s*(script|iframe|object|embed|link|meta|base|form|style|frame|applet|audio|video|source)\b", "an element"),
    (r"<[^>]*\son\w+\s*=", "an event handler"),
    (r"<[^>]*\sstyle\s*=", "a style attribute"),
    (r"<[^>]*\s(?:href|xlink:href|action|formaction|srcdoc|poster|data)\s*=", "an attribute that leads away"),
    (r"<!--", "a comment"),
)
_SEEDS = 20


class MemoryFiles:
    """The `Files` of a campaign that is not stored, in memory."""

    def __init__(self, named: Mapping[str, bytes] = {}) -> None:
        self._named, self._kept = named, dict[str, bytes]()

    def take(self, name: str, make: Callable[[bytes], Made]) -> Made:
        """Return what is made of a named file."""
        if name not in self._named:
            raise DomainError("no_file", f"there is no file “{name[:40]}”")
        return make(self._named[name])

    def note(self, text: str) -> None:
        """Say nothing."""

    def keep(self, content: bytes) -> str:
        """Keep a file."""
        digest = sha256(content).hexdigest()
        self._kept[digest] = content
        return digest

    def read(self, digest: str) -> bytes:
        """Return a file that is kept."""
        if digest not in self._kept:
            raise FileNotFoundError(digest)
        return self._kept[digest]


def check_format(
    format: type[ContentFormat], *, values: Sequence[str] = (), files: Mapping[str, bytes] | None = None
) -> None:
    """Raise ConformanceError if a format does not do what `ContentFormat` promises.

    `values`: cells that it can read, beside its own `example`. `files`: of a format that takes files, some by name.
    """
    check_names(format, "title", "summary", "degraded", "spans")
    missing = ", ".join(sorted(getattr(format, "__abstractmethods__", ())))
    require(not missing, format, f"it has no {missing}.")
    require(format.is_for_fields or format.is_for_outputs, format, "it may be neither a field nor an output.")
    memory = MemoryFiles(files or {})
    if issubclass(format, FileFormat):
        require(bool(files), format, "it takes files: give some by name, files={…}, to check it with.")
        cells = [format.read_file(name, memory) for name in files or ()]
    else:
        cells = [*values, *(format.example(text) for text in (_SAID, *_OTHERS))]
    for is_output in {not format.is_for_fields, format.is_for_outputs}:
        for cell in cells:
            _check_value(format, _check_read(format, cell, is_output=is_output), is_output=is_output)
    for cell in HOSTILE:
        error = refused(format, f"read({cell[:20]!r})", lambda cell=cell: _shown(format, cell))  # type: ignore[misc]
        is_named = error is None or error.code.startswith("bad_")
        require(is_named, format, f"{cell[:20]!r} is refused without a bad_… code.")
    if format.is_for_outputs:
        _check_degraded(format, [format.read(cell, is_output=True) for cell in cells], memory)


def _check_read(format: type[ContentFormat], cell: str, *, is_output: bool) -> str:
    value = format.read(cell, is_output=is_output)
    require(isinstance(value, str) and "\x00" not in value, format, f"read({cell[:40]!r}) is no text without NUL.")
    again = format.read(value, is_output=is_output)
    require(again == value, format, f"what read() keeps of {cell[:40]!r} is read as something else. Keep one form.")
    return value


def _check_value(format: type[ContentFormat], value: str, *, is_output: bool) -> None:
    blocks = format.blocks(value, Place("it", "Heading", is_output=is_output))
    require(bool(blocks), format, f"nothing is shown of {value[:40]!r}.")
    names = [block.name for block in blocks]
    require(len(set(names)) == len(names), format, "two of its blocks have one name. Number them.")
    require(all(block.is_output == is_output for block in blocks), format, "a block does not say whether it is rated.")
    turns = format.turns(value)
    numbers = [block.turn for block in blocks if block.turn]
    is_numbered = numbers == list(range(1, len(turns) + 1))
    require(
        is_numbered, format, f"blocks have the numbers {numbers} of {len(turns)} turns. Number one of each, from 1."
    )
    require(bool(format.turn) or not turns, format, "it has turns, and “turn” does not say what one is called.")
    for block in blocks:
        _check_html(format, block)
        require(block.file is None or issubclass(format, FileFormat), format, "it shows a file, and is no FileFormat.")
    seconds = format.seconds(value)
    require(math.isfinite(seconds) and seconds >= 0, format, f"it takes {seconds} seconds. Return a number from 0.")
    require(isinstance(format.words(value), str), format, "words() returns no text.")
    is_counted = tuple(format.style_of(value)) == format.counted
    require(is_counted, format, "style_of() does not count what `counted` names, in this order.")
    require(all(part.strip() for part in format.parts(value)), format, "one of its parts is empty. Leave it out.")


def _shown(format: type[ContentFormat], cell: str) -> None:
    """Read what may be no value, and show it if it is one."""
    value = format.read(cell, is_output=format.is_for_outputs)
    format.parts(value), format.seconds(value)
    for block in format.blocks(value, Place("it", "Heading", is_output=format.is_for_outputs)):
        _check_html(format, block)


def _check_html(format: type[ContentFormat], block: Block) -> None:
    """Check what the format makes of its own blocks; others are rendered by theirs."""
    html = format.html(block.text) if block.format == format.slug else ""
    if block.file and issubclass(format, FileFormat):
        html += format.file_html(block, [(width, f"opaque-{width}") for width in format.widths], is_text=True)
    for pattern, what in _UNSAFE:
        found = re.search(pattern, html, re.IGNORECASE)
        require(found is None, format, f"its HTML has {what}: {found[0][:60] if found else ''!r}. Sanitise it.")


def _check_degraded(format: type[ContentFormat], values: Sequence[str], files: MemoryFiles) -> None:
    """Check that a degraded value differs, can be read, and follows from the seed."""
    for n, value in enumerate(values):
        others = [part for k, each in enumerate(values) if k != n for part in format.parts(each)]
        if not format.parts(value) or not others:
            continue
        found = set()
        for seed in range(_SEEDS):
            first, second = (_degraded(format, value, others, seed, files) for _ in range(2))
            require(first == second, format, "one seed gives two degraded values. Draw from `by.rng` alone.")
            require(first != value, format, f"the degraded value is the original: {value[:40]!r}.")
            if first is not None:
                require(format.read(first, is_output=True) == first, format, "a degraded value is read otherwise.")
                found.add(first)
        require(bool(found), format, f"no seed of {_SEEDS} degrades {value[:40]!r}. Return no parts of such a value.")


def _degraded(
    format: type[ContentFormat], value: str, others: Sequence[str], seed: int, files: MemoryFiles
) -> str | None:
    rng = np.random.default_rng(seed)
    by = Degradation(rng, lambda: [others[k] for k in rng.permutation(len(others))], files)
    try:
        return format.degrade(value, by)
    except (DesignError, DomainError):
        return None
