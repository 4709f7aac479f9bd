"""A simulator of Prolific: its interface, its money, its participants and its notifications."""

from simulators.prolific.api import ProlificApi
from simulators.prolific.checks import RefusedError
from simulators.prolific.workspaces import WORKSPACE

__all__ = ["WORKSPACE", "ProlificApi", "RefusedError"]
