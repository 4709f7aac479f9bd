"""A simulator of Prolific: its interface, its money, its participants and its notifications."""

from crowd.simulator.prolific.api import ProlificApi
from crowd.simulator.prolific.checks import RefusedError
from crowd.simulator.prolific.workspaces import WORKSPACE

__all__ = ["WORKSPACE", "ProlificApi", "RefusedError"]
