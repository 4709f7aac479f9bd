"""What the rejection of a submission means here: its work does not count, and others may have its place."""

from django.db.models import F, Q, QuerySet

from annotation.models import Assignment
from annotation.services.rejections import place_surplus, reject_assignment, restore_assignment
from campaigns.models import Campaign
from campaigns.platforms import get_platform
from crowd.models import Submission

_NOT_REJECTED = (Submission.State.SUBMITTED, Submission.State.APPROVED)


def settle_rejections(campaign: Campaign, submissions: QuerySet[Submission]) -> int:
    """Bring the assignments of submissions in line with rejections there, and with those taken back; return how many.

    May be repeated. Where the platform gives the place of rejected work to somebody else, so does this site. Work
    whose rejection is taken back counts again; if its place is gone by then, it is surplus until one becomes free.
    """
    frees_place = get_platform(campaign.platform).frees_rejected
    own = submissions.filter(Q(assignment__platform_id=F("platform_id")) | Q(assignment__platform_id=""))
    rejected = own.filter(state=Submission.State.REJECTED, assignment__state=Assignment.State.FINISHED)
    restored = own.filter(state__in=_NOT_REJECTED, assignment__state=Assignment.State.REJECTED)
    n = sum(reject_assignment(assignment_id=pk, frees_place=frees_place) for pk in _assignments(rejected))
    n += sum(restore_assignment(assignment_id=pk, frees_place=frees_place) for pk in _assignments(restored))
    return n + sum(place_surplus(assignment_id=pk) for pk in _assignments(own.filter(assignment__is_surplus=True)))


def _assignments(submissions: QuerySet[Submission]) -> list[int]:
    found = submissions.order_by("assignment").values_list("assignment", flat=True).distinct()
    return [pk for pk in found if pk is not None]
