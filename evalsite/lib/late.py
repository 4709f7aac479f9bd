"""Modules that are imported when one of their functions is called: commands read the addresses of all pages and the
models, and most show no page and read no result.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from evalsite.lib.plugins import place_of

_all: list["LateFunction"] = []


class LateModule:
    """The functions and classes of the module called `name` (dotted, as in a checkout), as its attributes."""

    def __init__(self, name: str) -> None:
        self._place = place_of(name)

    def __getattr__(self, name: str) -> "LateFunction":
        found = LateFunction(self._place, name)
        self.__dict__[name] = found  # asked once, however often it is called
        return found


class LateFunction:
    """A function of a module, such as a view; `make` makes it of what the module has under this name.

    What Django asks a view beside a response, such as whether it is exempt from CSRF, imports it, too.
    """

    def __init__(self, module: str, name: str, make: Callable[[Any], Any] = lambda found: found) -> None:
        self.__module__, self.__name__, self.__qualname__ = module, name, name
        self._make = make
        self._function: Any = None
        _all.append(self)

    def made_by(self, make: Callable[[Any], Any]) -> "LateFunction":
        """Return what `make` makes of this function or class."""
        return LateFunction(self.__module__, self.__name__, make)

    def imported(self) -> Any:
        """Return the function; raise ImportError or AttributeError if there is none."""
        if self._function is None:
            self._function = self._make(getattr(import_module(self.__module__), self.__name__))
        return self._function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the function returns."""
        return self.imported()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "view_class":  # Django asks it of each view, when it first makes an address of a name
            raise AttributeError(name)
        return getattr(self.imported(), name)


def import_all() -> None:
    """Import every module that was named: for a process that answers requests, and for what they register."""
    for function in list(_all):
        function.imported()
