"""The images of worker pages: who may have them, what they are called, how they fit the page."""

import io
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from PIL import Image

import annotation.queries
from annotation.access.tokens import token_of
from annotation.export.rows import ASSIGNMENT_COLUMNS, iter_assignments
from annotation.images import DARK, LIGHT, layout
from annotation.models import Assignment, Event, Response
from annotation.pages import text_images
from annotation.pages.text_images import VARIANTS, WIDTHS, Part, blocks_with_parts, draw, sizes_of, stems_in
from annotation.queries import ShownItem, get_current_page
from annotation.services.assignments import return_assignment, start_assignment
from campaigns.blocks import Block
from campaigns.contracts.protocol import Screen
from campaigns.models import Campaign
from evalsite.accounts.models import User
from tests.annotation.open_campaigns import open_campaign, rate_items

NAME = re.compile(r"([0-9a-f]{24}[a-z])\.img")


def _start(campaign: Campaign, name: str = "ann") -> Assignment:
    return start_assignment(campaign=campaign, worker_key=f"{campaign.public_id}:{name}")


def _hit_url(assignment: Assignment) -> str:
    return reverse("rate:hit", args=[token_of(assignment)])


def _names(client: Client, assignment: Assignment) -> list[str]:
    return list(dict.fromkeys(NAME.findall(client.get(_hit_url(assignment)).text)))


@pytest.mark.django_db
def test_every_image_of_a_page_is_there_and_as_large_as_the_page_says(owner: User, client: Client) -> None:
    assignment = _start(open_campaign(owner))
    html = client.get(_hit_url(assignment)).text
    sizes = re.findall(r'srcset="([^"]+)" sizes="[^"]+" width="(\d+)" height="(\d+)"', html)
    assert len(sizes) == 2 * 3 * len(WIDTHS) * 2, "this item and the next, three blocks each, in two themes"
    for files, width, height in sizes:
        for factor, file in enumerate(files.split(", "), start=1):
            name, drawn_width = file.split()
            response = client.get(_hit_url(assignment) + name)
            assert (response.status_code, response["Content-Type"]) == (200, ("image/png", "image/webp")[factor - 1])
            assert drawn_width == f"{int(width) * factor}w"
            assert Image.open(io.BytesIO(response.content)).size == (int(width) * factor, int(height) * factor)


@pytest.mark.django_db
def test_only_images_of_the_last_this_and_the_next_item_are_served(owner: User, client: Client) -> None:
    assignment = _start(open_campaign(owner, size=6))
    seen = []
    for _ in range(6):
        seen.append(_names(client, assignment))
        assignment = rate_items(assignment, 1)
    rest = client.get
    statuses = [rest(f"{_hit_url(assignment)}{names[0]}.img").status_code for names in seen]
    assert statuses == [404, 404, 404, 404, 404, 200], "seven comes next: only the sixth is near"


@pytest.mark.django_db
def test_names_of_another_assignment_lead_nowhere(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, workers_per_hit=2)
    ann, ben = _start(campaign), _start(campaign, "ben")
    assert not set(_names(client, ann)) & set(_names(client, ben))
    name = _names(client, ann)[0]
    assert client.get(f"{_hit_url(ann)}{name}.img").status_code == 200
    assert client.get(f"{_hit_url(ben)}{name}.img").status_code == 404
    for wrong in (name[:-1], f"{name[:-1]}z", name[1:], name.upper(), "x"):
        assert client.get(f"{_hit_url(ann)}{wrong}.img").status_code == 404


@pytest.mark.django_db
def test_a_source_shared_by_a_whole_hit_is_loaded_once(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, layout="by-source")
    assignment = _start(campaign)
    first = _names(client, assignment)
    second = _names(client, rate_items(assignment, 1))
    assert set(first) & set(second)
    pooled = _start(open_campaign(owner))
    before, after = set(_names(client, pooled)), set(_names(client, rate_items(pooled, 1)))
    ahead = {name for name in before if name in after}
    assert len(ahead) == len(after) / 2, "those that were loaded ahead, and no others"


@pytest.mark.django_db
def test_accessible_mode_has_real_text_and_no_images(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, is_accessible=True)
    campaign.screen["fields"][1]["marks"] = "question"
    campaign.save()
    source = campaign.sources.first()
    source.fields = {"question": "<b> & co", "reference": "see <b> & co, there"}
    source.save()
    page = client.get(_hit_url(_start(campaign))).text
    assert "<img" not in page
    assert "see <mark>&lt;b&gt; &amp; co</mark>, there" in page
    assert 'dir="auto"' in page


@pytest.mark.django_db
def test_what_assignments_began_with_is_kept(owner: User, client: Client) -> None:
    """Accessible mode is recorded with the data, so a later change of the setting changes no assignment."""
    campaign = open_campaign(owner)
    assignment = _start(campaign)
    campaign.is_accessible = True
    campaign.save()
    assert "<img" in client.get(_hit_url(assignment)).text


