"""What comes next in an assignment: an item or a chat, the last page, or how it ended."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from annotation.arrivals import foresee
from annotation.chat import page as chats
from annotation.chat.forms import TELEMETRY as TOLD_OF_INPUT
from annotation.chat.queries import find_conversation, get_opening, is_given_up, list_turns, topic_now
from annotation.forms.item import TELEMETRY
from annotation.models import Assignment, Conversation
from annotation.presenters import worker as presenters
from annotation.queries import get_page
from annotation.text_images import stems_in
from annotation.tokens import token_of
from annotation.views.framed import page, stop_page
from campaigns.contracts.platform import Place
from campaigns.platforms import get_platform

State = Assignment.State
UNPROCESSABLE = 422


def show_next(
    assignment: Assignment,
    *,
    notice: str = "",
    is_error: bool = False,
    status: int = 200,
    draft: Mapping[str, str] | None = None,
) -> HttpResponse:
    """Show what comes next in an assignment: an item or a chat, the last page, or how it ended.

    `draft` is what was typed and refused: the form has it again.
    """
    campaign = assignment.campaign
    if assignment.state in (State.FINISHED, State.REJECTED):
        return _finished(assignment)
    if assignment.state == State.RETURNED:
        return stop_page("returned", campaign=campaign)
    if assignment.state == State.EXPIRED:
        action = {"url": url_of("next", assignment), "label": "Go on"}
        return stop_page("expired", campaign=campaign, action=action)
    shown = get_page(assignment)
    if shown.item is None:
        return _feedback(assignment)
    said = {"notice": notice, "is_error": is_error, "return_url": url_of("return", assignment)}
    conversation = find_conversation(assignment) if campaign.is_live else None
    if campaign.is_live and (conversation is None or conversation.state == Conversation.State.OPEN):
        return _chat(assignment, conversation, said, draft or {}, status)
    stem_of = stems_in(assignment)
    context = presenters.item(
        campaign,
        shown.item,
        shown.next_item,
        shown.criteria,
        n_items=shown.n_items,
        stem_of=stem_of,
        is_text=assignment.is_accessible,
    )
    context |= said | {"form": presenters.rating_form(shown.position, TELEMETRY)}
    if conversation:
        context["form"]["action"] = url_of("hit", assignment)  # the page may stand at the address of the chat's form
        context |= chats.transcript(chats.said_in(list_turns(conversation)))
    return page("rate/item.html", context, campaign=campaign, status=status)


def _chat(
    assignment: Assignment,
    conversation: Conversation | None,
    said: dict[str, Any],
    draft: Mapping[str, str],
    status: int,
) -> HttpResponse:
    """Show the page on which a chat begins, or goes on."""
    urls = {name: url_of(name, assignment) for name in chats.ADDRESSES}
    if conversation is None:
        template = "rate/topic.html"
        context = chats.topic(assignment, get_opening(assignment, assignment.position).statement, draft)
        context["form"] = {"method": "post", "action": urls["topic"]}
    else:
        template = "rate/chat.html"
        turns, topic = list_turns(conversation), topic_now(conversation)
        context = chats.chat(assignment, conversation, turns, topic, draft, can_leave=is_given_up(conversation))
        context["telemetry"] = tuple(TOLD_OF_INPUT)  # what the script fills in
    return page(template, context | said | {"urls": urls}, campaign=assignment.campaign, status=status, may_fetch=True)


def _feedback(assignment: Assignment, *, error: str = "", status: int = 200) -> HttpResponse:
    context = {
        "is_live": assignment.campaign.is_live,
        "n_items": assignment.n_items,
        "form": {"method": "post", "action": url_of("feedback", assignment)},
        "longest_feedback": presenters.LONGEST_FEEDBACK,
        "error": error,
    }
    return page("rate/feedback.html", context, campaign=assignment.campaign, status=status)


def _finished(assignment: Assignment) -> HttpResponse:
    campaign = assignment.campaign
    platform = get_platform(campaign.platform)
    # A platform with an account gives its own places: the next HIT is accepted there.
    has_more = not platform.has_account and not foresee(campaign, assignment.worker.key).refusal
    context = presenters.handover(platform.finish(campaign.ref, place_of(assignment), assignment.completion_code)) | {
        "is_live": campaign.is_live,
        "n_items": assignment.n_items,
        "platform": platform.title,
        "next_url": url_of("next", assignment) if has_more else "",
    }
    return page("rate/finished.html", context, campaign=campaign)


def place_of(assignment: Assignment) -> Place | None:
    """Return the place on the crowd platform that an assignment's worker came with last; None if there is none."""
    if not assignment.platform_id:
        return None
    posts_each_hit = get_platform(assignment.campaign.platform).posts_each_hit
    number = assignment.hit.number if posts_each_hit else None
    return Place(assignment.platform_id, number, assignment.platform_data)


def url_of(name: str, assignment: Assignment) -> str:
    """Return the address of one of an assignment's pages."""
    return reverse(f"rate:{name}", args=[token_of(assignment)])
