"""What a worker does in a chat. A form is answered with the page that comes next, the page's script with data.

Both come here by POST; a script says so by `Accept: application/json`. Where a sandboxed frame lets no script fetch
anything, it sends the forms instead.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse

from annotation.chat.forms import read_input, read_place, read_position
from annotation.chat.queries import find_conversations, list_turns, topic_now
from annotation.chat.replies import ReplyState, fetch_reply_of
from annotation.chat.services import (
    change_topic,
    end_conversations,
    keep_input,
    leave_conversations,
    open_conversations,
)
from annotation.models import Assignment, Conversation, Turn
from annotation.queries import assignment_id_of, get_assignment
from annotation.templatetags.rating import messages_sent
from annotation.views.framed import View, data, for_workers, is_script, see_other
from annotation.views.pages import show_next, url_of
from evalsite.lib.errors import CONFLICT, UNPROCESSABLE, DomainError

# What another window, or a request sent twice, has done already.
_PASSED = {"not_next", "not_next_turn", "chat_ended", "awaits_reply", "no_chat", "returned", "not_active"}
_NOT_ACTIVE = DomainError("not_active", "This was given to somebody else, or has ended. What you said is kept.")
_UNSENT = DomainError(
    "unsent", "What you have typed is not sent. Send it, or press the button again to continue without sending it."
)
# Never why a reply was given up: a chatbot's fault could tell which it is.
_GIVEN_UP = "There is no reply at the moment. Your message is kept."


def _for_forms(view: View) -> View:
    """Make a view one that takes a worker's form. Its address, opened by itself, leads to the page with the form."""

    @wraps(view)
    def take(request: HttpRequest, token: str) -> HttpResponse:
        if request.method == "POST":
            return view(request, token)
        assignment = get_assignment(token)
        return see_other(url_of("hit", assignment), assignment.campaign)

    return for_workers("GET", "HEAD", "POST")(take)


@_for_forms
def topic(request: HttpRequest, token: str) -> HttpResponse:
    """Begin a chat on a topic."""
    sent = request.POST
    draft = {"topic": sent.get("topic", ""), "opinion": sent.get("opinion", "")}
    return _do(request, token, lambda pk, at: open_conversations(assignment_id=pk, position=at, **draft), draft)


@_for_forms
def say(request: HttpRequest, token: str) -> HttpResponse:
    """Keep what the worker says, and get the chatbot's reply; a script gets those of several chatbots by `reply`."""
    sent = read_input(request.POST)
    try:
        conversations = keep_input(
            assignment_id=assignment_id_of(token),
            position=sent.position,
            number=sent.number,
            text=sent.text,
            telemetry=sent.telemetry,
        )
    except DomainError as error:
        return _refuse(request, token, error, {"text": sent.text})
    if is_script(request) and len(conversations) > 1:
        assignment = conversations[0].assignment
        said = _describe(conversations[0], [], ReplyState("waiting"), assignment)
        return data(said | {"number": sent.number + 1}, assignment.campaign)  # a reply may be there already
    return _answer(request, token, conversations, after=sent.number)


@_for_forms
def reply(request: HttpRequest, token: str) -> HttpResponse:
    """Get the reply that is awaited: again, where it was given up and the worker presses the button.

    Of several chatbots at once a script names the place of one; a form gets the replies of all.
    """
    assignment = get_assignment(token)
    sent, place = read_input(request.POST), read_place(request.POST)
    conversations = find_conversations(assignment)
    if not conversations or sent.position != assignment.position or place > len(conversations):
        return _refuse(request, token, DomainError("not_next", "This chat is over."), {})
    asked = conversations[place - 1 : place] if place else conversations
    return _answer(request, token, asked, after=sent.number - 1, is_retry="again" in request.POST)


@_for_forms
def change(request: HttpRequest, token: str) -> HttpResponse:
    """Note that the topic has changed."""
    sent = request.POST
    note = {name: sent.get(name, "") for name in ("by", "topic", "attitude")}
    return _do(request, token, lambda pk, at: change_topic(assignment_id=pk, position=at, **note), note)


