"""The style of a campaign's outputs, such as their words, as columns beside what was said of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from campaigns.contracts.protocol import Screen
from campaigns.design.style import STYLE_FEATURES
from campaigns.formats import get_format
from campaigns.models import Campaign, Output

_OF_OUTPUT = "output_{}"


class OutputStyle(NamedTuple):
    """How long outputs are and how they are set (`ContentFormat.style_of`), by the names of source and system.

    `features`: what is known of each; none of live chats, whose outputs are not there before.
    """

    features: tuple[str, ...]
    outputs: Mapping[tuple[str, str], tuple[str, ...]]

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns beside a table's: `words_a`, `words_b` … of two systems, `output_words` … of one."""
        if "system_a" in columns:  # a name that files do not have elsewhere says that it is style
            named = [each if each in STYLE_FEATURES else f"style_{each}" for each in self.features]
            return tuple(f"{feature}_{side}" for feature in named for side in "ab")
        return tuple(map(_OF_OUTPUT.format, self.features)) if "system" in columns else ()

    def cells(self, columns: Sequence[str], source: str, row: tuple[Any, ...]) -> tuple[str, ...]:
        """Return the cells of a row under `names`, empty where it is about no output."""
        systems = [row[columns.index(name)] for name in ("system_a", "system_b", "system") if name in columns]
        none = ("",) * len(self.features)
        found = [self.outputs.get((source, system), none) for system in systems]
        return tuple(cell for cells in zip(*found, strict=True) for cell in cells)


NO_STYLE = OutputStyle((), {})


def style_of(campaign: Campaign) -> OutputStyle:
    """Return the style of all outputs of a campaign; a query."""
    if campaign.is_live:
        return NO_STYLE
    written = get_format(Screen.from_json(campaign.screen).output_format)
    outputs = Output.objects.filter(source__campaign=campaign).order_by()
    known = {
        (source, system): tuple(f"{count:g}" for count in written.style_of(text).values())
        for source, system, text in outputs.values_list("source__name", "system__name", "text").iterator()
    }
    return OutputStyle(written.counted, known)
