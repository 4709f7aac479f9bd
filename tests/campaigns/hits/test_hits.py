"""A campaign's HITs in the database: what the mix says, from what the campaign holds, and made again the same."""

from collections import Counter

import pytest

from campaigns.design.composition import Kind
from campaigns.models import Campaign, HitItem, Output, Source, System
from campaigns.services.copies import duplicate_campaign
from campaigns.services.design import change_design
from evalsite.accounts.models import User
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.hits.built import (
    build,
    hits_of,
    of_kind,
    rows_of,
)
from tests.databases import on_both, on_sqlite

pytestmark = [pytest.mark.django_db, on_sqlite]


# --- The mixes of METHOD §2


def test_a_hit_of_mrc_has_70_ordinary_and_10_of_each_copy_with_twins_of_their_own(mrc: Campaign) -> None:
    build(mrc)

    hits = hits_of(mrc)
    assert len(hits) == 5
    for items in hits:
        assert [item.position for item in items] == list(range(1, 101))
        assert Counter(item.kind for item in items) == {0: 70, 1: 10, 2: 10, 3: 10}
        ordinary = of_kind(items, Kind.ORDINARY)
        assert len({item.output_id for item in ordinary}) == 70
        assert all(item.twin_position is None and item.text == item.output.text for item in ordinary)
        twins = [item.twin_position for item in items if item.kind != Kind.ORDINARY]
        assert len(set(twins)) == 30


def test_every_output_is_rated_and_systems_equally_often(mrc: Campaign) -> None:
    build(mrc)

    ordinary = [item for items in hits_of(mrc) for item in of_kind(items, Kind.ORDINARY)]
    uses = Counter(item.output_id for item in ordinary)
    systems = Counter(item.output.system_id for item in ordinary)
    assert len(uses) == 300 and max(uses.values()) == 2
    assert max(systems.values()) - min(systems.values()) <= 1


def test_copies_show_what_their_kind_says(mrc: Campaign) -> None:
    build(mrc)

    for items in hits_of(mrc):
        for item in items:
            if item.kind == Kind.ORDINARY:
                continue
            twin = items[item.twin_position - 1]
            assert twin.kind == Kind.ORDINARY and twin.output_id == item.output_id
            assert abs(twin.position - item.position) > 1
            if item.kind == Kind.REPEAT:
                assert item.text == twin.text
            elif item.kind == Kind.REFERENCE:
                assert item.text == item.output.source.fields["reference"]
            else:
                assert item.text != twin.text


def test_a_degraded_answer_has_a_run_of_words_of_another_sources_reference(mrc: Campaign) -> None:
    build(mrc)

    references = {source.pk: source.fields["reference"] for source in mrc.sources.all()}
    degraded = [item for items in hits_of(mrc) for item in of_kind(items, Kind.DEGRADED)]
    assert len(degraded) == 50
    for item in degraded:
        was, now = item.output.text.split(), item.text.split()
        changed = [k for k in range(len(was)) if was[k] != now[k]]
        assert len(was) == len(now)
        assert changed[0] > 0 and changed[-1] < len(was) - 1
        run = " ".join(now[changed[0] : changed[-1] + 1])
        others = [text for pk, text in references.items() if pk != item.output.source_id]
        assert any(run in text for text in others)
        assert changed[-1] - changed[0] < 5  # METHOD §1: 16 to 20 words, 5 are replaced


def test_a_hit_of_qg_is_one_passage_with_the_human_degraded_and_repeated(qg: Campaign) -> None:
    change_design(campaign=qg, changes={"leftover": "drop"})
    build(qg)

    hits = hits_of(qg)
    assert len(hits) == 200
    assert len({items[0].output.source_id for items in hits}) == 200
    for items in hits:
        assert len(items) == 20
        assert len({item.output.source_id for item in items}) == 1
        ordinary, degraded, repeats = (of_kind(items, kind) for kind in list(Kind)[:3])
        assert (len(ordinary), len(degraded), len(repeats)) == (11, 6, 3)
        assert len({item.output.system_id for item in ordinary}) == 11
        has_degraded = {item.output.system.name for item in degraded}
        has_repeat = {item.output.system.name for item in repeats}
        assert len(has_degraded) == 6 and len(has_repeat) == 3
        assert has_degraded & has_repeat == {"human"}
        for copy in degraded + repeats:
            assert abs(copy.position - copy.twin_position) > 1
            assert items[copy.twin_position - 1].output_id == copy.output_id
        assert all(item.text != item.output.text for item in degraded)
        assert all(item.text == item.output.text for item in ordinary + repeats)


def test_systems_of_qg_are_rated_equally_often(qg: Campaign) -> None:
    change_design(campaign=qg, changes={"n_hits": 200})
    build(qg)

    ordinary = HitItem.objects.filter(hit__campaign=qg, kind=Kind.ORDINARY)
    counts = Counter(ordinary.values_list("output__system__name", flat=True))
    assert counts.pop("human") == 200
    assert max(counts.values()) - min(counts.values()) <= 1


def test_the_donor_of_a_question_is_another_passage_even_where_sources_share_one(owner: User) -> None:
    campaign = make_campaign(owner, "qg")
    add_outputs(campaign, n_sources=6)
    shared, other = "alpha beta gamma delta epsilon zeta eta theta", "one two three four five six seven eight nine"
    for k, source in enumerate(campaign.sources.all()):
        source.fields["passage"] = shared if k < 5 else other
        source.save()
    build(campaign)

    for items in hits_of(campaign):
        words = set(shared.split()) if items[0].output.source.fields["passage"] == other else set(other.split())
        for item in of_kind(items, Kind.DEGRADED):
            assert set(item.text.split()) - set(item.output.text.split()) <= words


