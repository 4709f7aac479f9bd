"""What components/side_bar.html draws: the pages of one thing in groups, and how far it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Link:
    """A page in a side bar; `parts` are the pages that it consists of, shown while one of them is open."""

    title: str
    url: str
    is_current: bool = False
    parts: Sequence["Link"] = ()

    @property
    def is_open(self) -> bool:
        """Whether this page, or a part of it, is the one that shows."""
        return self.is_current or any(part.is_current for part in self.parts)


@dataclass(frozen=True)
class LinkGroup:
    """Pages under one title; the first group of a side bar may have none."""

    title: str
    links: Sequence[Link]


@dataclass(frozen=True)
class Stage:
    """One of the stages that a thing goes through."""

    title: str
    state: Literal["past", "now", "later"]


@dataclass(frozen=True)
class SideBar:
    """The pages of one thing; `label` says what it is, `title` which one, and `url` is its first page."""

    label: str
    title: str
    url: str
    groups: Sequence[LinkGroup]
    stages: Sequence[Stage] = ()

    @property
    def page(self) -> Link | None:
        """The page that shows, or that the one that shows belongs to."""
        return next((link for link in self.links if link.is_current), None)

    @property
    def stage(self) -> str:
        """The title of the present stage, "" without stages."""
        return next((stage.title for stage in self.stages if stage.state == "now"), "")

    @property
    def links(self) -> Iterator[Link]:
        """All pages and their parts."""
        for group in self.groups:
            for link in group.links:
                yield from link.parts
                yield link
