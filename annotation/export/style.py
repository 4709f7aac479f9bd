"""The style of a campaign's outputs, such as their words, as columns beside what was said of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import QuerySet

from annotation.export.known import Cells, KnownOfHits
from campaigns.design.style import STYLE_FEATURES
from campaigns.models import Campaign, HitItem, Output
from evalsite.lib.tables.blocks import Block, zipped

_OF_OUTPUT = "output_{}"


@dataclass(frozen=True)
class OutputStyle:
    """How long a campaign's outputs are and how they are set (`ContentFormat.style_of`).

    `features`: what is known of each; none of live chats, whose outputs are not there before.
    """

    features: tuple[str, ...]
    campaign: Campaign | None = None

    @cached_property
    def _known(self) -> KnownOfHits[tuple[str, str]]:
        """The features of outputs as text, by the names of source and system."""
        assert self.campaign
        written = self.campaign.format_of_outputs

        def read(items: "QuerySet[HitItem]") -> Iterator[tuple[tuple[str, str], Cells]]:
            outputs = Output.objects.filter(pk__in=items.values("output")).order_by()
            for source, system, text in outputs.values_list("source__name", "system__name", "text").iterator():
                yield (source, system), tuple(f"{count:g}" for count in written.style_of(text).values())

        return KnownOfHits(self.campaign, read, ("",) * len(self.features))

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns beside a table's: `words_a`, `words_b` … of two systems, `output_words` … of one."""
        if "system_a" in columns:  # a name that files do not have elsewhere says that it is style
            named = [each if each in STYLE_FEATURES else f"style_{each}" for each in self.features]
            return tuple(f"{feature}_{side}" for feature in named for side in "ab")
        return tuple(map(_OF_OUTPUT.format, self.features)) if "system" in columns else ()

    def beside(self, columns: Sequence[str], sources: Sequence[str], block: Block) -> Iterator[Sequence[str]]:
        """Return the columns of `names` beside a block, empty where a row is about no output. A query or none."""
        sides = [block[columns.index(name)] for name in ("system_a", "system_b", "system") if name in columns]
        hits = block[columns.index("hit")]
        found = [self._known.beside(zipped(sources, side), hits) for side in sides] if self.features else []
        return (of_side[k] for k in range(len(self.features)) for of_side in found)


NO_STYLE = OutputStyle(())


def style_of(campaign: Campaign) -> OutputStyle:
    """Return the style of all outputs of a campaign; texts are read as a table asks for them."""
    if campaign.is_live:
        return NO_STYLE
    return OutputStyle(campaign.format_of_outputs.counted, campaign)