# --- Text that a worker chooses


def _choose_text(client: Client, assignment: Assignment) -> HttpResponse:
    return client.post(reverse("rate:text", args=[token_of(assignment)]), {"text": "1"})


@pytest.mark.django_db
def test_a_worker_chooses_text_for_the_rest_of_the_hit(owner: User, client: Client) -> None:
    campaign = open_campaign(owner, n_hits=1, workers_per_hit=2, offers_text=True)
    ann, ben = rate_items(_start(campaign), 1), _start(campaign, "ben")
    name = _names(client, ann)[0]
    assert "Show texts as text" in client.get(_hit_url(ann)).text
    for _ in range(2):
        answer = _choose_text(client, ann)
        assert (answer.status_code, answer["Location"]) == (303, _hit_url(ann))
    for _ in range(2):
        page = client.get(_hit_url(ann)).text
        assert "<img" not in page
        assert "Show texts as text" not in page
        ann = rate_items(ann, 1)
    assert client.get(f"{_hit_url(ann)}{name}.img").status_code == 404
    assert "<img" in client.get(_hit_url(ben)).text, "of this worker alone"
    chosen = Event.objects.get(kind=Event.Kind.TEXT)
    assert (chosen.assignment, Response.objects.filter(rated_at__lt=chosen.at).count()) == (ann, 1)
    accessible = ASSIGNMENT_COLUMNS.index("accessible")
    assert [row[accessible] for row in iter_assignments(campaign)] == [True, False]


@pytest.mark.django_db
def test_text_is_refused_where_the_campaign_does_not_offer_it(owner: User, client: Client) -> None:
    assignment = _start(open_campaign(owner))
    answer = _choose_text(client, assignment)
    assert answer.status_code == 409
    assert "can only be shown as images" in answer.text
    for page in (answer.text, client.get(_hit_url(assignment)).text):
        assert "<img" in page
        assert "Show texts as text" not in page
    assert not Assignment.objects.filter(is_accessible=True).exists()


@pytest.mark.django_db
def test_who_has_returned_the_hit_changes_nothing(owner: User, client: Client) -> None:
    assignment = _start(open_campaign(owner, offers_text=True))
    return_assignment(assignment_id=assignment.pk)
    assert _choose_text(client, assignment)["Location"] == _hit_url(assignment)
    assert not Assignment.objects.filter(is_accessible=True).exists()


@pytest.mark.django_db
def test_opened_by_itself_the_address_leads_to_the_item(owner: User, client: Client) -> None:
    assignment = _start(open_campaign(owner, offers_text=True))
    assert client.get(_hit_url(assignment) + "text/")["Location"] == _hit_url(assignment)
    assert not Assignment.objects.filter(is_accessible=True).exists()


@pytest.mark.django_db
def test_the_preview_shows_what_the_link_does(owner: User, owner_client: Client) -> None:
    campaign = open_campaign(owner, offers_text=True)
    item = reverse("monitoring:preview_item", args=[campaign.public_id, 1, 1])
    as_images, as_text = owner_client.get(item).text, owner_client.get(f"{item}?text=1").text
    assert ("<img" in as_images, "Show texts as text" in as_images) == (True, True)
    assert ("<img" in as_text, "Show texts as text" in as_text) == (False, False)


def test_colours_are_those_of_the_page() -> None:
    css = (Path(settings.BASE_DIR) / "static/css/tokens.css").read_text()
    for tokens, theme in zip(css.split("@media not print")[:2], (LIGHT, DARK), strict=True):
        colours = dict(re.findall(r"--(surface|ink|mark): (#[0-9a-f]{6});", tokens))
        assert colours == {"surface": theme.background, "ink": theme.text, "mark": theme.highlight}


def test_every_variant_has_a_letter() -> None:
    assert len(VARIANTS) == len(WIDTHS) * 2 * 2 * 2


def test_wide_lines_break_alike_and_no_part_is_too_tall_for_them() -> None:
    text = "\n".join(f"Line {n} of a long document, long enough for two lines on a phone." for n in range(400))
    parts = text_images._split(Block("document", "Document", text), "item 1 document")
    for part in (parts[0], Part("item 1 output", "Where was the treaty signed?")):
        usual, wide = (Image.open(io.BytesIO(draw(part, VARIANTS[letter])[0])) for letter in ("m", "M"))
        assert wide.width == usual.width
        n_lines, rest = divmod(usual.height - 12, 27)
        assert (rest, wide.height) == (0, n_lines * 36 + 12)


def test_another_secret_is_another_file_of_the_same_look() -> None:
    variant = VARIANTS["a"]
    part = Part("item 1 output", "Where was the treaty signed?", ((4, 7),))
    one, other, again = (draw(part, variant, secret=secret)[0] for secret in ("1", "2", "1"))
    assert one == again
    assert one != other
    assert Image.open(io.BytesIO(one)).size == Image.open(io.BytesIO(other)).size


