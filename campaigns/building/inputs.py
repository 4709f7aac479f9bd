"""What a campaign's HITs follow from."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from campaigns.contracts.format import ContentFormat
from campaigns.design.composition import Layout, Mix
from campaigns.design.paging import PageKind
from campaigns.design.sampling import Leftover
from campaigns.design.seeds import Codes
from campaigns.formats.text import PlainText


@dataclass(frozen=True)
class Texts:
    """The texts that items are made of.

    `outputs` has one text for each output. The others have one for each source, empty where it has none: `references`
    what a reference item shows, `donors` what gives words to degraded items of other sources; `donors` is None where
    other sources' outputs do so. `degraded`: of each output what takes its place in degraded items, "" where the format
    makes that; empty where no output has one.
    """

    outputs: list[str]
    references: list[str]
    donors: list[str] | None
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class BuildInputs:
    """All that a campaign's HITs follow from.

    Sources and systems are numbered in the order of their names, outputs in the order of source and system, so that
    copies of a campaign, which have other keys, give the same HITs. `human` is the number of the human system,
    `output_ids` are keys, `format` is that of the outputs. `texts` is None where only the composition of HITs is
    wanted.

    Of a live campaign the outputs are its chatbots, except the degraded one; `family` has a number for each, and
    `degraded_id` is the key of what represents the degraded one, if there is one.

    Where workers see documents, `document` and `place` have the number of each output's document and the place of its
    source there.
    """

    mix: Mix
    seed: int
    n_hits: int | None
    leftover: Leftover
    reference_label: str
    donor_label: str
    source_names: list[str]
    system_names: list[str]
    human: int | None
    source: Codes
    system: Codes
    output_ids: NDArray[np.int64]
    texts: Texts | None = field(default=None)
    format: type[ContentFormat] = PlainText
    family: Codes | None = field(default=None)
    degraded_id: int | None = field(default=None)
    page_kind: PageKind = PageKind.OUTPUT
    outputs_per_page: int = 1
    document: Codes | None = None
    place: Codes | None = None

    @property
    def is_live(self) -> bool:
        """Whether workers chat with the systems."""
        return self.mix.layout == Layout.BY_SYSTEM

    @property
    def compares_chats(self) -> bool:
        """Whether workers chat with two of the systems at once."""
        return self.is_live and self.page_kind == PageKind.COMPARISON

    @property
    def n_comparisons(self) -> int:
        """Of how many degraded items of a HIT workers can say that they are worse than what they are compared with."""
        return 0 if self.is_live and not self.compares_chats else self.mix.n_degraded

    @property
    def n_sources(self) -> int:
        """Number of sources that have outputs."""
        return int(np.unique(self.source).size)

    def is_same(self, other: "BuildInputs") -> bool:
        """Tell whether the other would give the same HITs, of the same outputs."""
        return all(
            np.array_equal(mine, others) if isinstance(mine, np.ndarray) else mine == others
            for mine, others in zip(vars(self).values(), vars(other).values(), strict=True)
        )