@on_both
def test_without_a_donor_field_words_are_the_humans_of_another_source(owner: User) -> None:
    campaign = make_campaign(owner, "da-summary")
    change_design(campaign=campaign, changes={"n_ordinary": 10, "n_degraded": 5, "n_repeat": 0, "n_reference": 0})
    add_outputs(campaign, n_sources=8)
    for output in Output.objects.filter(source__campaign=campaign, system__is_human=True):
        output.text = " ".join(f"human{output.source_id}" for _ in range(30))
        output.save()
    build(campaign)

    for items in hits_of(campaign):
        for item in of_kind(items, Kind.DEGRADED):
            new = set(item.text.split()) - set(item.output.text.split())
            assert len(new) == 1
            assert new.pop().removeprefix("human") != str(item.output.source_id)


def test_without_a_human_system_words_are_of_any_output_of_another_source(owner: User) -> None:
    campaign = make_campaign(owner, "custom")
    change_design(campaign=campaign, changes={"n_ordinary": 6, "n_degraded": 6, "n_repeat": 0, "n_reference": 0})
    outputs = add_outputs(campaign, n_sources=3, systems=["a", "b"])
    for output in outputs:
        output.text = " ".join(f"of{output.source_id}" for _ in range(9))
    Output.objects.bulk_update(outputs, ["text"])
    build(campaign)

    for item in HitItem.objects.filter(hit__campaign=campaign, kind=Kind.DEGRADED).select_related("output"):
        assert len(set(item.text.split()) - {f"of{item.output.source_id}"}) == 1


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("どこで生まれましたか彼は東京に住んでいます{n}番", "この川は北の山から流れて海にそそぐと書かれている{n}"),
        ("แม่น้ำสายนี้ไหลไปทางทิศใต้จนถึงทะเลครั้งที่{n}", "พิพิธภัณฑ์เปิดทุกวันยกเว้นวันจันทร์และวันหยุด{n}"),
    ],
)
def test_scripts_without_spaces_are_degraded_by_clusters(mrc: Campaign, text: str, reference: str) -> None:
    for n, source in enumerate(mrc.sources.all()):
        source.fields["reference"] = reference.format(n=n)
        source.save()
    outputs = list(Output.objects.filter(source__campaign=mrc))
    for n, output in enumerate(outputs):
        output.text = text.format(n=n)
    Output.objects.bulk_update(outputs, ["text"])
    build(mrc)

    degraded = HitItem.objects.filter(hit__campaign=mrc, kind=Kind.DEGRADED).select_related("output")
    assert len(degraded) == 50
    for item in degraded:
        was, now = item.output.text, item.text
        assert now != was
        assert now[:1] == was[:1] and now[-1:] == was[-1:]
        assert sum(a != b for a, b in zip(was, now, strict=False)) > 2


def test_an_output_without_words_is_rated_but_never_degraded(mrc: Campaign) -> None:
    empty = list(Output.objects.filter(source__campaign=mrc)[:200])
    for output in empty:
        output.text = "  "
    Output.objects.bulk_update(empty, ["text"])
    build(mrc)

    items = HitItem.objects.filter(hit__campaign=mrc, output__in=empty)
    assert items.filter(kind=Kind.ORDINARY).exists()
    assert not items.filter(kind=Kind.DEGRADED).exists()


# --- The same again


@on_both
def test_the_same_seed_gives_the_same_hits(mrc: Campaign) -> None:
    first = rows_of(build(mrc))

    assert rows_of(build(mrc)) == first


@on_both
def test_another_seed_gives_other_hits(mrc: Campaign) -> None:
    first = rows_of(build(mrc))
    change_design(campaign=mrc, changes={"seed": mrc.seed + 1})

    assert rows_of(build(mrc)) != first


def test_a_copy_with_other_keys_in_another_order_gives_the_same_hits(mrc: Campaign, owner: User) -> None:
    copy = make_campaign(owner, "mrc-adequacy")
    systems = {
        old.name: System.objects.create(campaign=copy, name=old.name, is_human=old.is_human)
        for old in mrc.systems.order_by("-name")
    }
    for old in mrc.sources.order_by("-pk"):
        source = Source.objects.create(campaign=copy, name=old.name, fields=old.fields)
        for output in old.outputs.order_by("-text"):
            Output.objects.create(source=source, system=systems[output.system.name], text=output.text)
    change_design(campaign=copy, changes={"seed": mrc.seed})

    assert rows_of(build(copy)) == rows_of(build(mrc))


def test_a_duplicate_with_the_same_seed_gives_the_same_hits(qg: Campaign, owner: User) -> None:
    copy = duplicate_campaign(campaign=qg, owner=owner, as_replication=True)
    change_design(campaign=copy, changes={"seed": qg.seed})

    assert rows_of(build(copy)) == rows_of(build(qg))


@on_both
def test_building_again_leaves_nothing_of_the_former_hits(mrc: Campaign) -> None:
    build(mrc)
    change_design(
        campaign=mrc,
        changes={"n_ordinary": 20, "n_degraded": 2, "n_repeat": 0, "n_reference": 0, "n_hits": 3, "workers_per_hit": 4},
    )
    build(mrc)

    assert list(mrc.hits.values_list("number", "n_places_left")) == [(1, 4), (2, 4), (3, 4)]
    assert HitItem.objects.count() == 3 * 22
