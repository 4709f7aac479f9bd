"""Whatever files people upload: they are read, or refused with what is wrong and where.

FUZZ_FILES says how many files are read, FUZZ_SEED which.
"""

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from campaigns.dialogues import BadDialoguesError
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from tests.damaged_files import Reader, damaged, readers

N_FILES, SEED = int(os.environ.get("FUZZ_FILES") or 10000), int(os.environ.get("FUZZ_SEED") or 20)
READERS = readers()
MOST_SECONDS = 60
LONGEST_MESSAGE = 50_000


@contextmanager
def ending() -> Iterator[None]:
    """Raise TimeoutError in whatever does not end."""

    def end(signum: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(MOST_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refusal_of(reader: Reader, path: Path) -> DomainError | None:
    """Return why a file is refused, None if it is read; the refusal says what is wrong, and in which file or line."""
    try:
        with ending():
            reader.read(path)
    except DomainError as error:
        error.message.encode()
        assert error.code and error.message and "\0" not in error.message
        assert len(error.message) < LONGEST_MESSAGE
        if isinstance(error, TableError):
            assert error.problems and all(problem.message for problem in error.problems)
        if isinstance(error, BadDialoguesError):
            assert error.problems
        return error
    return None


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_damaged_file_is_read_or_refused_with_a_reason(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / reader.file
    path.write_bytes(reader.content)
    assert refusal_of(reader, path) is None
    n_files = -(-N_FILES // len(READERS))
    refused = set()
    for n in range(n_files):
        path.write_bytes(damaged(reader.content, random.Random(f"{SEED} {reader.name} {n}")))
        try:
            refused.add(refusal_of(reader, path))
        except Exception as error:
            error.add_note(f"{reader.name}, seed {SEED}, file {n}: {path.read_bytes()[:2000]!r}")
            raise
    assert n_files < 50 or len(refused) > 5
