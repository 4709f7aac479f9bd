"""What components/side_bar.html draws: the pages of one thing in groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


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
    """Pages under one title; the first group of a side bar may have none.

    `state`: how far what they are about is, in a few words. A group that is not open is one line: its title and state,
    which leads to its first page.
    """

    title: str
    links: Sequence[Link]
    state: str = ""
    is_open: bool = True

    @property
    def url(self) -> str:
        """The address of its first page."""
        return self.links[0].url

    @property
    def is_current(self) -> bool:
        """Whether the page that shows is one of its pages."""
        return any(link.is_open for link in self.links)


@dataclass(frozen=True)
class SideBar:
    """The pages of one thing; `label` says what it is, `title` which one, and `url` is its first page."""

    label: str
    title: str
    url: str
    groups: Sequence[LinkGroup]

    @property
    def page(self) -> Link | None:
        """The page that shows, or that the one that shows belongs to."""
        return next((link for link in self.links if link.is_current), None)

    @property
    def group(self) -> LinkGroup | None:
        """The group of the page that shows, if it has a title; else the open one of those that can be folded."""
        titled = [group for group in self.groups if group.title]
        return next((group for group in titled if group.is_current), None) or next(
            (group for group in titled if group.is_open and group.state), None
        )

    @property
    def links(self) -> Iterator[Link]:
        """All pages and their parts."""
        for group in self.groups:
            for link in group.links:
                yield from link.parts
                yield link
