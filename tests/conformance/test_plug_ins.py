"""What every plug-in of the site does, by the checks that authors of others run, and which faults these notice."""

from typing import Any

import pytest

from analysis.methods import ResponseMethod, list_response_methods
from campaigns.contracts.format import ContentFormat, Degradation, FileFormat
from campaigns.contracts.protocol import CriterionSpec
from campaigns.contracts.response import ResponseKind, Settings
from campaigns.formats import list_formats
from campaigns.formats.text import PlainText
from campaigns.platforms import platforms
from campaigns.platforms.link.plugin import Link
from campaigns.protocols import list_protocols
from campaigns.protocols.custom import Custom
from campaigns.responses import get_response_kind, list_response_kinds
from campaigns.responses.slider import Slider
from evalsite.conformance import ConformanceError, check
from tests.campaigns.formats.pictures import drawn, file_of
from tests.campaigns.responses.test_kinds import EXAMPLES
from tests.methods.test_by_groups import PROTOCOLS, rows_of

by_slug = {"ids": lambda plugin: plugin.slug}
METHODS = {protocol.method: protocol.slug for protocol in list_protocols() if protocol.slug in PROTOCOLS}


@pytest.mark.parametrize("format", list_formats(), **by_slug)
def test_formats(format: type[ContentFormat]) -> None:
    check(format, files={f"{n}.png": file_of(drawn(n)) for n in range(4)} if issubclass(format, FileFormat) else None)


@pytest.mark.parametrize("kind", list_response_kinds(), **by_slug)
def test_response_kinds(kind: type[ResponseKind]) -> None:
    check(kind, settings=[settings for slug, settings in EXAMPLES if slug == kind.slug])


@pytest.mark.parametrize("platform", list(platforms.all().values()), **by_slug)
def test_platforms(platform: Any) -> None:
    check(platform)


@pytest.mark.parametrize("protocol", list_protocols(), **by_slug)
def test_protocols(protocol: Any) -> None:
    check(protocol)


@pytest.mark.parametrize(
    "method", [m for m in list_response_methods() if m.slug in METHODS and not m.is_study], **by_slug
)
def test_response_methods(method: ResponseMethod[Any]) -> None:
    """Studies of direct assessment need criteria and a worker test: `tests/analysis` has theirs."""
    check(type(method), rows=list(rows_of(METHODS[method.slug])))


class Shouting(PlainText):
    slug = "shouting"

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        return f"{text.upper()}!"


class Scripted(PlainText):
    slug = "scripted"

    @classmethod
    def html(cls, text: str) -> str:
        return f"<p onclick='go()'>{text}</p>"


class Unchanged(PlainText):
    slug = "unchanged"

    @classmethod
    def degrade(cls, value: str, by: Degradation) -> str:
        return value


class Unnumbered(PlainText):
    slug = "unnumbered"
    turn = "Line"

    @classmethod
    def turns(cls, value: str) -> list[str]:
        return value.splitlines()


class Raising(PlainText):
    slug = "raising"

    @classmethod
    def read(cls, text: str, *, is_output: bool) -> str:
        return text if "=" not in text else str(int(text))


class Partial(FileFormat):
    slug, title, summary, widths = "partial", "Partial", "A file of which not all is said.", (240,)


class Upside(Slider):
    slug = "upside"

    @classmethod
    def score(cls, value: Any, settings: Settings) -> float:
        return 100 - value


class Framed(Link):
    slug = "framed"
    frame_ancestors = ("http://crowd.example",)


class Telling(Custom):
    slug = "telling"
    instructions = "Some of these texts are repeated. Find them."


class Unread(Custom):
    slug = "unread"
    criteria = (CriterionSpec("note", "Why?", response="text"),)


@pytest.mark.parametrize(
    ("plugin", "fault"),
    [
        (Shouting, "is read as something else"),
        (Scripted, "an event handler"),
        (Unchanged, "is the original"),
        (Unnumbered, "Number one of each, from 1"),
        (Raising, "Raise a DomainError instead"),
        (Partial, "it has no attached, file_html"),
        (Upside, "levels 0 and 100 score"),
        (Framed, "begin with https"),
        (Telling, "a hint at checks"),
        (Unread, "reads none of its criteria"),
    ],
)
def test_a_fault_is_noticed(plugin: type[Any], fault: str) -> None:
    with pytest.raises(ConformanceError, match=fault):
        check(plugin)


def test_what_is_no_plug_in_is_said() -> None:
    with pytest.raises(TypeError, match="must be a class that extends one of"):
        check(get_response_kind)  # type: ignore[arg-type]
