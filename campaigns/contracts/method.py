"""The contract of a response method as campaigns know it: what it is called, and which answers it reads."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from campaigns.contracts.response import ResponseKind, Settings

SCORES = "scores"
"""The table of responses with a number each."""
FIRST_PAGE = "run"
"""The page of a result that says what was found."""


class CampaignMethod:
    """A way to analyse responses, as a campaign offers it; `analysis.methods` has what it computes.

    `table`: which table of a campaign's responses it reads (`annotation.tables.TABLES`).
    `campaign_options`: those of its options that a campaign sets; the others follow from the campaign's criteria.
    `pages`: the pages that its results may have (`analysis.web.navigation.RESULT_PAGES`), in order. *Groups* is added
    where they were asked for.
    `has_looks`: its results can be looked at while ratings come, so that a campaign may close itself.
    `takes`: what of an analysis it knows, such as a worker test (`OPTIONS` of `analysis.methods`).
    `has_criteria`: its settings need criteria.
    `is_of_whole_chats`: scores of single replies count only where no chat has a score as a whole.
    """

    do_not_call_in_templates: ClassVar[bool] = True
    slug: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str] = ""
    table: ClassVar[str] = SCORES
    campaign_options: ClassVar[tuple[str, ...]] = ()
    pages: ClassVar[tuple[str, ...]] = (
        *(FIRST_PAGE, "workers", "reliability", "sensitivity"),
        *("metrics", "compare", "paper", "downloads"),
    )
    has_looks: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset()
    has_criteria: ClassVar[bool] = False
    is_of_whole_chats: ClassVar[bool] = False

    @classmethod
    def reads(cls, kind: type[ResponseKind], settings: Settings) -> bool:
        """Tell whether it can read what workers answer by a response kind; by default what is in its table."""
        return kind.is_in(cls.table, settings)

    @property
    def has_worker_test(self) -> bool:
        """Whether workers may be tested."""
        return "worker_test" in self.takes

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise DomainError `bad_settings` unless these are options of the method."""

    def with_offered(
        self, options: Mapping[str, Any], offered: Mapping[str, Sequence[str] | None]
    ) -> Mapping[str, Any]:
        """Return the options of a campaign with those that follow from its criteria; by default there are none.

        `offered`: what may be chosen on each criterion that the method reads, by its name, in order; None where answers
        are no options, or each output has its own. Raises DomainError `bad_settings` for options that do not fit them.
        """
        return options
