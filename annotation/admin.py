from django.contrib import admin

from annotation.models import Assignment, Conversation, Event, Invitation, Reminder, Response, TopicChange, Turn, Worker
from evalsite.lib.admin import KeptAdmin


@admin.register(Worker)
class WorkerAdmin(KeptAdmin):
    list_display = ["name", "platform", "created_at"]
    list_filter = ["platform"]
    search_fields = ["key"]


@admin.register(Invitation)
class InvitationAdmin(KeptAdmin):
    list_display = ["worker", "campaign", "created_at", "reminded_at"]
    list_select_related = ["worker", "campaign"]
    search_fields = ["worker__key", "campaign__name"]


@admin.register(Reminder)
class ReminderAdmin(KeptAdmin):
    list_display = ["subject", "campaign", "created_by", "created_at"]
    list_select_related = ["campaign", "created_by"]
    search_fields = ["subject", "campaign__name"]


@admin.register(Assignment)
class AssignmentAdmin(KeptAdmin):
    list_display = [
        *("id", "campaign", "hit", "worker", "state", "n_rated", "n_items"),
        *("started_at", "ended_at", "consent_version", "consented_at"),
    ]
    list_filter = ["state"]
    list_select_related = ["campaign", "hit", "worker"]
    search_fields = ["id", "worker__key", "completion_code", "campaign__name", "consent_version"]


@admin.register(Response)
class ResponseAdmin(KeptAdmin):
    list_display = ["id", "assignment_id", "item_id", "criterion", "answer", "rated_at"]
    list_select_related = ["criterion"]
    search_fields = ["assignment__id"]


@admin.register(Conversation)
class ConversationAdmin(KeptAdmin):
    list_display = [
        "id",
        "assignment_id",
        "item_id",
        "state",
        "topic",
        "opinion",
        "n_inputs",
        "n_failures",
        "started_at",
    ]
    list_filter = ["state"]
    search_fields = ["assignment__id", "topic"]


@admin.register(Turn)
class TurnAdmin(KeptAdmin):
    list_display = ["id", "conversation_id", "number", "speaker", "__str__", "at"]
    list_filter = ["speaker"]
    search_fields = ["conversation__id"]


@admin.register(TopicChange)
class TopicChangeAdmin(KeptAdmin):
    list_display = ["id", "conversation_id", "after_turn", "by", "topic", "attitude", "at"]
    list_filter = ["by"]
    search_fields = ["conversation__id", "topic"]


@admin.register(Event)
class EventAdmin(KeptAdmin):
    list_display = ["id", "assignment_id", "item_id", "kind", "at", "data"]
    list_filter = ["kind"]
    search_fields = ["assignment__id"]
