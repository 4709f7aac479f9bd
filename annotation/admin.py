from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model

from annotation.models import Assignment, Conversation, Event, Invitation, Rating, TopicChange, Turn, Worker

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    ModelAdmin = admin.ModelAdmin


class KeptAdmin(ModelAdmin):
    """Shows what workers sent; nobody edits or deletes it by hand."""

    # Tables of millions: no count of all rows.
    show_full_result_count = False

    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False


@admin.register(Worker)
class WorkerAdmin(KeptAdmin):
    list_display = ["name", "platform", "created_at"]
    list_filter = ["platform"]
    search_fields = ["key"]


@admin.register(Invitation)
class InvitationAdmin(KeptAdmin):
    list_display = ["worker", "campaign", "created_at"]
    list_select_related = ["worker", "campaign"]
    search_fields = ["worker__key", "campaign__name"]


@admin.register(Assignment)
class AssignmentAdmin(KeptAdmin):
    list_display = [
        *("id", "campaign", "hit", "worker", "state", "n_rated", "n_items"),
        *("started_at", "ended_at", "consent_version", "consented_at"),
    ]
    list_filter = ["state"]
    list_select_related = ["campaign", "hit", "worker"]
    search_fields = ["id", "worker__key", "completion_code", "campaign__name", "consent_version"]


@admin.register(Rating)
class RatingAdmin(KeptAdmin):
    list_display = ["id", "assignment_id", "item_id", "criterion", "score", "rated_at"]
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
