"""Small files that show what can be imported, made for the fields of a campaign."""

import io
from collections.abc import Sequence
from typing import Literal

from campaigns.contracts.protocol import Screen
from campaigns.formats import get_format
from evalsite.lib.tables.writing import write_csv

Shape = Literal["long", "wide"]
_SYSTEMS = ("human", "system-a", "system-b")
_N_SOURCES = 2


def example_table(screen: Screen, shape: Shape) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of an example; imported as it is guessed, it gives two sources, three systems."""
    names = [each.name for each in screen.fields]
    header = ["source_id", *names, *(_SYSTEMS if shape == "wide" else ("system", "output"))]
    rows: list[list[str]] = []
    for n in range(1, _N_SOURCES + 1):
        begin = [f"s{n}", *_fields(screen, n)]
        example = get_format(screen.output_format).example
        outputs = [example(f"{screen.output_label} {n} of {system}") for system in _SYSTEMS]
        if shape == "wide":
            rows.append([*begin, *outputs])
        else:
            rows += [[*begin, system, output] for system, output in zip(_SYSTEMS, outputs, strict=True)]
    return header, rows


def example_csv(screen: Screen, shape: Shape) -> str:
    """Return an example as CSV."""
    stream = io.StringIO()
    write_csv(stream, *example_table(screen, shape))
    return stream.getvalue()


def _fields(screen: Screen, n: int) -> Sequence[str]:
    """Return a text for each field; what is marked in another field occurs in it."""
    labels = {each.name: each.label for each in screen.fields}
    texts = {each.name: get_format(each.format).example(f"{each.label} {n}") for each in screen.fields}
    for each in screen.fields:
        if each.marks in labels:
            texts[each.name] = f"{each.label} {n}, in which {texts[each.marks]} is found."
    return list(texts.values())
