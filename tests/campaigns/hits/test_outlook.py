"""What HITs will come to, before they are built."""

from collections import Counter

import pytest

from campaigns.building.material import make_plan
from campaigns.design.composition import Kind
from campaigns.hit_queries import preview_totals, read_material
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
def test_the_outlook_is_what_is_built(owner: User, protocol: str, changes: dict) -> None:
    campaign = make_campaign(owner, protocol)
    add_outputs(campaign, n_sources=12)
    Campaign.objects.filter(pk=campaign.pk).update(reward="0.99")
    campaign = change_design(campaign=campaign, changes=changes)

    outlook = preview_totals(campaign)
    build(campaign)

    workers = campaign.workers_per_hit
    ordinary = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.ORDINARY)
    counts = Counter(ordinary.values_list("output__system__name", flat=True))
    assert outlook.n_hits == campaign.hits.count()
    assert outlook.n_items == HitItem.objects.count()
    assert outlook.n_assignments == outlook.n_hits * workers
    assert float(outlook.cost) == pytest.approx(0.99 * outlook.n_assignments)
    assert dict(outlook.ratings) == {name: n * workers for name, n in counts.items()}
    assert outlook.n_outputs_used == ordinary.values("output").distinct().count()
    assert outlook.n_outputs_used + outlook.n_outputs_left_out == 12 * 15
    assert outlook.n_reuses == ordinary.count() - outlook.n_outputs_used
    assert outlook.fewest_ratings == min(outlook.ratings, key=lambda row: row[1])[1]


def test_the_outlook_of_given_hits_counts_them(mrc: Campaign) -> None:
    built = preview_totals(build(mrc))
    Campaign.objects.filter(pk=mrc.pk).update(has_given_hits=True)
    mrc.refresh_from_db()

    assert preview_totals(mrc) == built


def test_the_outlook_reads_no_texts(mrc: Campaign, django_assert_num_queries) -> None:
    with django_assert_num_queries(3) as queries:
        preview_totals(mrc)

    assert not any('"text"' in query["sql"] or '"fields"' in query["sql"] for query in queries)


def test_material_is_the_same_only_if_all_of_it_is(mrc: Campaign) -> None:
    material = read_material(mrc)
    assert material.is_same(read_material(mrc))
    assert make_plan(material).totals.n_hits == 5

    Output.objects.filter(source__campaign=mrc).first().delete()
    assert not material.is_same(read_material(mrc))


def test_asking_twice_for_own_hits_leaves_those_built_meanwhile(mrc: Campaign) -> None:
    mrc.status = Campaign.Status.READY
    mrc.save()
    use_own_hits(campaign=mrc)
    mrc.refresh_from_db()
    assert mrc.status == Campaign.Status.READY
