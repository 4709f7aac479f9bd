"""Adding, changing, ordering and deleting criteria. All raise DomainError `frozen` after launch."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Max

from campaigns.contracts.protocol import DEFAULT_KIND, Scope
from campaigns.models import Campaign, Criterion
from campaigns.responses import check_settings
from campaigns.services.campaigns import lock_for_change
from evalsite.lib.errors import DomainError

MOST = 30


@transaction.atomic
def add_criterion(*, campaign: Campaign, fields: Mapping[str, Any]) -> Criterion:
    """Add a criterion: last, unless `fields` has its `order`.

    Adding the same one twice adds it once. One that was shown on the answer to a criterion that is gone is always
    shown; those with an id in `shows` are shown on its answers again. Raises DomainError `name_taken`, `too_many`,
    `unknown_response_kind` or `bad_option`.
    """
    lock_for_change(campaign)
    response = fields.get("response", DEFAULT_KIND)
    fields = {**fields, "response": response, "settings": check_settings(response, fields.get("settings") or {})}
    fields["shown_on_id"] = _known(campaign, fields.pop("shown_on", None) or fields.get("shown_on_id"))
    shows = fields.pop("shows", ())
    if same := campaign.criteria.filter(**{name: fields[name] for name in fields if name != "order"}).first():
        return same
    _check_name(campaign, fields["name"])
    if campaign.criteria.count() >= MOST:
        raise DomainError("too_many", f"A campaign has at most {MOST} criteria.")
    last = campaign.criteria.aggregate(last=Max("order", default=-1))["last"]
    criterion = Criterion.objects.create(campaign=campaign, **{"order": last + 1, **fields})
    campaign.criteria.filter(pk__in=shows, shown_on=None).update(shown_on=criterion)
    _number(campaign)
    return criterion


@transaction.atomic
def change_criterion(*, campaign: Campaign, criterion: Criterion, changes: Mapping[str, Any]) -> None:
    """Set fields of a criterion, `shown_on` by id; raise DomainError `name_taken`, `bad_option` or `bad_condition`.

    Of `settings` those that are named change. Another response kind begins with its defaults.
    """
    lock_for_change(campaign)
    if "name" in changes:
        _check_name(campaign, changes["name"], criterion)
    _check_condition(campaign, criterion, changes)
    if "shown_on" in changes:
        changes = {**changes, "shown_on_id": changes["shown_on"]}
        del changes["shown_on"]
    if "response" in changes or "settings" in changes:
        response = changes.get("response", criterion.response)
        before = criterion.settings if response == criterion.response else {}
        changes = {**changes, "settings": check_settings(response, before | (changes.get("settings") or {}))}
    if changes:
        campaign.criteria.filter(pk=criterion.pk).update(**changes)


@transaction.atomic
def delete_criterion(*, campaign: Campaign, criterion_id: int) -> dict[str, Any] | None:
    """Delete a criterion; return the fields that `add_criterion` makes it again from, None if it is gone already.

    Those that were shown on its answers are always shown.
    """
    lock_for_change(campaign)
    found = campaign.criteria.filter(pk=criterion_id)
    fields = found.values().first()
    shows = list(campaign.criteria.filter(shown_on=criterion_id).values_list("pk", flat=True))
    found.delete()
    if fields is None:
        return None
    return {name: value for name, value in fields.items() if name not in ("id", "campaign_id")} | {"shows": shows}


@transaction.atomic
def order_criteria(*, campaign: Campaign, order: Sequence[int]) -> None:
    """Put the criteria in the order of these ids; raise DomainError `bad_order` if they are not the campaign's own."""
    lock_for_change(campaign)
    criteria = {criterion.pk: criterion for criterion in campaign.criteria.all()}
    if sorted(order) != sorted(criteria):
        raise DomainError("bad_order", "Criteria were added or deleted meanwhile. Reload the page and try again.")
    _check_order([criteria[pk] for pk in order])
    _save_order([criteria[pk] for pk in order])


@transaction.atomic
def move_criterion(*, campaign: Campaign, criterion_id: int, step: int) -> None:
    """Move a criterion by `step` places, down if positive; at an end it stays there."""
    lock_for_change(campaign)
    criteria = list(campaign.criteria.all())
    place = next((place for place, criterion in enumerate(criteria) if criterion.pk == criterion_id), None)
    if place is None:
        raise DomainError("bad_order", "This criterion was deleted meanwhile. Reload the page.")
    criteria.insert(max(0, place + step), criteria.pop(place))
    _check_order(criteria)
    _save_order(criteria)


def _number(campaign: Campaign) -> None:
    """Number the criteria from 0: the newest of two with one number comes first, where it stood before its undo."""
    _save_order(sorted(campaign.criteria.all(), key=lambda criterion: (criterion.order, -criterion.pk)))


def _save_order(criteria: Sequence[Criterion]) -> None:
    for order, criterion in enumerate(criteria):
        criterion.order = order
    Criterion.objects.bulk_update(criteria, ["order"])


def _known(campaign: Campaign, criterion_id: int | None) -> int | None:
    """Return the id if the campaign has such a criterion; one that was deleted meanwhile is nothing to depend on."""
    return criterion_id if criterion_id and campaign.criteria.filter(pk=criterion_id).exists() else None


def _check_condition(campaign: Campaign, criterion: Criterion, changes: Mapping[str, Any]) -> None:
    """Refuse a criterion that depends on one after it, or on an answer that not every output of it has."""
    shown_on, scope = changes.get("shown_on", criterion.shown_on_id), changes.get("scope", criterion.scope)
    if scope != Scope.PAGE and (after := campaign.criteria.filter(shown_on=criterion).exclude(scope=scope).first()):
        raise DomainError("bad_condition", f"“{after.name}” depends on this criterion: have both asked of the same.")
    if shown_on is None or not {"shown_on", "scope"} & changes.keys():
        return
    before = campaign.criteria.filter(pk=shown_on).first()
    if before is None or (before.order, before.pk) >= (criterion.order, criterion.pk):
        raise DomainError("bad_condition", "A criterion can only depend on an answer to one before it.")
    if before.scope not in (Scope.PAGE, scope):
        raise DomainError(
            "bad_condition",
            f"“{before.name}” is asked of something else than this criterion. Have both asked of the same, or “"
            f"{before.name}” of all that is shown at once.",
        )


def _check_order(criteria: Sequence[Criterion]) -> None:
    """Refuse an order in which a criterion comes before one that it depends on."""
    places = {criterion.pk: place for place, criterion in enumerate(criteria)}
    for place, criterion in enumerate(criteria):
        if criterion.shown_on_id and places[criterion.shown_on_id] > place:
            name = criteria[places[criterion.shown_on_id]].name
            text = f"“{criterion.name}” depends on an answer to “{name}”: it has to come after it."
            raise DomainError("bad_order", text)


def _check_name(campaign: Campaign, name: str, criterion: Criterion | None = None) -> None:
    """Refuse a name that another criterion has except for capitals: files of ratings do not distinguish those."""
    others = campaign.criteria.exclude(pk=criterion.pk) if criterion else campaign.criteria.all()
    taken = {other.casefold(): other for other in others.values_list("name", flat=True)}
    if same := taken.get(name.casefold()):
        raise DomainError("name_taken", f"Another criterion is called “{same}”. Criteria need different names.")
