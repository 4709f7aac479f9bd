"""Caches that are bounded by what they hold: of function results, by bytes, and of what is made of files."""

import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from functools import update_wrapper
from pathlib import Path
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class ByteCache(Generic[P, R]):
    """What `byte_cache` makes of a function. `n_bytes` is what it holds now, as `size_of` counts it."""

    def __init__(self, function: Callable[P, R], max_bytes: int, size_of: Callable[..., int]) -> None:
        self._function, self._max_bytes, self._size_of = function, max_bytes, size_of
        self._kept: OrderedDict[Any, tuple[R, int]] = OrderedDict()
        self._lock = Lock()
        self.n_bytes = 0
        update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the function's result, kept or new. Two threads that ask at once may both compute it."""
        key = (args, tuple(sorted(kwargs.items())))
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        result = self._function(*args, **kwargs)
        n_bytes = self._size_of(result, *args)
        with self._lock:
            if key not in self._kept and n_bytes <= self._max_bytes:
                self._kept[key] = (result, n_bytes)
                self.n_bytes += n_bytes
                while self.n_bytes > self._max_bytes:
                    self.n_bytes -= self._kept.popitem(last=False)[1][1]
        return result

    def cache_clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.n_bytes = 0


def byte_cache(max_bytes: int, size_of: Callable[..., int]) -> Callable[[Callable[P, R]], ByteCache[P, R]]:
    """Keep a function's results, those used last, of at most `max_bytes` together, for all threads.

    `size_of(result, *args)` counts the bytes of a result and of what it is kept under; one over the bound is not kept.
    Errors are not kept. Arguments are hashable.
    """
    return lambda function: ByteCache(function, max_bytes, size_of)


def size_with_text(result: object, text: str, *rest: object) -> int:
    """Return the bytes of a small result that is kept under a text."""
    return sys.getsizeof(text) + 500


# Path, time of the last change, size.
_FileKey = tuple[str, int, int]


class FileCache(Generic[R]):
    """Makes something of a file and keeps it for the files that were used last, until they change.

    It keeps the last one, and as many before it as are no larger than `max_size` together, by `size_of`. Threads that
    ask for the same file at once wait for one of them. What `make` raises is raised each time.
    """

    def __init__(self, make: Callable[[Path], R], *, size_of: Callable[[R], int], max_size: int) -> None:
        self._make, self._size_of, self._max_size = make, size_of, max_size
        self._kept: OrderedDict[_FileKey, R] = OrderedDict()
        self._lock, self._making = Lock(), defaultdict[_FileKey, Lock](Lock)

    def __call__(self, path: Path) -> R:
        """Return what was made of the file as it is now; raise OSError, and what making it raises."""
        about = path.stat()
        key = (str(path), about.st_mtime_ns, about.st_size)
        if (kept := self._find(key)) is not None:
            return kept
        with self._lock:
            making = self._making[key]
        with making:
            try:
                if (kept := self._find(key)) is None:
                    kept = self._make(path)
                    self._keep(key, kept)
                return kept
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def _keep(self, key: _FileKey, made: R) -> None:
        with self._lock:
            for old in [old for old in self._kept if old[0] == key[0]]:
                del self._kept[old]
            self._kept[key] = made
            size = sum(map(self._size_of, self._kept.values()))
            while size > self._max_size and len(self._kept) > 1:
                size -= self._size_of(self._kept.popitem(last=False)[1])

    def _find(self, key: _FileKey) -> R | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)
