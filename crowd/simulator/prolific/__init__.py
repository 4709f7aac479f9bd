"""A simulator of Prolific: its interface, its money, its participants and its notifications."""

from crowd.simulator.prolific.api import ProlificApi
from crowd.simulator.prolific.checks import RefusedError

__all__ = ["ProlificApi", "RefusedError"]
