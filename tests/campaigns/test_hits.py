"""A campaign's HITs in the database: what the mix says, from what the campaign holds, and made again the same."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction

from campaigns.building.material import make_plan
from campaigns.design.composition import Kind
from campaigns.hit_queries import preview_totals, read_material
from campaigns.models import Campaign, Hit, HitItem, Output, Source, System
from campaigns.services.campaigns import mark_unbuilt
from campaigns.services.design import change_design
from campaigns.services.hits import build_hits, execute_build, use_own_hits
from campaigns.services.lifecycle import duplicate_campaign
from evalsite.accounts.models import User
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_outputs, make_campaign

pytestmark = pytest.mark.django_db

Rows = list[tuple[int, int, int, str, str, int | None, str]]


@pytest.fixture
def mrc(owner: User) -> Campaign:
    """300 outputs of 15 systems: enough for five HITs of 70 ordinary items, the last filled with 50 again."""
    campaign = make_campaign(owner, "mrc-adequacy")
    add_outputs(campaign, n_sources=20)
    return campaign


@pytest.fixture
def qg(owner: User, shared_data: Path) -> Campaign:
    """The questions of 15 systems about 200 passages."""
    campaign = make_campaign(owner, "qg")
    rows = [json.loads(line) for line in (shared_data / "qg-outputs" / "qg.jsonl").read_text().splitlines()]
    names = sorted(rows[0]["outputs"])
    systems = {
        system.name: system
        for system in System.objects.bulk_create(
            System(campaign=campaign, name=name, is_human=name == "human") for name in names
        )
    }
    sources = Source.objects.bulk_create(
        Source(campaign=campaign, name=row["source"], fields={name: row[name] for name in ("passage", "answer")})
        for row in rows
    )
    Output.objects.bulk_create(
        Output(source=source, system=systems[name], text=text)
        for source, row in zip(sources, rows, strict=True)
        for name, text in row["outputs"].items()
    )
    return campaign


def build(campaign: Campaign, on_progress: Callable[[int, int, str], None] = lambda *_: None) -> Campaign:
    """Build the HITs, as the job does, and return the campaign as it is then."""
    execute_build(campaign=campaign, on_progress=on_progress, saving=transaction.atomic)
    campaign.refresh_from_db()
    return campaign


def rows_of(campaign: Campaign) -> Rows:
    """Return the items without keys: what they are, whose, and what is shown."""
    items = HitItem.objects.filter(hit__campaign=campaign).order_by("hit__number", "position")
    return list(
        items.values_list(
            "hit__number", "position", "kind", "output__source__name", "output__system__name", "twin_position", "text"
        )
    )


def hits_of(campaign: Campaign) -> list[list[HitItem]]:
    """Return the items of each HIT by position."""
    items = HitItem.objects.filter(hit__campaign=campaign).select_related("output__system", "output__source")
    by_hit: dict[int, list[HitItem]] = {}
    for item in items.order_by("hit__number", "position"):
        by_hit.setdefault(item.hit_id, []).append(item)
    return list(by_hit.values())


def of_kind(items: list[HitItem], kind: Kind) -> list[HitItem]:
    return [item for item in items if item.kind == kind]


def refused(campaign: Campaign) -> DomainError:
    """Return why the HITs cannot be built."""
    with pytest.raises(DomainError) as caught:
        build(campaign)
    return caught.value


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


def test_the_same_seed_gives_the_same_hits(mrc: Campaign) -> None:
    first = rows_of(build(mrc))

    assert rows_of(build(mrc)) == first


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


def test_building_again_leaves_nothing_of_the_former_hits(mrc: Campaign) -> None:
    build(mrc)
    change_design(
        campaign=mrc,
        changes={"n_ordinary": 20, "n_degraded": 2, "n_repeat": 0, "n_reference": 0, "n_hits": 3, "workers_per_hit": 4},
    )
    build(mrc)

    assert list(mrc.hits.values_list("number", "n_places_left")) == [(1, 4), (2, 4), (3, 4)]
    assert HitItem.objects.count() == 3 * 22


# --- As a job


@pytest.mark.django_db(transaction=True)
def test_the_job_builds_the_hits_and_makes_the_campaign_ready(mrc: Campaign, owner: User) -> None:
    job = build_hits(campaign=mrc, user=owner)
    run_job(job.pk)

    job.refresh_from_db()
    mrc.refresh_from_db()
    assert (job.status, job.error_message) == (Job.Status.SUCCEEDED, "")
    assert job.done == job.total > 0
    assert (mrc.status, mrc.build_job) == (Campaign.Status.READY, job)
    assert mrc.hits.count() == 5


@pytest.mark.django_db(transaction=True)
def test_a_job_that_cannot_build_says_why_and_leaves_the_former_hits(mrc: Campaign, owner: User) -> None:
    first = rows_of(build(mrc))
    source = mrc.sources.get(name="source-00003")
    source.fields["reference"] = ""
    source.save()
    mark_unbuilt(mrc)
    job = build_hits(campaign=mrc, user=owner)
    run_job(job.pk)

    job.refresh_from_db()
    mrc.refresh_from_db()
    assert (job.status, job.error_code) == (Job.Status.FAILED, "no_reference")
    assert "1 of 20 sources" in job.error_message and "source-00003" in job.error_message
    assert mrc.status == Campaign.Status.DRAFT
    assert rows_of(mrc) == first


def test_of_two_clicks_the_second_gets_the_first_ones_job(mrc: Campaign, owner: User) -> None:
    assert build_hits(campaign=mrc, user=owner) == build_hits(campaign=mrc, user=owner)


@pytest.mark.django_db(transaction=True)
def test_the_job_of_a_campaign_that_was_deleted_ends_quietly(mrc: Campaign, owner: User) -> None:
    job = build_hits(campaign=mrc, user=owner)
    Output.objects.all().delete()
    mrc.delete()
    run_job(job.pk)

    job.refresh_from_db()
    assert job.status == Job.Status.SUCCEEDED


def test_progress_is_told_in_stages_that_end(mrc: Campaign) -> None:
    seen: list[tuple[int, int, str]] = []
    build(mrc, lambda *progress: seen.append(progress))

    assert list(dict.fromkeys(stage for *_, stage in seen)) == [
        "Reading the outputs",
        "Degrading texts",
        "Storing the HITs",
    ]
    assert all(done <= total for done, total, _ in seen)


def changing(campaign: Campaign, times: int) -> Callable[[int, int, str], None]:
    """Return a progress function that changes the campaign's design while its texts are being made."""
    left = times

    def on_progress(done: int, total: int, stage: str) -> None:
        nonlocal left
        if stage == "Degrading texts" and done == 0 and left:
            left -= 1
            change_design(campaign=campaign, changes={"n_hits": 10 + left})

    return on_progress


