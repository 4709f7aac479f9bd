"""What a person should know about responses that could be read: counted, with examples."""

from dataclasses import dataclass

from evalsite.lib.tables import Table

N_EXAMPLES = 3


@dataclass(frozen=True)
class ResponsesWarning:
    """Something that may be wrong with the data, or that an analysis has to do without.

    `code` is stable; `count` says how many items, assignments or criteria it concerns; `examples` names at
    most three.
    """

    code: str
    count: int
    message: str
    examples: tuple[str, ...] = ()


def said_of(table: Table) -> list[ResponsesWarning]:
    """Return what was said of a table when it was read."""
    return [ResponsesWarning(warning.code, warning.count, warning.message) for warning in table.warnings]
