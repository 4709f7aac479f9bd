"""A simulated Amazon Mechanical Turk: its API, the queue of its notifications, and what workers do there."""

from simulators.mturk.api import MTurkApi
from simulators.mturk.market import Offer, WorkerRefusedError

__all__ = ["MTurkApi", "Offer", "WorkerRefusedError"]
