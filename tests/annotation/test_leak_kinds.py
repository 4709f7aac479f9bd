"""However workers answer, nothing that they are served tells degraded items and repeats from others, nor a system."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.db import transaction

from annotation.views import pages
from campaigns.design.composition import Kind
from campaigns.formats import get_format
from campaigns.models import Campaign, Criterion, HitItem, Output, Source
from campaigns.responses import list_response_kinds
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.annotation.cast import launch
from tests.annotation.leaks import (
    Walk,
    check_bytes,
    check_fields,
    check_headers,
    check_names,
    check_pages,
    check_sizes,
    check_words,
    check_work,
    walk,
)
from tests.campaigns.cast import SYSTEMS, add_outputs, make_campaign

pytestmark = pytest.mark.django_db
N_SEGMENTS = 3
# Enough for the sizes of images to tell kinds apart, if they could.
MIX = {"n_ordinary": 14, "n_degraded": 6, "n_repeat": 4}
FEW = {"n_ordinary": 6, "n_degraded": 3, "n_repeat": 2}


@dataclass(frozen=True)
class Asking:
    """A campaign on whose pages some kinds of response are asked: each with its settings, of each output or the page.

    `is_given`: errors of each output are marked already. `format`: what outputs are.
    """

    kinds: dict[str, dict[str, Any]]
    page_kind: str = "output"
    n_at_once: int = 2
    scope: str = "output"
    mix: dict[str, int] = field(default_factory=lambda: MIX)
    n_systems: int = 6
    is_given: bool = False
    format: str = "text"


ASKING = {
    "answers": Asking({"slider": {}, "scale": {}, "number": {"greatest": "9"}, "choice": {}, "text": {}}),
    "options of the source": Asking({"choice": {"field": "source", "is_several": "yes"}}, mix=FEW),
    "corrections": Asking({"edit": {}}, mix=FEW),
    "marked errors": Asking({"spans": {"source_field": "source"}, "slider": {}}, mix=FEW),
    "documents": Asking({"spans": {"given_field": "given"}, "scale": {}}, "document", mix=FEW, is_given=True),
    "pairs": Asking({"preference": {"may_be_neither": "yes"}}, "comparison", scope="page"),
    "comparisons": Asking({"best_worst": {}, "ranking": {}}, "comparison", 4, scope="page"),
    "steps": Asking({"step": {}, "slider": {}}, mix=FEW, format="conversation"),
    "outputs beside each other": Asking({"number": {"least": "0"}, "slider": {}}, "comparison", 3, mix=FEW),
}


def asking(owner: User, how: Asking) -> Campaign:
    """Return a running campaign whose HITs two workers rate."""
    campaign = make_campaign(owner, "custom")
    n_pages = sum(how.mix.values())
    add_outputs(campaign, n_pages * (N_SEGMENTS if how.page_kind == "document" else 1), SYSTEMS[: how.n_systems])
    for n, source in enumerate(campaign.sources.order_by("name")):
        errors = [{"start": 0, "end": 5, "severity": "minor", "category": "Other"}]
        given = [{"text": output.text, "spans": errors} for output in source.outputs.all()] if how.is_given else []
        place = {"document": f"doc-{n // N_SEGMENTS}", "place": n % N_SEGMENTS + 1}
        fields = source.fields | {"given": json.dumps(given)}
        Source.objects.filter(pk=source.pk).update(**(place if how.page_kind == "document" else {}), fields=fields)
    campaign.screen |= {"output_format": how.format}
    for output in Output.objects.filter(source__campaign=campaign):
        Output.objects.filter(pk=output.pk).update(text=get_format(how.format).example(output.text))
    campaign.criteria.all().delete()
    for order, (kind, settings) in enumerate(how.kinds.items()):
        Criterion.objects.create(
            campaign=campaign, order=order, name=f"own-name-{order}", statement="Look at it.", response=kind,
            settings=settings, scope=how.scope,
        )  # fmt: skip
    for name, value in (FEW | how.mix).items():
        setattr(campaign, name, value)
    campaign.n_reference, campaign.n_hits, campaign.workers_per_hit, campaign.seed = 0, 1, 2, 1
    campaign.page_kind, campaign.outputs_per_page = how.page_kind, how.n_at_once
    campaign.save()
    execute_build(campaign=campaign, on_progress=lambda done, total, stage: None, saving=transaction.atomic)
    return launch(campaign)


def walks_of(campaign: Campaign, *, n_blocks: int) -> list[Walk]:
    """Rate the same HIT as two workers."""
    walks = [walk(campaign, "ann", n_blocks=n_blocks), walk(campaign, "ben", n_blocks=n_blocks)]
    first, second = ([each.item.pk for each in one.served] for one in walks)
    assert first == second, "the same HIT twice"
    return walks


@pytest.mark.parametrize("how", ASKING.values(), ids=ASKING)
def test_leak_nothing_tells_kinds_of_items_apart_however_they_are_answered(owner: User, how: Asking) -> None:
    campaign = asking(owner, how)
    n_shown = how.n_at_once if how.page_kind == "comparison" else 1
    walks = walks_of(campaign, n_blocks=n_shown)
    kinds = [each.kind for each in walks[0].served]
    assert [kinds.count(kind) for kind in (Kind.ORDINARY, Kind.DEGRADED, Kind.REPEAT)] == [*how.mix.values()]
    check_pages(walks)
    check_fields(walks)
    check_headers(walks)
    check_words(walks, campaign)
    check_work(walks)
    if not get_format(how.format).is_drawable:
        return
    if any(kind.marks_text for kind in list_response_kinds() if kind.slug in how.kinds):
        assert not any(each.webp for one in walks for each in one.served), "texts are marked as text"
        return
    check_names(walks, is_source_shared=True)
    check_bytes(walks, is_source_shared=True)
    if how.mix == MIX:
        check_sizes(walks)


@pytest.mark.parametrize("kind", [kind.slug for kind in list_response_kinds()])
def test_leak_every_kind_of_response_is_among_them(kind: str) -> None:
    assert any(kind in how.kinds for how in ASKING.values()), "a new kind of response needs a campaign here"


def _outputs_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call degraded outputs of a comparison otherwise, ever so slightly."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        kinds = [HitItem.objects.get(pk=item.id).kind for item in shown.items]
        outputs = [
            replace(output, label=output.label + " " * (kind == Kind.DEGRADED))
            for output, kind in zip(page.outputs, kinds, strict=True)
        ]
        return replace(page, outputs=outputs)

    monkeypatch.setattr(pages, "make_item_page", leaking)


def _fields_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask less of pages that come again."""
    honest = pages.make_item_page

    def leaking(campaign, shown, following, criteria, **options):
        page = honest(campaign, shown, following, criteria, **options)
        is_repeat = HitItem.objects.get(pk=shown.items[0].id).kind == Kind.REPEAT
        return replace(page, questions=page.questions[is_repeat:])

    monkeypatch.setattr(pages, "make_item_page", leaking)


@pytest.mark.parametrize(("seed", "check"), [(_outputs_by_kind, check_pages), (_fields_by_kind, check_fields)])
def test_leak_seeded_ones_are_noticed_in_comparisons(owner: User, monkeypatch: pytest.MonkeyPatch, seed, check) -> None:
    seed(monkeypatch)
    campaign = asking(owner, replace(ASKING["comparisons"], mix=FEW))
    campaign.criteria.update(is_required=False)
    walks = walks_of(campaign, n_blocks=0)
    with pytest.raises(AssertionError):
        check(walks)
