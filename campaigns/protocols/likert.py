"""Scores of a few ordered levels (Likert 1932)."""

from campaigns.contracts.protocol import Protocol, Screen
from campaigns.design.worker_test import NO_TEST


class Likert(Protocol):
    """A worker says on a scale of some levels how good an output is."""

    slug = "likert"
    title = "Likert"
    summary = "Quality on a scale of a few levels."
    criteria = ()
    worker_test = NO_TEST
    screen = Screen()
    method = "ordinal"
    has_campaigns = False
