"""What every response kind does: it keeps answers, scores them, and can be simulated and described."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from campaigns.contracts.response import BadAnswerError, ResponseKind, Subject
from evalsite.conformance.faults import HOSTILE, check_names, refused, require

_LEVELS = (0, 25, 50, 75, 100)
_N_TURNS = 6


def check_response(kind: type[ResponseKind], *, settings: Sequence[Mapping[str, Any]] = ({},)) -> None:
    """Raise ConformanceError if a response kind does not do what `ResponseKind` promises, by each of some settings."""
    check_names(kind, "title", "summary", "ask", "template", "instrument", "elicitation")
    for name in ("instrument", "elicitation"):
        is_answer = getattr(kind, name)[0].isdigit()
        require(is_answer, kind, f"“{name}” answers a question of HEDS: begin with the number of the answer.")
    for each in settings:
        given = {**kind.options.defaults(), **each}
        kind.check(given)
        _check_clean(kind, given)
        _check_simulated(kind, given)
        _check_words(kind, given)


def subject_of(kind: type[ResponseKind]) -> Subject:
    """Return as many outputs as a kind compares at least, or one of some replies."""
    return Subject(("a text",) * (kind.compares[0] if kind.compares else 1), n_turns=_N_TURNS)


def _check_clean(kind: type[ResponseKind], settings: Mapping[str, Any]) -> None:
    subject = subject_of(kind)
    for nothing in ([], [""]):
        value = kind.clean(nothing, settings, subject)
        require(value is None, kind, f"clean({nothing}) is {value!r}: nothing was sent, so return None.")
    for text in HOSTILE:
        for sent in ([text], [text, text]):
            error = refused(kind, f"clean({sent})", lambda sent=sent: kind.clean(sent, settings, subject))  # type: ignore[misc]
            require(
                error is None or isinstance(error, BadAnswerError), kind, f"clean({sent}) raises no BadAnswerError."
            )


def _check_simulated(kind: type[ResponseKind], settings: Mapping[str, Any]) -> None:
    """Check that simulated answers can be kept, and that more is never worth less."""
    subject, scores = subject_of(kind), []
    for level in _LEVELS:
        sent = kind.simulate([level] * len(subject.outputs), settings, np.random.default_rng(level), subject)
        value = kind.clean(sent, settings, subject)
        require(value is not None, kind, f"clean() keeps nothing of what simulate() sends at level {level}: {sent}.")
        again = kind.clean(kind.sent(value), settings, subject)
        require(again == value, kind, f"what sent() makes of {value!r} is cleaned to {again!r}.")
        scores.append(kind.score(value, settings))
    bounds = kind.bounds(settings)
    numbers = [score for score in scores if score is not None]
    if len(numbers) < len(scores):
        require(bounds is None, kind, "its values have no score, so bounds() is None.")
    elif bounds:
        low, high = bounds
        require(all(low <= score <= high for score in numbers), kind, f"scores {numbers} are not within {bounds}.")
        require((numbers[0], numbers[-1]) == bounds, kind, f"levels 0 and 100 score {numbers}, not {bounds}.")


def _check_words(kind: type[ResponseKind], settings: Mapping[str, Any]) -> None:
    n_values, values = kind.values(settings)
    require(all((kind.describe(settings), n_values, values)), kind, "papers need describe() and values().")
    has_ends, has_bounds = kind.ends(settings) is not None, kind.bounds(settings) is not None
    require(has_bounds or not has_ends, kind, "it names ends(), and bounds() says that there are none.")