def test_hits_are_of_the_design_that_a_change_left(mrc: Campaign) -> None:
    build(mrc, changing(mrc, times=1))

    assert mrc.status == Campaign.Status.READY
    assert mrc.hits.count() == 10


def test_outputs_that_changed_meanwhile_are_read_again(mrc: Campaign) -> None:
    def on_progress(done: int, total: int, stage: str) -> None:
        if stage == "Degrading texts":
            Output.objects.filter(source__campaign=mrc).update(text="These words are quite other words than before.")

    build(mrc, on_progress)

    shown = HitItem.objects.filter(hit__campaign=mrc, kind=Kind.ORDINARY).values_list("text", flat=True)
    assert set(shown) == {"These words are quite other words than before."}


def test_a_campaign_that_never_stands_still_is_given_up(mrc: Campaign) -> None:
    with pytest.raises(DomainError) as caught:
        build(mrc, changing(mrc, times=99))

    assert caught.value.code == "changing"
    assert not mrc.hits.exists()


def test_a_job_that_runs_again_after_the_launch_changes_nothing(mrc: Campaign) -> None:
    build(mrc)
    keys = set(Hit.objects.values_list("pk", flat=True))
    Campaign.objects.filter(pk=mrc.pk).update(launched_at=mrc.created_at, status=Campaign.Status.RUNNING)
    build(mrc)

    assert set(Hit.objects.values_list("pk", flat=True)) == keys
    assert mrc.status == Campaign.Status.RUNNING


def test_queries_do_not_grow_with_the_campaign(owner: User, django_assert_max_num_queries) -> None:
    def n_queries(n_sources: int) -> int:
        campaign = make_campaign(owner, "qg")
        add_outputs(campaign, n_sources=n_sources)
        with django_assert_max_num_queries(40) as queries:
            build(campaign)
        return len(queries)

    assert n_queries(40) == n_queries(3)


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
    assert preview_totals(campaign).n_sources_left_out == 1


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
