"""A simulated Amazon Mechanical Turk: its API, the queue of its notifications, and what workers do there."""

from crowd.simulator.mturk.api import MTurkApi
from crowd.simulator.mturk.market import Offer, WorkerRefusedError

__all__ = ["MTurkApi", "Offer", "WorkerRefusedError"]
