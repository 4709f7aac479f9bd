"""Random forms are sent to every page: no fault, no traceback, and strangers are shown nothing of a campaign.

FUZZ_FORMS says how many forms are sent, FUZZ_SEED which. Values are those of the page's own forms, and others in their
place; each request is undone.
"""

import os
import random
from html.parser import HTMLParser

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from campaigns.models import Campaign
from tests.permission_world import PEOPLE, World
from tests.test_permission_matrix import CASES, url_of, world

__all__ = ["world"]

N_FORMS, SEED = int(os.environ.get("FUZZ_FORMS") or 5000), int(os.environ.get("FUZZ_SEED") or 20)
_OUTSIDERS = ("anonymous", "stranger")
_PAGES = [
    (address, row)
    for address, row, method in CASES
    if method == "POST" and not address.is_operation and row.who not in ("nobody", "nobody-there", "platform")
]
_ODD = (
    *("", " ", "\0", "\U0001f600" * 300, "x" * 20_000, "-1", "0", "1e309", "NaN", "9" * 40, "1,5", "０", "on"),
    *("<script>alert(1)</script>", "{{ 7|add:7 }}", "'; --", "=1+1", "../../etc/passwd", "http://[::1", "{", "[[]]"),
    *("2026-02-30", "25:61", "00000000-0000-0000-0000-000000000000", "a@b", "\u202e", "\r\nSet-Cookie: a=b"),
)


class _Fields(HTMLParser):
    """The names of the fields of a page's forms, with the values that the page offers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in ("input", "textarea", "select", "button") and given.get("name"):
            self.found.setdefault(given["name"], []).append(given.get("value", ""))
            self._select = given["name"] if tag == "select" else ""
        elif tag == "option" and self._select:
            self.found[self._select].append(given.get("value", ""))


def fields_of(client: Client, url: str) -> dict[str, list[str]]:
    """Return what a page's forms ask for; nothing where it cannot be opened."""
    parser = _Fields()
    with transaction.atomic():
        response = client.get(url)
        if response.streaming:
            response.getvalue()
        elif response.get("Content-Type", "").startswith("text/html"):
            parser.feed(response.text)
        transaction.set_rollback(True)
    parser.found.pop("csrfmiddlewaretoken", None)
    return parser.found


def mutated(fields: dict[str, list[str]], rng: random.Random) -> dict[str, object]:
    """Return a form with some fields as they are, some odd, some left out, sent twice or as a file."""
    sent: dict[str, object] = {}
    for name, offered in fields.items():
        fate = rng.random()
        if fate < 0.15:
            continue
        if fate < 0.2:
            sent[name] = SimpleUploadedFile("a.csv", rng.randbytes(rng.choice((0, 10, 3000))))
        elif fate < 0.55:
            sent[name] = rng.choice(_ODD)
        else:
            sent[name] = rng.choices(offered, k=2) if fate > 0.95 else rng.choice(offered)
    for _ in range(rng.randint(0, 2)):
        sent[rng.choice(("position", "next", "id", "answer_1", "pk", "_method"))] = rng.choice(_ODD)
    return sent


@pytest.mark.parametrize("part", range(4))
def test_no_page_fails_and_strangers_see_nothing(world: World, part: int) -> None:
    rng = random.Random(SEED * 10 + part)
    secret = "The campaign that nobody else may see"
    with transaction.atomic():
        Campaign.objects.filter(public_id__in=[each["public_id"] for each in _campaigns(world)]).update(name=secret)
        for _ in range(N_FORMS // 4):
            address, row = rng.choice(_PAGES)
            who, url = rng.choice(PEOPLE), url_of(world, address, row.kind)
            client = world.clients[who]
            form = mutated(fields_of(world.clients["owner"], url), rng)
            with transaction.atomic():
                response = client.post(url, form)
                content = b"" if response.streaming else response.content
                transaction.set_rollback(True)
            about = f"{who} sent {form!r:.1000} to {url}"
            assert response.status_code < 500, f"{response.status_code}: {about}"
            assert b"Traceback" not in content, about
            assert who not in _OUTSIDERS or secret.encode() not in content or row.who in ("anyone", "worker"), about
        transaction.set_rollback(True)


def _campaigns(world: World) -> list[dict[str, object]]:
    return [each for each in world.arguments.values() if "public_id" in each]
