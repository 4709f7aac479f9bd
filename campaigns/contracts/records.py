"""What an app keeps of a campaign: counted before the campaign is deleted, then deleted."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet


@dataclass(frozen=True)
class Counted:
    """So many of something; `note` says more, such as a sum of money."""

    n: int
    noun: str
    note: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows of one table that are deleted, some at a time.

    Of each lot, `follow` is called in the same transaction with the values that the column `of` had.
    """

    found: QuerySet[Any]
    of: str = ""
    follow: Callable[[set[Any]], object] | None = None


class Records:
    """The rows and files of one app that belong to a campaign. The apps are asked in the order of the settings.

    Nothing that an app deletes may be referred to by rows of an app that comes after it.
    """

    slug: str

    def count(self, campaign_id: int) -> list[Counted]:
        """Return how many of what a person knows by name go."""
        return []

    def refusals(self, campaign_id: int) -> list[str]:
        """Return why the campaign must not be deleted now, each with what to do."""
        return []

    def warnings(self, campaign_id: int) -> list[str]:
        """Return what a person has to know before it is deleted."""
        return []

    def stop(self, campaign_id: int) -> None:
        """Let nothing begin any more by itself, in the transaction in which the deletion begins."""

    def delete_files(self, campaign_id: int) -> None:
        """Delete the files that its rows name, as far as they are there."""

    def rows(self, campaign_id: int) -> Iterable[Rows]:
        """Return the rows to be deleted, those that refer to others first."""
        return []
