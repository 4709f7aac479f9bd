"""What a worker is called: by the platform's name, or by a hash that does not identify them.

Files have the hash unless an owner asks for names. Pages show names to editors, who pay, exclude and invite.
"""

from collections.abc import Callable

from annotation.models import Worker
from evalsite.lib.kept_keys import WORKER_NAMES, keyed_hash

NameWorker = Callable[[Worker], str]
_HASH_LENGTH = 12


def worker_digits(name: str) -> str:
    """Return digits that do not identify a worker: the same for one name in every file and page of this server, always.

    They are made of the name, not the platform's key, since a file of ratings knows no more.
    """
    return keyed_hash(WORKER_NAMES, name).hexdigest()[:_HASH_LENGTH]


def hashed_name(worker: Worker) -> str:
    """Return a name that does not identify the worker."""
    return f"w-{worker_digits(worker.name)}"


def real_name(worker: Worker) -> str:
    """Return the name by which the platform knows the worker: for owners only."""
    return worker.name
