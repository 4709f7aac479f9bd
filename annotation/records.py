"""What workers left of a campaign, to be counted and deleted with it."""

from collections.abc import Iterable

from django.db.models import Q

from annotation.models import (
    Assignment,
    Conversation,
    Event,
    Invitation,
    Rating,
    TopicChange,
    Turn,
    Worker,
)
from campaigns.contracts.records import Counted, Records, Rows
from evalsite.lib.words import counted


class AnnotationRecords(Records):
    """Ratings, chats, assignments, invitations, and workers who have no other."""

    slug = "annotation"

    def count(self, campaign_id: int) -> list[Counted]:
        """Return the numbers of workers, assignments, ratings and chats."""
        came = Q(assignments__campaign=campaign_id) | Q(invitations__campaign=campaign_id)
        return [
            Counted(Worker.objects.filter(came).distinct().count(), "worker"),
            Counted(Assignment.objects.filter(campaign=campaign_id).count(), "assignment"),
            Counted(Rating.objects.filter(assignment__campaign=campaign_id).count(), "rating"),
            Counted(Conversation.objects.filter(assignment__campaign=campaign_id).count(), "chat"),
        ]

    def refusals(self, campaign_id: int) -> list[str]:
        """Return that workers are at work: their work would be lost."""
        n = Assignment.objects.filter(campaign=campaign_id, state=Assignment.State.ACTIVE).count()
        if not n:
            return []
        who = f"{counted(n, 'worker')} {'is' if n == 1 else 'are'} at work"
        return [f"{who}. Wait until they have finished, or free their places under Progress → Assignments."]

    def rows(self, campaign_id: int) -> list[Rows]:
        """Return the tables. A worker goes with the last row that is about them."""
        of, chats = {"assignment__campaign": campaign_id}, {"conversation__assignment__campaign": campaign_id}
        return [
            Rows(Event.objects.filter(**of)),
            Rows(TopicChange.objects.filter(**chats)),
            Rows(Turn.objects.filter(**chats)),
            Rows(Conversation.objects.filter(**of)),
            Rows(Rating.objects.filter(**of)),
            Rows(Assignment.objects.filter(campaign=campaign_id), "worker", delete_unused_workers),
            Rows(Invitation.objects.filter(campaign=campaign_id), "worker", delete_unused_workers),
        ]


def delete_unused_workers(workers: Iterable[int]) -> None:
    """Delete those of these workers whom nothing refers to any more, in whatever app."""
    found = Worker.objects.filter(pk__in=list(workers))
    for relation in Worker._meta.related_objects:
        found = found.filter(**{f"{relation.name}__isnull": True})
    Worker.objects.filter(pk__in=list(found.values_list("pk", flat=True))).delete()
