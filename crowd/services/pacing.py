"""Calls to a platform: no faster than it allows, and again after a fault whose effect is not known.

The environment overrides the waits; tests shorten them.
"""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from campaigns.contracts.account import PlatformUnsureError
from evalsite.lib.env import env_int

logger = logging.getLogger(__name__)

T = TypeVar("T")

# How many calls a job makes in a second, at most.
CALLS_PER_S = env_int("CROWD_CALLS_PER_S", 5)
# The first pause after a fault; each further one is twice as long. A platform that asks for more is left in peace.
FIRST_PAUSE_S = env_int("CROWD_BACKOFF_S", 1)
LONGEST_PAUSE_S = 20
TRIES = 5
# A platform that does not answer for so many things in a row does not answer at all for now.
GIVE_UP_AFTER = 3


class Pace:
    """The calls of one job."""

    def __init__(self) -> None:
        self._next_at = 0.0

    def call(self, call: Callable[[], T]) -> T:
        """Return what a call returns, tried again with back-off; raise the PlatformUnsureError of the last try."""
        for n_before in range(TRIES):
            self._wait()
            try:
                return call()
            except PlatformUnsureError as error:
                pause_s = max(FIRST_PAUSE_S * 2**n_before, error.retry_after_s or 0)
                if n_before == TRIES - 1 or pause_s > LONGEST_PAUSE_S:
                    raise
                logger.info("the platform is asked again in %s s: %s", pause_s, error)
                self._next_at = time.monotonic() + pause_s
        raise AssertionError("unreachable")

    def _wait(self) -> None:
        now = time.monotonic()
        time.sleep(max(0.0, self._next_at - now))
        self._next_at = max(self._next_at, now) + 1 / CALLS_PER_S
