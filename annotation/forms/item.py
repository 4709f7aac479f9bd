"""What a worker's browser sends of an item."""

from dataclasses import dataclass, field

from django.http import QueryDict

SCORE = "score_"
_DAY_MS = 86_400_000
# The largest value that is believed of each.
TELEMETRY = {
    "shown_ms": _DAY_MS,
    "first_touch_ms": _DAY_MS,
    "n_moves": 10_000,
    "n_focus_lost": 10_000,
    "n_pastes": 10_000,
}


@dataclass(frozen=True)
class SentItem:
    """A position (0 if none was sent), scores by criterion id, what the browser tells. Only numbers are taken.

    `wants_redirect`: the browser would send the form again if its answer were reloaded.
    """

    position: int
    scores: dict[int, int] = field(default_factory=dict)
    telemetry: dict[str, int] = field(default_factory=dict)
    wants_redirect: bool = False


def read_item(sent: QueryDict) -> SentItem:
    """Return what was sent; whether it is all that is needed is for `save_item` to say."""
    pairs = (
        (read_whole(key.removeprefix(SCORE)), read_whole(value)) for key, value in sent.items() if key.startswith(SCORE)
    )
    told = ((name, read_whole(sent.get(name)), most) for name, most in TELEMETRY.items())
    return SentItem(
        read_whole(sent.get("position")) or 0,
        {criterion: score for criterion, score in pairs if criterion is not None and score is not None},
        {name: min(value, most) for name, value, most in told if value is not None},
        bool(sent.get("redirect")),
    )


def read_whole(text: object) -> int | None:
    """Return a number written in at most nine plain digits."""
    if not isinstance(text, str) or len(text) > 9 or not (text.isascii() and text.isdigit()):
        return None
    return int(text)
