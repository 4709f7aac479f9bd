"""What comes next in an assignment: an item or a chat, the last page, or how it ended."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.urls import reverse

from annotation.access.places import is_revoked
from annotation.access.tokens import token_of
from annotation.access.visitors import find_offer
from annotation.chat.forms import TELEMETRY as TELEMETRY_OF_INPUT
from annotation.chat.queries import find_conversations, get_chat_page, get_opening, said_on
from annotation.chat.services import LONGEST_TOPIC
from annotation.forms import TELEMETRY
from annotation.models import Assignment, Conversation, TopicChange
from annotation.pages.contents import ANSWER, make_item_page
from annotation.pages.questions import AnswerKey
from annotation.pages.saved_answers import saved_answers
from annotation.pages.text_images import stems_in
from annotation.queries import ShownPage, count_pages, get_current_page
from annotation.views.framed import page, stop_page
from annotation.views.parts import Refused, parts_of
from campaigns.contracts.platform import Place
from campaigns.models import Campaign
from evalsite.lib.kept_keys import UNSENT_ANSWERS, keyed_hash

State = Assignment.State
LONGEST_FEEDBACK = 10_000
# The addresses of the forms of a chat's pages, and of the page itself.
_CHAT_FORMS = ("hit", "topic", "say", "reply", "change", "end", "leave")


def show_next(
    assignment: Assignment,
    *,
    notice: str = "",
    is_error: bool = False,
    status: int = 200,
    draft: Mapping[str, str] | None = None,
    refused: AnswerKey | None = None,
) -> HttpResponse:
    """Show what comes next in an assignment: an item or a chat, the last page, or how it ended.

    `draft` is what was typed and refused: the form has it again. `refused`: the answer to be corrected.
    """
    campaign = assignment.campaign
    if assignment.state in (State.FINISHED, State.REJECTED):
        return _finished(assignment)
    if assignment.state == State.RETURNED:
        return stop_page("returned", campaign=campaign)
    if assignment.state == State.EXPIRED:
        if is_revoked(campaign, assignment.worker_id):
            finished = find_offer(campaign, assignment.worker.key).finished
            return stop_page("revoked", campaign=campaign, codes=[each.completion_code for each in finished])
        action = {"url": url_of("next", assignment), "label": "Go on"}
        return stop_page("expired", campaign=campaign, action=action)
    shown = get_current_page(assignment)
    if shown.page is None:
        return _feedback(assignment)
    said = {"notice": notice, "is_error": is_error, "return_url": url_of("return", assignment)}
    said |= _kept_as(assignment, "item")
    conversations = find_conversations(assignment) if campaign.is_live else []
    if campaign.is_live and (not conversations or conversations[0].state == Conversation.State.OPEN):
        return _chat(assignment, shown.page, conversations, said, draft or {}, status)
    item = make_item_page(
        campaign,
        shown.page,
        shown.next_page,
        shown.criteria,
        stem_of=stems_in(assignment),
        is_text=assignment.is_accessible,
        saved=saved_answers(assignment, shown.page, shown.criteria) if campaign.is_revisable else None,
        chat=said_on(conversations) if conversations else (),
    )
    question = item.find(refused) if refused else None
    context = {
        "is_error": is_error,
        "is_live": campaign.is_live,
        "instructions": campaign.instructions,
        "item": item.frame,
        "refused": Refused(question.number, f"{ANSWER}{refused.suffix}") if refused and question else None,
        "method": "post",
        "telemetry": tuple(TELEMETRY),  # what the script fills in
        "offers_text": campaign.can_choose_text and not assignment.is_accessible and item.has_pictures,
    }
    parts = parts_of(item) | {name: str(said[name]) for name in ("notice", "return_url", "kept", "kept_part")}
    if context["offers_text"]:
        parts["text_url"] = url_of("text", assignment)
    if conversations:  # the page may have the address of the chat's form
        parts["action"] = url_of("hit", assignment)
    return page("rate/item.html", context, campaign=campaign, status=status, parts=parts)


def _chat(
    assignment: Assignment,
    shown: ShownPage,
    conversations: Sequence[Conversation],
    said: dict[str, Any],
    draft: Mapping[str, str],
    status: int,
) -> HttpResponse:
    """Show the page on which a chat begins, or goes on."""
    urls = {name: url_of(name, assignment) for name in _CHAT_FORMS}
    context = said | chat_context(assignment.campaign, shown.position, shown.number, shown.n_pages)
    context |= {"urls": urls, "draft": draft}
    if not conversations:
        template = "rate/topic.html"
        context |= _kept_as(assignment, "topic")
        context["statement"] = get_opening(assignment, shown.items[0]).statement
        context["form"] = {"method": "post", "action": urls["topic"]}
    else:
        template = "rate/chat.html"
        context |= _kept_as(assignment, "chat") | {
            "chat": get_chat_page(assignment, conversations),
            "method": "post",
            "telemetry": tuple(TELEMETRY_OF_INPUT),  # what the script fills in
        }
    return page(template, context, campaign=assignment.campaign, status=status, may_fetch=True)


def chat_context(campaign: Campaign, position: int, number: int, n_pages: int) -> dict[str, Any]:
    """Return what all pages of a chat show: of the item at `position`, on so many pages."""
    return {
        "is_live": True,
        "position": position,
        "number": number,
        "n_pages": n_pages,
        "is_compared": campaign.compares_chats,
        "instructions": campaign.instructions,
        "opinions": Conversation.Opinion.choices,
        "changes": TopicChange.By.choices,
        "longest_topic": LONGEST_TOPIC,
    }


def _feedback(assignment: Assignment) -> HttpResponse:
    context = {
        "is_live": assignment.campaign.is_live,
        "n_items": count_pages(assignment)[1],
        "form": {"method": "post", "action": url_of("feedback", assignment)},
        "longest_feedback": LONGEST_FEEDBACK,
    } | _kept_as(assignment, "feedback")
    return page("rate/feedback.html", context, campaign=assignment.campaign)


def _finished(assignment: Assignment) -> HttpResponse:
    campaign = assignment.campaign
    platform = campaign.crowd_platform
    # A platform with an account gives its own places: the next HIT is accepted there.
    has_more = not platform.has_account and not find_offer(campaign, assignment.worker.key).refusal
    context = {
        "handover": platform.finish(campaign.ref, place_of(assignment), assignment.completion_code),
        "is_live": campaign.is_live,
        "n_items": count_pages(assignment)[1],
        "platform": platform.title,
        "next_url": url_of("next", assignment) if has_more else "",
    } | _kept_as(assignment, "")
    return page("rate/finished.html", context, campaign=campaign)


def _kept_as(assignment: Assignment, part: str) -> dict[str, str]:
    """Return under which name a browser keeps what is not sent yet: never the token, the same after another arrival."""
    name = keyed_hash(UNSENT_ANSWERS, str(assignment.pk)).hexdigest()[:16]
    return {"kept": name, "kept_part": f"{part} {assignment.position}" if part else ""}


def place_of(assignment: Assignment) -> Place | None:
    """Return the place on the crowd platform that an assignment's worker came with last; None if there is none."""
    if not assignment.platform_id:
        return None
    posts_each_hit = assignment.campaign.crowd_platform.posts_each_hit
    number = assignment.hit.number if posts_each_hit else None
    return Place(assignment.platform_id, number, assignment.platform_data)


def url_of(name: str, assignment: Assignment) -> str:
    """Return the address of one of an assignment's pages."""
    return reverse(f"rate:{name}", args=[token_of(assignment)])
