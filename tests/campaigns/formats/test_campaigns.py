"""A campaign in each format with markup: from a file to ratings, and what its pages give away, which is nothing."""

import csv
import io
import re
from dataclasses import replace

import pytest
from django.core.management import call_command
from django.db import transaction

from annotation.models import Response
from campaigns.contracts.format import ContentFormat
from campaigns.design.composition import Kind
from campaigns.formats import get_format
from campaigns.models import Campaign, HitItem
from campaigns.services.hits import execute_build
from evalsite.accounts.models import User
from tests.annotation.cast import launch
from tests.annotation.leaks import Served, Walk, check_fields, check_headers, check_pages, check_work, walk
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import bring_in
from tests.conftest import signed_in

pytestmark = pytest.mark.django_db
FORMATS = ("markdown", "code", "diff", "html", "json")
SYSTEMS = ("alder", "birch", "cedar")
MIX = {"n_ordinary": 6, "n_degraded": 3, "n_repeat": 2}


def texts_in(format: type[ContentFormat]) -> str:
    """Return a table of outputs, each its format's example of a text of its own."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(("source_id", "source", "reference", *SYSTEMS))
    for n in range(8):
        said = (f"So says {system} of river number {n}, which it has seen in year {1900 + n}" for system in SYSTEMS)
        table.writerow((f"s{n}", f"What of river {n}?", f"It is river {n} of all.", *map(format.example, said)))
    return written.getvalue()


def campaign_in(owner: User, format: type[ContentFormat]) -> Campaign:
    """Return a running campaign of one HIT with outputs from a file, degraded ones and repeats."""
    campaign = make_campaign(owner, "da-translation")
    campaign.screen["output_format"] = format.slug
    for name, value in (MIX | {"n_reference": 0, "n_hits": 1, "workers_per_hit": 3, "seed": 1}).items():
        setattr(campaign, name, value)
    campaign.save()
    assert bring_in(signed_in(owner), campaign, texts_in(format)).imported_at
    campaign.refresh_from_db()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    return launch(campaign)


@pytest.mark.parametrize("slug", FORMATS)
def test_a_campaign_from_a_file_to_ratings_gives_nothing_away(owner: User, slug: str) -> None:
    format = get_format(slug)
    campaign = campaign_in(owner, format)
    items = HitItem.objects.filter(hit__campaign=campaign).select_related("output")
    for item in items:
        is_degraded = item.kind == Kind.DEGRADED
        assert (item.text != item.output.text) == is_degraded
        assert format.read(item.text, is_output=True) == item.text
    walks = [walk(campaign, name, n_blocks=0) for name in ("ann", "ben")]
    shown = {each.item.pk: rich_text(each) for each in walks[0].served}
    for item in items:
        assert shown[item.pk] == format.html(item.text)
    plain = [Walk(one.token, [replace(each, html=without_text(each.html)) for each in one.served]) for one in walks]
    check_pages(plain)
    check_fields(plain)
    check_headers(walks)
    check_work(walks)
    assert Response.objects.filter(assignment__campaign=campaign).count() == 2 * sum(MIX.values())

    call_command("simulate", str(campaign.public_id), workers=1, stdout=io.StringIO(), stderr=io.StringIO())
    assert Response.objects.filter(assignment__campaign=campaign).count() == 3 * sum(MIX.values())


def rich_text(served: Served) -> str:
    [found] = re.findall(r'<div class="rich-text" dir="auto">(.*?)</div>\s*</section>', served.html, re.DOTALL)
    return found


def without_text(html: str) -> str:
    return re.sub(r'(<div class="rich-text" dir="auto">).*?(</div>\s*</section>)', r"\1\2", html, flags=re.DOTALL)