def test_a_text_too_tall_for_an_image_becomes_several() -> None:
    text = "\n".join(f"Line {n} of a long document." for n in range(1000))
    end = len(text)
    block = Block("document", "Document", text, ((0, 4), (end // 2 - 40, end // 2 + 40), (end - 3, end)))
    parts = text_images._split(block, "item 1 document")
    assert len(parts) > 1
    assert "".join(part.text for part in parts) == text
    assert len({part.key for part in parts}) == len(parts)
    marked = "".join(part.text[first:last] for part in parts for first, last in part.highlights)
    assert marked == "".join(text[first:last] for first, last in block.highlights)
    for part in parts:
        sizes_of(part)


@hypothesis_settings(max_examples=25)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60), st.integers(1, 400))
def test_no_text_is_lost_in_parts(text: str, times: int) -> None:
    whole = f"{text}\n" * times
    parts = text_images._split(Block("text", "Text", whole), "key")
    assert "".join(part.text for part in parts) == whole


@pytest.mark.django_db
def test_a_text_of_an_older_import_that_is_too_long_to_draw_is_shown_as_text(owner: User, client: Client) -> None:
    campaign = open_campaign(owner)
    campaign.sources.update(fields={"question": "Which?", "reference": "word " * 400_000})
    assignment = _start(campaign)

    page = client.get(_hit_url(assignment))

    assert page.status_code == 200
    assert page.text.count("word word") >= 100_000
    names = _names(client, assignment)
    assert len(names) == 2 * len(VARIANTS), "the question and the answer, of this item and of the next"
    assert client.get(f"{_hit_url(assignment)}{names[0]}.img").status_code == 200
    assert rate_items(assignment, 1).position == assignment.position + 1


def test_no_part_of_a_long_text_is_measured_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    measure = text_images.measure
    monkeypatch.setattr(
        text_images, "measure", lambda text, **more: measured.append(len(text)) or measure(text, **more)
    )
    text = "Long documents have many words. " * 1500
    parts = text_images._split(Block("text", "Text", text), "key")
    assert "".join(part.text for part in parts) == text
    assert max(measured) <= 20_000


def test_caches_of_texts_are_bounded_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    caches = (
        *(text_images._sizes, text_images._stretches, text_images._blocks),
        *(layout._prepare, annotation.queries._frozen_pages),
    )
    assert [cache._max_bytes / 2**20 for cache in caches] == [8, 8, 16, 32, 64]
    for cache in caches:
        cache.cache_clear()
        monkeypatch.setattr(cache, "_max_bytes", cache._max_bytes // 16)  # sooner full
    for number in range(60):
        item = ShownItem(number, 1, f"{number} " * 250, None, {})
        text_images._blocks(item, Screen(), is_shared=False, is_text=False)
    assert all(cache.n_bytes <= cache._max_bytes for cache in caches)
    assert layout._prepare.n_bytes > 20 / 16 * 2**20


def test_a_text_that_comes_back_is_set_and_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the page and the image of a repeat would be there sooner than others'."""
    prepared: list[str] = []
    prepare = layout._prepare
    monkeypatch.setattr(prepare, "_function", lambda *args: prepared.append(args[-1]) or prepare.__wrapped__(*args))
    block = Block("output", "Question", "Which treaty ended the war that nobody remembers?")
    for place in ("item 3 output", "item 17 output"):
        for part in text_images._split(block, place):
            sizes_of(part)
            draw(part, VARIANTS["a"], secret=place)
    assert prepared == ["item 3 output", "item 17 output"], "once each"


def test_what_is_kept_of_an_item_is_for_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the page of a repeat would be there sooner than others'."""
    made: list[str] = []
    kept, place = text_images._blocks, {"screen": Screen(), "is_shared": False, "is_text": True}
    monkeypatch.setattr(kept, "_function", lambda item, **more: made.append(item.id) or kept.__wrapped__(item, **more))
    twins = [ShownItem(number, 3, "Which treaty ended the war?", None, {}) for number in (1, 2)]
    for item in twins * 2:
        kept(item, **place)
    assert made == [1, 2]


@pytest.mark.django_db
def test_blocks_in_the_order_of_the_screen(owner: User) -> None:
    assignment = _start(open_campaign(owner))
    page = get_current_page(assignment).page
    assert page is not None
    found = blocks_with_parts(assignment.campaign, page.items[0])
    assert [block.label for block, _ in found] == ["Question", "Answer A", "Answer B"]
    assert [block.is_output for block, _ in found] == [False, False, True]
    stems = [stems_in(assignment)(part) for _, parts in found for part in parts]
    assert len(set(stems)) == 3
