"""The chats of a live campaign, and how its chatbots do."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from rest_framework import serializers

from annotation.chat.flags import FLAGS, Finding, Flag
from annotation.chat.forms import ChatFilter
from annotation.chat.monitoring import ChatbotState, Failure, get_chatbot_states
from annotation.chat.transcripts import (
    ChatRow,
    Transcript,
    WorkerFlags,
    count_worker_flags,
    describe_chats,
    get_transcript,
    list_chats,
)
from annotation.models import Conversation, Turn
from api.access import ApiRequest
from api.operations import Listed, Resource, operation
from api.shapes import cleaned
from campaigns.models import Campaign
from campaigns.queries import list_chatbots
from evalsite.accounts.models import Scope


class FindingShape(serializers.Serializer[Finding]):
    """A flag, and what raised it."""

    flag = serializers.CharField(source="flag.name")
    text = serializers.CharField()


class ChatShape(serializers.Serializer[ChatRow]):
    """A chat."""

    id = serializers.IntegerField(source="chat.pk")
    assignment = serializers.IntegerField(source="chat.assignment_id")
    worker = serializers.CharField(help_text="A keyed hash; the worker's own id for owners with the scope admin.")
    chatbot = serializers.CharField(source="chat.item.output.system.name")
    state = serializers.ChoiceField(source="chat.state", choices=Conversation.State.choices)
    topic = serializers.CharField(source="chat.topic")
    opinion = serializers.ChoiceField(source="chat.opinion", choices=Conversation.Opinion.choices)
    n_inputs = serializers.IntegerField(source="chat.n_inputs", help_text="Messages of the worker.")
    started_at = serializers.DateTimeField(source="chat.started_at")
    ended_at = serializers.DateTimeField(source="chat.ended_at", allow_null=True)
    flags = FindingShape(source="findings", many=True)


class Chats(Resource):
    """The chats."""

    @operation(Scope.READ, returns=ChatShape, filters=ChatFilter, many="pages", has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> Listed:
        """List the chats that match, newest first."""
        check_live(campaign)
        form = ChatFilter(request.query_params, list_chatbots(campaign))
        cleaned(form)
        found = list_chats(campaign, now=timezone.now(), **form.filters())
        return Listed(found, ("-pk",), lambda rows: describe_chats(campaign, rows))


def check_live(campaign: Campaign) -> None:
    """Raise Http404 where nobody chats."""
    if not campaign.is_live:
        raise Http404


class TurnShape(serializers.Serializer[Any]):
    """A message."""

    number = serializers.IntegerField(source="turn.number")
    by = serializers.ChoiceField(source="turn.speaker", choices=Turn.Speaker.choices)
    text = serializers.CharField(source="turn.text")
    at = serializers.DateTimeField(source="turn.at")
    data = serializers.JSONField(  # type: ignore[assignment]
        source="turn.data", help_text="How it was typed, or how long the reply took."
    )


class TopicChangeShape(serializers.Serializer[Any]):
    """A change of the topic."""

    after_turn = serializers.IntegerField()
    by = serializers.CharField()
    topic = serializers.CharField()
    attitude = serializers.CharField()


class ScoreShape(serializers.Serializer[Any]):
    """A rating of the chat, or of one of its replies."""

    turn = serializers.IntegerField(help_text="Number of the reply that it is about; 0: the whole chat.")
    criterion = serializers.CharField(source="criterion.name")
    value = serializers.JSONField(help_text="What was answered; null where it could not be judged.")
    score = serializers.FloatField(allow_null=True)
    abstained = serializers.CharField(help_text="Why it could not be judged.")


class TranscriptShape(serializers.Serializer[Transcript]):
    """All of a chat."""

    id = serializers.IntegerField(source="chat.pk")
    worker = serializers.CharField()
    chatbot = serializers.CharField(source="chat.item.output.system.name")
    topic = serializers.CharField(source="chat.topic")
    turns = TurnShape(many=True)
    topic_changes = serializers.SerializerMethodField()
    flags = FindingShape(source="findings", many=True)
    ratings = ScoreShape(many=True)

    def get_topic_changes(self, found: Transcript) -> list[dict[str, Any]]:
        """Return the changes of topic in their order."""
        changes = [*found.first_changes, *(change for turn in found.turns for change in turn.changes)]
        return list(TopicChangeShape(changes, many=True).data)


class OneChat(Resource):
    """One chat."""

    @operation(Scope.READ, returns=TranscriptShape, has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign, chat_id: int) -> Transcript:
        """Return what was said, and how the chat was rated."""
        check_live(campaign)
        return get_transcript(campaign, chat_id, timezone.now())


class FailureShape(serializers.Serializer[Failure]):
    """A try that got no reply."""

    at = serializers.DateTimeField()
    code = serializers.CharField()
    message = serializers.CharField()


class ChatbotStateShape(serializers.Serializer[ChatbotState]):
    """How a chatbot does."""

    chatbot = serializers.CharField(source="chatbot.system.name")
    n_chats = serializers.IntegerField()
    n_running = serializers.IntegerField()
    n_awaiting = serializers.IntegerField(help_text="Running chats in which a reply is awaited.")
    n_left = serializers.IntegerField(help_text="Open chats that nobody is in.")
    n_ended = serializers.IntegerField()
    n_dead = serializers.IntegerField(help_text="Chats that were left because the chatbot did not answer.")
    n_replies = serializers.IntegerField()
    n_given_up = serializers.IntegerField(help_text="Replies that were given up.")
    n_failed = serializers.IntegerField(help_text="Tries without a reply.")
    fails_often = serializers.BooleanField(help_text="Of the newest tries many failed.")
    last_failure = FailureShape(allow_null=True)
    median_s = serializers.FloatField(allow_null=True, help_text="Seconds to a reply.")
    p95_s = serializers.FloatField(allow_null=True)
    spent = serializers.DecimalField(source="chatbot.spent", max_digits=None, decimal_places=6)
    is_spent = serializers.BooleanField(source="chatbot.is_spent", help_text="Its spending cap is reached.")


class ChatbotStates(Resource):
    """How the chatbots do."""

    @operation(Scope.READ, returns=ChatbotStateShape, many="all")
    def get(self, request: ApiRequest, campaign: Campaign) -> list[ChatbotState]:
        """Return chats, replies, failures and times of each chatbot."""
        check_live(campaign)
        return get_chatbot_states(campaign, timezone.now())


class FlagShape(serializers.Serializer[Flag]):
    """A sign that a worker did not chat seriously, and what raises it."""

    name = serializers.CharField()
    title = serializers.CharField()
    rule = serializers.CharField()


class WorkerFlagsShape(serializers.Serializer[WorkerFlags]):
    """How many chats a worker has had, and how many of them have each flag."""

    worker = serializers.CharField()
    n_chats = serializers.IntegerField()
    n_flagged = serializers.IntegerField()
    by_flag = serializers.DictField(child=serializers.IntegerField())


class ChatFlagsShape(serializers.Serializer[Any]):
    """What raises flags, and whose chats have any."""

    flags = FlagShape(many=True)
    workers = WorkerFlagsShape(many=True)


class ChatFlags(Resource):
    """The flags of chats."""

    @operation(Scope.READ, returns=ChatFlagsShape, has_names=True)
    def get(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Return what raises flags, and the workers whose newest chats have any, who has most first."""
        check_live(campaign)
        return {"flags": FLAGS.values(), "workers": count_worker_flags(campaign)}
