"""The style of a campaign's outputs, such as their words, as columns beside what was said of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from campaigns.design.style import STYLE_FEATURES
from campaigns.models import Campaign, Output
from evalsite.lib.tables.blocks import Block, spread, zipped

_OF_OUTPUT = "output_{}"


@dataclass(frozen=True)
class OutputStyle:
    """How long a campaign's outputs are and how they are set (`ContentFormat.style_of`).

    `features`: what is known of each; none of live chats, whose outputs are not there before.
    """

    features: tuple[str, ...]
    campaign: Campaign | None = None

    @cached_property
    def outputs(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """The features of each output as text, by the names of source and system; a query, which reads all texts."""
        if self.campaign is None:
            return {}
        written = self.campaign.format_of_outputs
        outputs = Output.objects.filter(source__campaign=self.campaign).order_by()
        return {
            (source, system): tuple(f"{count:g}" for count in written.style_of(text).values())
            for source, system, text in outputs.values_list("source__name", "system__name", "text").iterator()
        }

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns beside a table's: `words_a`, `words_b` … of two systems, `output_words` … of one."""
        if "system_a" in columns:  # a name that files do not have elsewhere says that it is style
            named = [each if each in STYLE_FEATURES else f"style_{each}" for each in self.features]
            return tuple(f"{feature}_{side}" for feature in named for side in "ab")
        return tuple(map(_OF_OUTPUT.format, self.features)) if "system" in columns else ()

    def beside(self, columns: Sequence[str], sources: Sequence[str], block: Block) -> Iterator[Sequence[str]]:
        """Return the columns of `names` beside a block, empty where a row is about no output."""
        none = ("",) * len(self.features)
        sides = [block[columns.index(name)] for name in ("system_a", "system_b", "system") if name in columns]
        found = [spread(zipped(sources, side), lambda key: self.outputs.get(key, none)) for side in sides]
        return (spread(of_side, itemgetter(k)) for k in range(len(self.features)) for of_side in found)


NO_STYLE = OutputStyle(())


def style_of(campaign: Campaign) -> OutputStyle:
    """Return the style of all outputs of a campaign; texts are read when a table asks for the first of them."""
    if campaign.is_live:
        return NO_STYLE
    return OutputStyle(campaign.format_of_outputs.counted, campaign)
