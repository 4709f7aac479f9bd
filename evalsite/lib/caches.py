"""A cache of function results that is bounded by bytes, for results or arguments that may be large."""

import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import update_wrapper
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
    """Keep a function's results, those asked for last, of at most `max_bytes` together, for all threads.

    `size_of(result, *args)` counts the bytes of a result and of what it is kept under; one over the bound is not kept.
    Errors are not kept. Arguments are hashable.
    """
    return lambda function: ByteCache(function, max_bytes, size_of)


def size_with_text(result: object, text: str, *rest: object) -> int:
    """Return the bytes of a small result that is kept under a text."""
    return sys.getsizeof(text) + 500
