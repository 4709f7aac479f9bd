"""Inviting raters, changing their addresses, revoking their links and restoring them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Invitation, PlaceFreed, Worker
from annotation.raters.lists import LONGEST_RATER_NAME, RaterEntry, is_email
from annotation.services.assignments import release_assignment
from campaigns.contracts.attributes import MOST_ATTRIBUTES, plain_attribute, too_many_attributes
from campaigns.models import Campaign
from evalsite.lib.errors import DomainError

_AT_ONCE = 500
_SHOWN = 10


@dataclass(frozen=True)
class InvitedRaters:
    """How many raters of a list are new, had a link before, and of these got an e-mail address or other attributes."""

    n_new: int
    n_known: int
    n_emails: int
    n_attributes: int


@transaction.atomic
def invite_raters(*, campaign: Campaign, raters: Iterable[RaterEntry]) -> InvitedRaters:
    """Make a worker and an invitation for each rater who has none yet; give the others an address that they lack.

    Attributes of the list replace those of the same names, and an empty one deletes them. Names that differ in capitals
    only are one rater: the first keeps their spelling. Raises DomainError `bad_name`, `conflict` for a rater or an
    address that is known otherwise, `many_attributes`, and `no_personal_links` where the campaign's platform brings its
    own workers.
    """
    Campaign.objects.select_for_update().get(pk=campaign.pk)  # two people may paste overlapping lists at once
    wanted = {entry.name.casefold(): _checked(entry) for entry in reversed(list(raters))}
    invited = list(Invitation.objects.filter(campaign=campaign).select_related("worker"))
    known = {invitation.worker.name.casefold(): invitation for invitation in invited}
    entries = list(wanted.values())[::-1]
    _refuse_conflicts(entries, known)
    new = [entry for entry in entries if entry.name.casefold() not in known]
    now = timezone.now()
    spelled = {plain_attribute(name): name for invitation in invited for name in invitation.attribute_values}
    changed: dict[str, list[Invitation]] = {"email": [], "attributes": []}
    for entry in entries:
        if before := known.get(entry.name.casefold()):
            if entry.email and not before.email:
                before.email = entry.email
                changed["email"].append(before)
            attributes = _with(before.attribute_values, entry, spelled)
            if attributes != before.attribute_values:
                before.attribute_values, before.attributes_at = attributes, now
                changed["attributes"].append(before)
    made = [Invitation(email=entry.email, attribute_values=_with({}, entry, spelled)) for entry in new]
    for invitation in made:
        invitation.attributes_at = now if invitation.attribute_values else None
    names = {name for each in (*invited, *made) for name in each.attribute_values}
    if len(names) > MOST_ATTRIBUTES:
        raise DomainError("many_attributes", too_many_attributes(len(names)))
    Invitation.objects.bulk_update(changed["email"], ["email"], batch_size=_AT_ONCE)
    Invitation.objects.bulk_update(changed["attributes"], ["attribute_values", "attributes_at"], batch_size=_AT_ONCE)
    platform, ref = campaign.crowd_platform, campaign.ref
    keys = {platform.invite(ref, entry.name): invitation for entry, invitation in zip(new, made, strict=True)}
    Worker.objects.bulk_create(
        [Worker(platform=campaign.platform, key=key) for key in keys], ignore_conflicts=True, batch_size=_AT_ONCE
    )
    workers = {worker.key: worker for worker in Worker.objects.filter(platform=campaign.platform, key__in=keys)}
    for key, invitation in keys.items():
        invitation.campaign, invitation.worker = campaign, workers[key]
    Invitation.objects.bulk_create(keys.values(), batch_size=_AT_ONCE)
    return InvitedRaters(len(new), len(entries) - len(new), len(changed["email"]), len(changed["attributes"]))


def _with(before: Mapping[str, str], entry: RaterEntry, spelled: dict[str, str]) -> dict[str, str]:
    """Return attributes with those of a list, under the names that the campaign has for them, {plain name: name}."""
    new = {spelled.setdefault(plain_attribute(name), name): value for name, value in entry.attributes.items()}
    return {name: value for name, value in {**before, **new}.items() if value}


def _checked(entry: RaterEntry) -> RaterEntry:
    """Return a rater whose name a worker's key gives back."""
    name = entry.name
    if not name or len(name) > LONGEST_RATER_NAME or ":" in name:
        raise DomainError(
            "bad_name", f"“{name[:20]}” cannot be a rater’s name: 1 to {LONGEST_RATER_NAME} characters, without “:”."
        )
    return entry


def _refuse_conflicts(entries: Iterable[RaterEntry], known: dict[str, Invitation]) -> None:
    """Refuse an address for two raters, and another address for a rater: it may be somebody else of that name."""
    by_email = {each.email.casefold(): each for each in known.values() if each.email}
    problems = []
    for entry in entries:
        before, holder = known.get(entry.name.casefold()), by_email.get(entry.email.casefold())
        if entry.email and holder and holder is not before:
            text = f"“{entry.email}” is the address of {holder.worker.name}, who is invited already."
            problems.append(entry.where + text)
        elif entry.email and before and before.email and before.email.casefold() != entry.email.casefold():
            text = (
                f"“{entry.name}” is invited already, with the address {before.email}. If this is somebody else, add "
                "something to the name. If the address has changed, change it on the rater’s page."
            )
            problems.append(entry.where + text)
    if problems:
        more = [f"And {len(problems) - _SHOWN} more."] if len(problems) > _SHOWN else []
        raise DomainError("conflict", "\n".join(problems[:_SHOWN] + more))


@transaction.atomic
def change_email(*, invitation: Invitation, email: str) -> Invitation:
    """Set the e-mail address of a rater, or delete it. Raises DomainError `bad_email` or `conflict`."""
    Campaign.objects.select_for_update(no_key=True).get(pk=invitation.campaign_id)
    if email and not is_email(email):
        raise DomainError("bad_email", f"“{email[:40]}” is not an e-mail address.")
    others = Invitation.objects.filter(campaign=invitation.campaign_id).exclude(pk=invitation.pk)
    if email and (holder := others.filter(email__iexact=email).select_related("worker").first()):
        raise DomainError("conflict", f"“{email}” is the address of {holder.worker.name}, who is invited, too.")
    invitation.email = email
    invitation.save(update_fields=["email"])
    return invitation


@transaction.atomic
def revoke_invitation(*, invitation: Invitation) -> Invitation:
    """Let a personal link give out no more HITs, and free the place that its rater holds; what was rated is kept."""
    Worker.objects.select_for_update(no_key=True).get(pk=invitation.worker_id)  # who is just being given a HIT
    Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=timezone.now())
    held = Assignment.objects.filter(
        campaign=invitation.campaign_id, worker=invitation.worker_id, state=Assignment.State.ACTIVE
    )
    for assignment in held.select_for_update(of=("self",), no_key=True):
        release_assignment(assignment=assignment, cause=PlaceFreed.REVOKED)
    invitation.refresh_from_db(fields=["revoked_at"])
    return invitation


def restore_invitation(*, invitation: Invitation) -> Invitation:
    """Let a revoked link give out HITs again."""
    invitation.revoked_at = None
    invitation.save(update_fields=["revoked_at"])
    return invitation
