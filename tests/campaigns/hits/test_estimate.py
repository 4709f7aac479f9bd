"""What HITs will come to, before they are built."""

from collections import Counter

import pytest

from campaigns.building.planning import make_plan
from campaigns.design.composition import Kind
from campaigns.hit_queries import get_estimate, read_build_inputs
from campaigns.models import Campaign, HitItem, Output
from campaigns.services.design import change_design
from campaigns.services.hits import use_own_hits
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.hits.built import (
    build,
)

pytestmark = pytest.mark.django_db


# --- What it will come to


@pytest.mark.parametrize("changes", [{}, {"leftover": "drop"}, {"n_hits": 7}, {"n_hits": 2, "workers_per_hit": 3}])
@pytest.mark.parametrize("protocol", ["mrc-adequacy", "qg"])
def test_the_estimate_is_what_is_built(owner: User, protocol: str, changes: dict) -> None:
    campaign = make_campaign(owner, protocol)
    add_outputs(campaign, n_sources=12)
    Campaign.objects.filter(pk=campaign.pk).update(reward="0.99")
    campaign = change_design(campaign=campaign, changes=changes)

    estimate = get_estimate(campaign)
    build(campaign)

    workers = campaign.workers_per_hit
    ordinary = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.ORDINARY)
    counts = Counter(ordinary.values_list("output__system__name", flat=True))
    assert estimate.n_hits == campaign.hits.count()
    assert estimate.n_items == HitItem.objects.count()
    assert estimate.n_assignments == estimate.n_hits * workers
    assert float(estimate.cost) == pytest.approx(0.99 * estimate.n_assignments)
    assert dict(estimate.ratings) == {name: n * workers for name, n in counts.items()}
    assert estimate.n_outputs_used == ordinary.values("output").distinct().count()
    assert estimate.n_outputs_used + estimate.n_outputs_left_out == 12 * 15
    assert estimate.n_reuses == ordinary.count() - estimate.n_outputs_used
    assert estimate.fewest_ratings == min(estimate.ratings, key=lambda row: row[1])[1]


def test_the_estimate_of_given_hits_counts_them(mrc: Campaign) -> None:
    built = get_estimate(build(mrc))
    Campaign.objects.filter(pk=mrc.pk).update(has_given_hits=True)
    mrc.refresh_from_db()

    given = get_estimate(mrc)
    assert (given.ratings, given.n_assignments, given.cost) == (built.ratings, built.n_assignments, built.cost)
    for name in ("n_hits", "n_items", "n_outputs_used", "n_outputs_left_out", "n_reuses", "n_sources_left_out"):
        assert getattr(given, name) == getattr(built, name)


def test_the_estimate_reads_no_texts(mrc: Campaign, django_assert_num_queries) -> None:
    with django_assert_num_queries(3) as queries:
        get_estimate(mrc)

    assert not any('"text"' in query["sql"] or '"fields"' in query["sql"] for query in queries)


def test_material_is_the_same_only_if_all_of_it_is(mrc: Campaign) -> None:
    inputs = read_build_inputs(mrc)
    assert inputs.is_same(read_build_inputs(mrc))
    assert make_plan(inputs).totals.n_hits == 5

    Output.objects.filter(source__campaign=mrc).first().delete()
    assert not inputs.is_same(read_build_inputs(mrc))


def test_asking_twice_for_own_hits_leaves_those_built_meanwhile(mrc: Campaign) -> None:
    mrc.status = Campaign.Status.READY
    mrc.save()
    use_own_hits(campaign=mrc)
    mrc.refresh_from_db()
    assert mrc.status == Campaign.Status.READY
