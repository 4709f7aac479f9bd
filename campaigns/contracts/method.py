"""The contract of a response method as campaigns know it: what it is called, and which answers it reads."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:  # response kinds import forms, which analyses of files do not need
    from campaigns.contracts.response import ResponseKind, Settings

SCORES = "scores"
"""The table of responses with a number each."""


class AnsweredCriterion(Protocol):
    """A criterion: the response kind by which it is answered, and its settings."""

    @property
    def response(self) -> str: ...  # noqa: D102

    @property
    def settings(self) -> Mapping[str, Any]: ...  # noqa: D102


class NamedCriterion(AnsweredCriterion, Protocol):
    """The same with its name."""

    @property
    def name(self) -> str: ...  # noqa: D102


class CampaignMethod:
    """A way to analyse responses, as a campaign offers it; `analysis.methods` has what it computes.

    `table`: which table of a campaign's responses it reads (`annotation.export.tables.TABLES`).
    `campaign_options`: those of its options that a campaign sets; the others follow from the campaign's criteria.
    `unit`: what differences of systems are in.
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
    unit: ClassVar[str] = "score"
    takes: ClassVar[frozenset[str]] = frozenset()
    has_criteria: ClassVar[bool] = False
    is_of_whole_chats: ClassVar[bool] = False

    @classmethod
    def reads(cls, kind: "type[ResponseKind]", settings: "Settings") -> bool:
        """Tell whether it can read what workers answer by a response kind; by default what is in its table."""
        return kind.is_in(cls.table, settings)

    @property
    def has_worker_test(self) -> bool:
        """Whether workers may be tested."""
        return "worker_test" in self.takes

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise DomainError `bad_settings` unless these are options of the method."""

    def why_undecided(self, options: Mapping[str, Any], criteria: Sequence[NamedCriterion]) -> str:
        """Return why no pair of systems can ever be decided by answers on these criteria, which it reads, so that a
        campaign cannot close itself, nor give out HITs of undecided pairs first: in a sentence; "" if pairs can.
        """
        return ""

    def with_offered(
        self, options: Mapping[str, Any], offered: Mapping[str, Sequence[str] | None]
    ) -> Mapping[str, Any]:
        """Return the options of a campaign with those that follow from its criteria; by default there are none.

        `offered`: what may be chosen on each criterion that the method reads, by its name, in order; None where answers
        are no options, or each output has its own. Raises DomainError `bad_settings` for options that do not fit them.
        """
        return options
