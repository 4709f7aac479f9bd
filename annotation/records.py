"""What workers left of a campaign, to be counted and deleted with it."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import (
    Assignment,
    Conversation,
    Event,
    Invitation,
    Reminder,
    Response,
    TopicChange,
    Turn,
    Worker,
)
from annotation.personal_data import stored_on
from campaigns.contracts.records import Counted, Erasure, Records, Rows
from campaigns.contracts.response import ResponseKind
from campaigns.models import Criterion
from evalsite.jobs.models import Job
from evalsite.lib.words import counted

_ERASED = "[erased]"
_MAILS_NOT_SENT = "Some reminders were not sent. Their raters are not named here: the personal data of one were erased."


class AnnotationRecords(Records):
    """Ratings, chats, assignments, invitations, and workers who have no other."""

    slug = "annotation"

    def count(self, campaign_id: int) -> list[Counted]:
        """Return the numbers of workers, assignments, ratings and chats."""
        came = Q(assignments__campaign=campaign_id) | Q(invitations__campaign=campaign_id)
        return [
            Counted(Worker.objects.filter(came).distinct().count(), "worker"),
            Counted(Assignment.objects.filter(campaign=campaign_id).count(), "assignment"),
            Counted(Response.objects.filter(assignment__campaign=campaign_id).count(), "rating"),
            Counted(Conversation.objects.filter(assignment__campaign=campaign_id).count(), "chat"),
        ]

    def refusals(self, campaign_id: int) -> list[str]:
        """Return that workers are at work: their work would be lost."""
        n = Assignment.objects.filter(campaign=campaign_id, state=Assignment.State.ACTIVE).count()
        if not n:
            return []
        who = f"{counted(n, 'worker')} {'is' if n == 1 else 'are'} at work"
        return [f"{who}. Wait until they have finished, or free their places under Assignments."]

    def rows(self, campaign_id: int) -> list[Rows]:
        """Return the tables. A worker goes with the last row that is about them."""
        of, chats = {"assignment__campaign": campaign_id}, {"conversation__assignment__campaign": campaign_id}
        return [
            Rows(Event.objects.filter(**of)),
            Rows(TopicChange.objects.filter(**chats)),
            Rows(Turn.objects.filter(**chats)),
            Rows(Conversation.objects.filter(**of)),
            Rows(Response.objects.filter(**of)),
            Rows(Assignment.objects.filter(campaign=campaign_id), "worker", delete_unused_workers),
            Rows(Invitation.objects.filter(campaign=campaign_id), "worker", delete_unused_workers),
            Rows(Reminder.objects.filter(campaign=campaign_id)),
        ]

    def erasure_refusals(self, erasure: Erasure) -> list[str]:
        """Return that the worker is at work."""
        mine = Assignment.objects.filter(campaign=erasure.campaign_id, worker=erasure.worker_id)
        if mine.filter(state=Assignment.State.ACTIVE).exists():
            return ["The worker is at work. Wait until they have finished, or free their place under Assignments."]
        return []

    def stored(self, erasure: Erasure) -> dict[str, Any]:
        """Return the worker, their invitation, and what they did in each HIT."""
        return stored_on(erasure.campaign_id, erasure.worker_id)

    def kept(self, erasure: Erasure) -> list[str]:
        """Return what results and proofs need."""
        return [
            "scores and when they were given, under a label: without them, results of others would change",
            "when the worker agreed to which version of the consent text: it proves that there was consent",
        ]

    def erase(self, erasure: Erasure) -> None:
        """Put the worker without a name in the place of this one; clear what they wrote and what identifies them."""
        whose = {"campaign": erasure.campaign_id, "worker": erasure.worker_id}
        mine = list(Assignment.objects.filter(**whose).values_list("pk", flat=True))
        found = Assignment.objects.filter(pk__in=mine)
        found.exclude(completion_code="").update(completion_code="")
        for each in found.exclude(platform_data={}):  # polling needs to know of which posting it is
            each.platform_data = {name: each.platform_data[name] for name in ("posting",) if name in each.platform_data}
            each.save(update_fields=["platform_data"])
        if "feedback" in erasure.wants:
            found.update(feedback="")
            criteria = Criterion.objects.filter(campaign=erasure.campaign_id)
            for criterion in (each for each in criteria if each.response_kind.is_written):
                _erase_words(criterion.response_kind, Response.objects.filter(assignment__in=mine, criterion=criterion))
        events = Event.objects.filter(assignment__in=mine)
        events.filter(kind=Event.Kind.ARRIVED).update(data={})
        if "telemetry" in erasure.wants:
            events.filter(kind=Event.Kind.RATED).update(data={})
        if "chats" in erasure.wants:
            chats = Conversation.objects.filter(assignment__in=mine)
            Turn.objects.filter(conversation__in=chats).update(text=_ERASED, data={})
            TopicChange.objects.filter(conversation__in=chats).update(topic=_ERASED)
            chats.update(topic=_ERASED)
        Invitation.objects.filter(**whose).delete()
        failed = Job.objects.filter(
            pk__in=Reminder.objects.filter(campaign=erasure.campaign_id).values("job"), status=Job.Status.FAILED
        )
        failed.filter(error_message__contains=erasure.name).update(error_message=_MAILS_NOT_SENT)
        found.update(worker=erasure.erased_id)
        delete_unused_workers([erasure.worker_id])


def _erase_words(kind: type[ResponseKind], answers: QuerySet[Response]) -> None:
    """Take the worker's own words out of answers, and out of what they were before."""

    def erased(value: Any) -> Any:
        return None if value is None else kind.without_words(value)

    for answer in answers.iterator():
        answer.value = erased(answer.value)
        answer.earlier = [{**each, "value": erased(each["value"])} for each in answer.earlier]
        answer.save(update_fields=["value", "earlier"])


def delete_unused_workers(workers: Iterable[int]) -> None:
    """Delete those of these workers whom nothing refers to any more, in whatever app."""
    found = Worker.objects.filter(pk__in=list(workers))
    for relation in Worker._meta.related_objects:
        found = found.filter(**{f"{relation.name}__isnull": True})
    Worker.objects.filter(pk__in=list(found.values_list("pk", flat=True))).delete()
