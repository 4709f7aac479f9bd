"""What is said of an act while it is done. The audit log is written after it, from the request and from these notes."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from evalsite.lib.context import current_work

_META = "evalsite.act"


@dataclass
class Notes:
    """What a view adds to what the request says.

    Attributes
    ----------
    about : str
        Whom or what the act is about, as people know it: an address, a name of a file. No secret.
    user : User or None
        Who acts, where the request cannot say: the owner of a link to choose a password.
    campaign : UUID or None
        The campaign, where it is not part of the address.
    fields : list of str
        Names of what was sent.
    is_refused : bool
        Nothing was done, although the answer leads back to a page.
    is_act : bool
        A request that only reads is one nevertheless: it takes out workers' own ids.
    """

    about: str = ""
    user: Any = None
    campaign: UUID | None = None
    fields: list[str] = field(default_factory=list)
    is_refused: bool = False
    is_act: bool = False


def note_act(**notes: Any) -> None:
    """Add to the notes of the request that this thread answers; outside of one, do nothing."""
    if request := current_work().request:
        known = notes_of(request)
        for name, value in notes.items():
            setattr(known, name, value)


def note_refusal() -> None:
    """Note that nothing was done, where the answer is not a status that says so."""
    note_act(is_refused=True)


def notes_of(request: HttpRequest) -> Notes:
    """Return the notes of a request."""
    found: Notes = request.META.setdefault(_META, Notes())
    return found
