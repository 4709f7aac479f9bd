"""What a process does with memory that it no longer needs."""

import ctypes
import gc

# Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_KEPT_BYTES, _LARGE_BYTES = 16 * 2**20, 4 * 2**20


def keep_freed_memory() -> bool:
    """Keep up to 16 MiB of freed memory for the next request, in pieces of less than 4 MiB; return whether it is done.

    glibc gives so much back at once: encoding an image asks the system for 400 pages anew, which takes a third of the
    time. Other C libraries have no such setting.
    """
    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no such function; Windows has no CDLL of the process
        return False
    return bool(set_option(_TRIM_THRESHOLD, _KEPT_BYTES) and set_option(_MMAP_THRESHOLD, _LARGE_BYTES))


def collect_seldom() -> None:
    """Look for garbage that refers to itself a hundred times less often than Python does by itself.

    Nearly all that a process imports stays. To look through all of it takes up to half a second, and Python does so
    whenever a request has read a large report.
    """
    gc.set_threshold(50_000, 20, 20)


def keep_for_good() -> None:
    """Leave all that there is now out of later searches for garbage: what was imported stays as long as the process."""
    gc.collect()
    gc.freeze()
