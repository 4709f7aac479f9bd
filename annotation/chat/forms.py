"""What a worker's browser sends of a chat."""

from dataclasses import dataclass, field

from django.http import QueryDict

from annotation.forms.item import read_whole

# The largest value that is believed of each.
TELEMETRY = {"typed_ms": 86_400_000, "n_pastes": 10_000, "n_pasted_chars": 1_000_000, "n_focus_lost": 10_000}


@dataclass(frozen=True)
class SentInput:
    """What a worker says. Numbers that were not sent are 0."""

    position: int
    number: int
    text: str
    telemetry: dict[str, int] = field(default_factory=dict)


def read_input(sent: QueryDict) -> SentInput:
    """Return what was sent; whether it can be kept is for `keep_input` to say."""
    told = ((name, read_whole(sent.get(name)), most) for name, most in TELEMETRY.items())
    return SentInput(
        position=read_position(sent),
        number=read_whole(sent.get("number")) or 0,
        text=sent.get("text", ""),
        telemetry={name: min(value, most) for name, value, most in told if value is not None},
    )


def read_position(sent: QueryDict) -> int:
    """Return the position of the item that a form is about; 0 if it names none."""
    return read_whole(sent.get("position")) or 0
