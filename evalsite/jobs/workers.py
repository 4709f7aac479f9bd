"""What a worker of its own process says of itself."""

from functools import partial

from evalsite.jobs.services import record_heartbeat
from evalsite.jobs.ticker import Ticker
from evalsite.jobs.timing import HEARTBEAT_S


def start_heartbeat(name: str) -> None:
    """Say that this worker lives, until its process ends."""
    Ticker("job worker heartbeat", HEARTBEAT_S, partial(record_heartbeat, name)).start()
