"""What researchers write for a campaign's datasheet and data statement."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from analysis.models import PaperAnswer
from analysis.results.paper.heds import keys_of
from analysis.results.paper.questions import LONGEST_ANSWER
from analysis.web.queries.campaigns import get_documents
from campaigns.models import Campaign
from campaigns.queries import being_deleted
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError


@transaction.atomic
def save_answers(*, campaign: Campaign, user: User, answers: Mapping[str, str]) -> None:
    """Keep answers by the keys of their questions; an empty one gives the question back to the campaign.

    Raises DomainError `no_such_question`, or `too_long` beyond 10,000 characters.
    """
    if campaign.is_being_deleted:
        raise being_deleted()
    sections, statement = get_documents(campaign)
    known = {*keys_of(sections), *(question.key for question in statement)}
    for key, text in answers.items():
        if key not in known:
            raise DomainError("no_such_question", f"The datasheet has no question “{key[:80]}”.")
        if len(text) > LONGEST_ANSWER:
            raise DomainError(
                "too_long", f"An answer has at most {LONGEST_ANSWER:,} characters; this one has {len(text):,}."
            )
        PaperAnswer.objects.update_or_create(
            campaign=campaign,
            question=key,
            defaults={"text": text.strip(), "changed_by": user, "changed_at": timezone.now()},
        )
