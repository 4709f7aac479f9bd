"""What it takes to show hostile texts with markup, against a harmless text of the same length.

    python benchmarks/markup.py [--quick]

Each format renders texts as deep as can be, of 10,000 and 20,000 characters, and prose of that length; the fastest of
some tries counts. `worst` is the greatest ratio of a format to its own prose, `of` the text that has it; `growth` is
how much longer 20,000 characters took than 10,000 at the most: 2 where time is linear in the length, 4 where quadratic.
Texts that take less than `LEAST_S` are left out of `growth`.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from campaigns.contracts.format import ContentFormat
from campaigns.formats import list_formats

LENGTHS = 10_000, 20_000
LEAST_S = 0.02
PROSE = "Plain words follow each other, and nothing in them is *marked* but this.\n\n"
DEEP = (
    *("> ", "- ", "1. ", "*", "_", "**a ", "[", "![", "[a](", "`", "$a", "$$\n", "\\[\n"),
    *("<", "<a ", "<a b='", "<div>", "<p><b>", "<b><p>", "<!--", "<svg>", "<table><tr><td>", "&"),
    *("a|b\n-|-\n", "[[a]", "[a][", "*_", "{", '{"a":', "[1,"),
    *("$\\sqrt{x}$ ", "```py\n'''\n```\n", "```c\n" + "\n" * 90 + "```\n", "```java\na b \n```\n", "@@ -1 +1 @@\n+a\n"),
)


def fastest(act: Callable[[], object], tries: int) -> float:
    """Return the least seconds that it took."""
    taken = []
    for _ in range(tries):
        start = time.perf_counter()
        act()
        taken.append(time.perf_counter() - start)
    return min(taken)


def measure(format: type[ContentFormat], tries: int) -> dict[str, object]:
    """Return how a format fares."""

    def seconds(part: str, length: int) -> float:
        return fastest(lambda: format.html((part * length)[:length]), tries)

    prose = seconds(PROSE, LENGTHS[1])
    taken = {part: [seconds(part, length) for length in LENGTHS] for part in DEEP}
    worst = max(taken, key=lambda part: taken[part][1])
    growth = [longer / shorter for shorter, longer in taken.values() if longer > LEAST_S]
    return {
        "prose_ms": round(1000 * prose, 1),
        "worst": round(taken[worst][1] / prose, 1),
        "of": worst,
        "worst_ms": round(1000 * taken[worst][1], 1),
        "growth": round(max(growth, default=0.0), 1),
    }


def main() -> None:
    """Measure every format that renders anything; print a line each and, last, one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one try of each")
    tries = 1 if parser.parse_args().quick else 3
    found = {}
    for format in list_formats():
        if format.html("<b>x</b>"):
            found[format.slug] = measured = measure(format, tries)
            print(f"{format.slug:>12}: {measured}", flush=True)
    print(json.dumps({"benchmark": "markup", "lengths": LENGTHS, "formats": found}))


if __name__ == "__main__":
    main()
