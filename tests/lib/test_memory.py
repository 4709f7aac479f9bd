"""Freed memory is kept for the next request, where the C library can."""

import platform
import subprocess
import sys
from unittest.mock import patch

import pytest

from evalsite.lib import memory

_FAULTS = """
import resource, sys
from evalsite.lib.memory import keep_freed_memory
if sys.argv[1] == "keeps":
    assert keep_freed_memory()
allocate = lambda: [bytes(100_000) for _ in range(20)]
allocate()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    allocate()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages_asked_for(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_memory_is_asked_for_once() -> None:
    assert pages_asked_for("keeps") < 500 < 5_000 < pages_asked_for("gives back")


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_other_c_libraries_are_left_as_they_are(error: type[Exception]) -> None:
    with patch.object(memory.ctypes, "CDLL", side_effect=error):
        assert not memory.keep_freed_memory()