@_for_forms
def end(request: HttpRequest, token: str) -> HttpResponse:
    """Go on from a chat to its rating; what is typed but not sent is asked about once."""
    typed = {"text": request.POST.get("text", "")}
    if typed["text"].strip() and not request.POST.get("warned"):
        conversations = find_conversations(assignment := get_assignment(token))
        if conversations and conversations[0].n_inputs >= assignment.campaign.chat_rules.min_inputs:
            return _refuse(request, token, _UNSENT, typed | {"warned": "yes"})
    return _do(request, token, lambda pk, at: end_conversations(assignment_id=pk, position=at), typed)


@_for_forms
def leave(request: HttpRequest, token: str) -> HttpResponse:
    """Go on without a chatbot that does not answer."""
    return _do(request, token, lambda pk, at: leave_conversations(assignment_id=pk, position=at), {})


def _do(
    request: HttpRequest, token: str, verb: Callable[[int, int], Sequence[Conversation]], draft: Mapping[str, str]
) -> HttpResponse:
    """Do something with the chat at the position that was sent, and lead to what comes next."""
    assignment = get_assignment(token)
    try:
        conversation = verb(assignment.pk, read_position(request.POST))[0]
    except DomainError as error:
        return _refuse(request, token, error, draft)
    if is_script(request):
        content = _describe(conversation, [], ReplyState("replied"), assignment) | {"topic": topic_now(conversation)}
        return data(content, assignment.campaign)
    return see_other(url_of("hit", assignment), assignment.campaign)


def _answer(
    request: HttpRequest, token: str, conversations: Sequence[Conversation], *, after: int, is_retry: bool = False
) -> HttpResponse:
    """Get the replies, and answer a script with the turns of the first chat after a number.

    Of a HIT that is no longer the worker's, nobody asks.
    """
    conversation = conversations[0]
    assignment = conversation.assignment
    if assignment.state != Assignment.State.ACTIVE:
        return _refuse(request, token, _NOT_ACTIVE, {})
    reply_state, *_ = [fetch_reply_of(each, is_retry=is_retry) for each in conversations]
    if not is_script(request):
        return see_other(url_of("hit", assignment), assignment.campaign)
    if reply_state.turn and reply_state.turn.number == after + 1:  # all that is new
        conversation.n_turns, turns = reply_state.turn.number, [reply_state.turn]
    else:
        conversation.refresh_from_db()
        turns = list(list_turns(conversation, after=after))
    return data(_describe(conversation, turns, reply_state, assignment), assignment.campaign)


def _describe(
    conversation: Conversation, turns: Iterable[Turn], reply_state: ReplyState, assignment: Assignment
) -> dict[str, Any]:
    """Return, for the page's script, the new turns, and whether a reply is there, awaited or given up."""
    rules, is_given_up = assignment.campaign.chat_rules, reply_state.status == "failed"
    return {
        "status": reply_state.status,
        "wait_ms": round(reply_state.wait_s * 1000),
        "turns": [{"number": turn.number, "by": turn.speaker, "text": turn.text} for turn in turns],
        "number": conversation.n_turns + 1,
        "n_inputs": conversation.n_inputs,
        "progress": messages_sent(conversation.n_inputs, rules.min_inputs),
        "can_end": conversation.n_inputs >= rules.min_inputs,
        "is_full": conversation.n_inputs >= rules.max_inputs,
        "can_leave": is_given_up,
        "message": _GIVEN_UP if is_given_up else "",
    }


def _refuse(request: HttpRequest, token: str, error: DomainError, draft: Mapping[str, str]) -> HttpResponse:
    status = CONFLICT if error.code in _PASSED else UNPROCESSABLE
    assignment = get_assignment(token)
    if is_script(request):
        content = {"status": "refused", "code": error.code, "message": error.message}
        return data(content, assignment.campaign, status=status)
    return show_next(assignment, notice=error.message, is_error=True, status=status, draft=draft)
