"""Which of two outputs is better: votes between two systems."""

from campaigns.contracts.protocol import Protocol, Screen
from campaigns.design.worker_test import NO_TEST


class Preference(Protocol):
    """A worker sees the outputs of two systems and says which one is better."""

    slug = "preference"
    title = "Preference"
    summary = "Which of two outputs is better?"
    criteria = ()
    worker_test = NO_TEST
    screen = Screen()
    method = "preference"
    has_campaigns = False
