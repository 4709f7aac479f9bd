"""Designs that cannot be built are refused, with the numbers."""

import pytest

from campaigns.hit_queries import get_estimate
from campaigns.models import Campaign, Output
from campaigns.services.design import change_design
from campaigns.services.hits import build_hits, use_own_hits
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.hits.built import (
    build,
    refused,
)
from tests.databases import on_both

pytestmark = [pytest.mark.django_db, on_both]


# --- Refused, with the numbers


def test_hits_are_not_built_after_the_launch(mrc: Campaign, owner: User) -> None:
    Campaign.objects.filter(pk=mrc.pk).update(launched_at=mrc.created_at)

    with pytest.raises(DomainError) as caught:
        build_hits(campaign=mrc, user=owner)
    assert caught.value.code == "frozen"


def test_hits_of_a_file_stay_until_own_ones_are_wanted(mrc: Campaign, owner: User) -> None:
    Campaign.objects.filter(pk=mrc.pk).update(has_given_hits=True)
    mrc.refresh_from_db()
    with pytest.raises(DomainError) as caught:
        build_hits(campaign=mrc, user=owner)
    assert caught.value.code == "given_hits"

    use_own_hits(campaign=mrc)
    mrc.refresh_from_db()
    assert mrc.status == Campaign.Status.DRAFT
    assert build_hits(campaign=mrc, user=owner)


def test_a_campaign_without_outputs_is_refused(owner: User) -> None:
    with pytest.raises(DomainError) as caught:
        build_hits(campaign=make_campaign(owner, "mrc-adequacy"), user=owner)
    assert caught.value.code == "no_outputs"


@pytest.mark.parametrize(
    ("protocol", "n_sources", "systems", "changes", "code", "numbers"),
    [
        ("mrc-adequacy", 3, ["a", "b"], {}, "too_few_outputs", ["70", " 6 "]),
        ("mrc-adequacy", 3, ["a"], {"n_ordinary": 20}, "too_many_twins", ["30", "20"]),
        ("qg", 4, ["human", "a", "b"], {}, "too_few_systems", ["11", "4 of 4 sources", "source-00000", "3"]),
        ("qg", 4, [f"s{k}" for k in range(12)], {}, "no_anchor", ["human"]),
        ("qg", 4, None, {"layout": "pooled"}, "anchor_without_source", []),
        ("custom", 30, None, {"n_ordinary": 70, "n_reference": 10}, "no_reference_field", ["10"]),
        ("qg", 4, None, {"n_hits": 1_000_000}, "too_many_items", ["1,000,000", "20,000,000"]),
    ],
)
def test_designs_that_cannot_be_built_are_refused_with_the_numbers(
    owner: User, protocol: str, n_sources: int, systems: list[str] | None, changes: dict, code: str, numbers: list[str]
) -> None:
    campaign = make_campaign(owner, protocol)
    add_outputs(campaign, n_sources, **({"systems": systems} if systems else {}))
    change_design(campaign=campaign, changes=changes)

    with pytest.raises(DomainError) as caught:
        build_hits(campaign=campaign, user=owner)
    assert caught.value.code == code
    assert all(number in caught.value.message for number in numbers), caught.value.message


def test_sources_that_cannot_fill_a_hit_are_named_or_left_out(owner: User) -> None:
    campaign = make_campaign(owner, "qg")
    add_outputs(campaign, n_sources=4)
    Output.objects.filter(source__name="source-00002", system__name__in=["system-a", "human"]).delete()

    error = refused(campaign)
    assert error.code == "no_anchor_output"
    assert "1 of 4 sources" in error.message and "“human”" in error.message and "source-00002" in error.message

    change_design(campaign=campaign, changes={"leftover": "drop"})
    build(campaign)
    assert campaign.hits.count() == 3
    assert get_estimate(campaign).n_sources_left_out == 1


def test_words_that_cannot_be_had_are_missed_by_the_name_of_the_output(owner: User) -> None:
    campaign = make_campaign(owner, "custom")
    change_design(campaign=campaign, changes={"n_ordinary": 1, "n_degraded": 1, "n_repeat": 0, "n_reference": 0})
    campaign.refresh_from_db()
    outputs = add_outputs(campaign, n_sources=2, systems=["parrot"])
    Output.objects.filter(pk__in=[output.pk for output in outputs]).update(text="Polly")
    change_design(campaign=campaign, changes={"n_ordinary": 2})

    error = refused(campaign)
    assert error.code in ("degraded_equals_original", "no_donor")
    assert "parrot" in error.message and "source-0000" in error.message


def test_one_source_has_no_other_to_take_words_from(owner: User) -> None:
    campaign = make_campaign(owner, "qg")
    add_outputs(campaign, n_sources=1)

    assert refused(campaign).code == "no_donor"
