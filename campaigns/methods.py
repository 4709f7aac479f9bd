"""The response methods by which a campaign's responses may be analysed: classes of another app, known by name only."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, TypeVar

from campaigns.contracts.method import AnsweredCriterion, CampaignMethod, NamedCriterion
from campaigns.contracts.protocol import Scope
from campaigns.responses import get_response_kind
from evalsite.lib.plugins import Registry

methods: Registry[type[CampaignMethod]] = Registry("method", "EVALSITE_RESPONSE_METHODS")


class Scoped(Protocol):
    """What is asked of something, as a criterion is."""

    @property
    def scope(self) -> str: ...  # noqa: D102


AnyScoped = TypeVar("AnyScoped", bound=Scoped)


def whole_before_replies(criteria: Iterable[AnyScoped]) -> list[AnyScoped]:
    """Return the criteria of a study of chats: those of single replies only where none is of whole chats.

    Scores of replies are averaged to one score of a chat then; else they are kept apart (`analysis.data.ratings`).
    """
    known = list(criteria)
    return [each for each in known if each.scope != Scope.TURN] or known


def reads(method: type[CampaignMethod], criterion: AnsweredCriterion) -> bool:
    """Tell whether a method can read the answers on a criterion."""
    return method.reads(get_response_kind(criterion.response), criterion.settings)


def options_for(
    method: type[CampaignMethod], options: Mapping[str, Any], criteria: Iterable[NamedCriterion]
) -> Mapping[str, Any]:
    """Return the options by which a method analyses answers on these criteria: those set, and those that follow.

    Criteria that it cannot read say nothing. Raises DomainError `bad_settings` for options that do not fit the others.
    """
    return method().with_offered(
        options,
        {
            each.name: get_response_kind(each.response).offered(each.settings)
            for each in criteria
            if reads(method, each)
        },
    )


def list_methods_for(criteria: Iterable[AnsweredCriterion]) -> list[type[CampaignMethod]]:
    """Return the methods that can read the answers on some of these criteria, in the order of the settings."""
    known = list(criteria)
    return [method for method in methods.all().values() if any(reads(method, each) for each in known)]


def why_undecided(method: type[CampaignMethod], options: Mapping[str, Any], criteria: Iterable[NamedCriterion]) -> str:
    """Return why a campaign with these criteria cannot close as soon as pairs of systems are decided, nor give out HITs
    of undecided pairs first, in a sentence; "" if it can.
    """
    known = list(criteria)
    read = [each for each in known if reads(method, each)]
    if known and not read:
        return f"{method.title} can read the answers on none of the criteria, so no pair of systems is ever decided."
    return method().why_undecided(options, read) if read else ""
