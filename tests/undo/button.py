"""Pressing *Undo* as a person does, on the page that offers it."""

import re

from django.test import Client

_FORM = re.compile(r'action="(/undo/[0-9a-f-]+/)"')


def offers(client: Client, page: str) -> list[str]:
    """Return the addresses of the buttons of a page, newest first."""
    return _FORM.findall(client.get(page).text)


def press_undo(client: Client, page: str) -> str:
    """Press the newest button of a page; return the page that follows."""
    return client.post(offers(client, page)[0], follow=True).text
