"""Changing what a campaign's HITs consist of."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from campaigns.building.proposals import Proposal
from campaigns.design.raters import Raters
from campaigns.models import Campaign
from campaigns.protocols import get_protocol
from campaigns.services.campaigns import change_campaign, design_fields, lock_for_change, mark_unbuilt, new_seed
from evalsite.jobs.models import Job
from evalsite.lib.errors import DomainError

# What HITs follow from, and what they do not.
COMPOSITION = frozenset(
    {
        "page_kind",
        "outputs_per_page",
        "n_ordinary",
        "n_degraded",
        "n_repeat",
        "n_reference",
        "layout",
        "has_anchor",
        "leftover",
        "n_hits",
        "seed",
    }
)
WORKERS = frozenset({"workers_per_hit", "hits_per_worker"})


@transaction.atomic
def change_design(*, campaign: Campaign, changes: Mapping[str, Any]) -> Campaign:
    """Change fields of the design (`COMPOSITION`, `WORKERS`) and return the campaign as it is then.

    A mix that makes no HIT is kept: fields arrive one at a time, and 70 ordinary items become 11 before 10 repeats
    become 3. `get_estimate` says what is wrong with it and `build_hits` refuses it. Another composition makes the
    HITs out of date; another number of workers changes how many places they have.

    Raises DomainError: `frozen` after the launch, `given_hits` for the composition of HITs that came with a file.
    """
    if unknown := changes.keys() - COMPOSITION - WORKERS:
        raise ValueError(f"not of the design: {sorted(unknown)}")
    locked = lock_for_change(campaign)
    changed = {name: value for name, value in changes.items() if getattr(locked, name) != value}
    is_recomposed = not COMPOSITION.isdisjoint(changed)
    if is_recomposed and locked.has_given_hits:
        raise DomainError("given_hits", "These HITs came with the file and stay as they are.")
    for name, value in changed.items():
        setattr(locked, name, value)
    if changed:
        locked.save(update_fields=list(changed))
    if "workers_per_hit" in changed:
        locked.hits.update(n_places_left=locked.workers_per_hit)
    if is_recomposed:
        # What a build said of the former design would be read as being about this one.
        Campaign.objects.filter(pk=locked.pk, build_job__status=Job.Status.FAILED).update(build_job=None)
        mark_unbuilt(locked)
    return locked


def use_preset(*, campaign: Campaign) -> dict[str, Any]:
    """Take the mix and layout of the campaign's protocol.

    Returns what was before, for `use_design`. Raises DomainError as `change_design` does.
    """
    return use_design(campaign=campaign, fields=preset_of(campaign))


@transaction.atomic
def use_design(*, campaign: Campaign, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Set the fields of a proposed design, the worker test and the options of the platform among them.

    Returns what they were, with which the same call undoes it. Raises DomainError as `change_design` does.
    """
    locked = lock_for_change(campaign)
    before = {name: getattr(locked, name) for name in fields}
    design = {name: value for name, value in fields.items() if name in COMPOSITION | WORKERS}
    change_design(campaign=locked, changes=design)
    change_campaign(campaign=locked, changes={name: value for name, value in fields.items() if name not in design})
    return before


def use_proposal(*, campaign: Campaign, proposal: Proposal) -> dict[str, Any]:
    """Take a proposed design; raters who are known get personal links where the platform makes such.

    Returns what was before, for `use_design`. Raises DomainError as `change_design` does.
    """
    fields = proposal.fields()
    if proposal.raters is not Raters.CROWD and (options := campaign.crowd_platform.for_known_raters()):
        fields["platform_settings"] = dict(options)
    return use_design(campaign=campaign, fields=fields)


def draw_seed(*, campaign: Campaign) -> dict[str, Any]:
    """Take a new seed, at random.

    Returns what was before, for `use_design`. Raises DomainError as `change_design` does.
    """
    return use_design(campaign=campaign, fields={"seed": new_seed()})


def preset_of(campaign: Campaign) -> dict[str, Any]:
    """Return the fields of the design that the campaign's protocol presets."""
    return design_fields(get_protocol(campaign.protocol))
