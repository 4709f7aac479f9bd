"""Libraries that are large and rarely needed: extras of the package, named in a sentence where one is missing."""

from importlib.util import find_spec
from typing import Literal

Extra = Literal["mturk", "s3"]
_LIBRARIES: dict[Extra, tuple[str, ...]] = {"mturk": ("botocore",), "s3": ("boto3", "storages")}


def missing(extra: Extra, what: str) -> str:
    """Return a sentence that says what to install before `what` works; "" if nothing is missing."""
    lacking = next((name for name in _LIBRARIES[extra] if find_spec(name) is None), None)
    return needs_library(what, lacking, extra) if lacking else ""


def needs_library(what: str, library: str, extra: str) -> str:
    """Return that `what` needs a library which is not installed, and who can install it how.

    >>> needs_library("Mechanical Turk", "botocore", "mturk").partition(". ")[2]
    "An administrator can install it: pip install 'evalsite[mturk]'."
    """
    return (
        f"{what} needs the library {library}, which is not installed here. An administrator can install it: "
        f"pip install 'evalsite[{extra}]'."
    )
