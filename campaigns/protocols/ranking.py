"""Several outputs of a source in order, or the best and the worst of them."""

from campaigns.contracts.protocol import Protocol, Screen
from campaigns.design.worker_test import NO_TEST


class Ranking(Protocol):
    """A worker puts several outputs in order, ties allowed."""

    slug = "ranking"
    title = "Ranking"
    summary = "Several outputs in order, ties allowed."
    criteria = ()
    worker_test = NO_TEST
    screen = Screen()
    method = "ranking"
    has_campaigns = False


class BestWorst(Ranking):
    """A worker says which of several outputs is the best and which the worst."""

    slug = "best-worst"
    title = "Best–worst"
    summary = "The best and the worst of several outputs."
    method = "best_worst"
