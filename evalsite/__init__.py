"""evalsite: human evaluation campaigns of language systems.

As a library it reads responses, analyses them, plans campaigns, and talks to a site; no settings, no database:

    import evalsite as ev

    data = ev.read("ratings.csv")
    result = ev.analyse(data)
    result.findings, result.systems.to_pandas(), result.figure().save("ranking.pdf")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evalsite.lib.checkout import name_apps
from evalsite.lib.version import __version__

if TYPE_CHECKING:
    from evalsite.lib.errors import DomainError
    from evalsite.lib.tables import TableError
    from evalsite.library.analysis import Analysis, analyse
    from evalsite.library.data import Data, read
    from evalsite.library.frames import Drawing, Frame
    from evalsite.library.measures import MetricsAgainstPeople, Reliability, agreement, metrics
    from evalsite.library.planning import Plan, plan
    from evalsite.library.site import ApiError, Site

__all__ = [
    "Analysis",
    "ApiError",
    "Data",
    "DomainError",
    "Drawing",
    "Frame",
    "MetricsAgainstPeople",
    "Plan",
    "Reliability",
    "Site",
    "TableError",
    "__version__",
    "agreement",
    "analyse",
    "metrics",
    "plan",
    "read",
]
name_apps()
# Imported when they are first used: the site imports this package, too, and commands that analyse nothing.
_MODULES = {
    "evalsite.lib.errors": ("DomainError",),
    "evalsite.lib.tables": ("TableError",),
    "evalsite.library.analysis": ("Analysis", "analyse"),
    "evalsite.library.data": ("Data", "read"),
    "evalsite.library.frames": ("Drawing", "Frame"),
    "evalsite.library.measures": ("MetricsAgainstPeople", "Reliability", "agreement", "metrics"),
    "evalsite.library.planning": ("Plan", "plan"),
    "evalsite.library.site": ("ApiError", "Site"),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
