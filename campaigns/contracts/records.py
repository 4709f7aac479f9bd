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


@dataclass(frozen=True)
class Erasure:
    """One worker of a campaign whose personal data are erased, and the worker without a name who takes their place.

    Attributes
    ----------
    campaign_id, worker_id : int
        Whose, and where.
    erased_id : int
        The worker without a name; 0 before there is one.
    name : str
        By which the worker is known: what must not be found afterwards.
    wants : frozenset of str
        What a person has chosen to be erased, too: `feedback`, `chats`, `telemetry`, `results`.
    """

    campaign_id: int
    worker_id: int
    erased_id: int
    name: str
    wants: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Held:
    """A stored result that holds a worker's name: what it is, and the address of its page by name and argument."""

    title: str
    page: str
    argument: object


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

    def erasure_refusals(self, erasure: Erasure) -> list[str]:
        """Return why the worker's personal data must not be erased now, each with what to do."""
        return []

    def kept(self, erasure: Erasure) -> list[str]:
        """Return what is kept of the worker, each with the reason."""
        return []

    def stored(self, erasure: Erasure) -> dict[str, Any]:
        """Return what is stored on the worker in the campaign, for the worker to read: JSON but for times and sums."""
        return {}

    def list_held(self, erasure: Erasure) -> list[Held]:
        """Return the stored results that hold the worker's name."""
        return []

    def erase(self, erasure: Erasure) -> None:
        """Erase the worker's personal data, inside a transaction."""

    def renew(self, campaign_id: int) -> None:
        """Delete the stored results that hold names of workers, and have them made anew, inside a transaction."""
