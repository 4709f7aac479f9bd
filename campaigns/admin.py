from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model

from campaigns.models import Campaign, Chatbot, Deletion, Delivery, Membership, Webhook
from evalsite.lib.admin import DeletableAdmin, KeptAdmin

if TYPE_CHECKING:
    MembershipBase = admin.TabularInline[Membership, Model]
else:
    MembershipBase = admin.TabularInline


_SHOWN = (
    "name",
    "public_id",
    "protocol",
    "status",
    "replicates",
    "created_at",
    "launched_at",
    "closed_at",
    "archived_at",
)


class Memberships(MembershipBase):
    """An admin may give a campaign whose owner has left a new one."""

    model = Membership
    autocomplete_fields = ["user"]
    extra = 0


@admin.register(Campaign)
class CampaignAdmin(KeptAdmin):
    """Shows campaigns; they are made, changed and deleted on their own pages, which keep the rules."""

    list_display = ["name", "protocol", "status", "created_at", "launched_at", "closed_at"]
    list_filter = ["status", "protocol"]
    search_fields = ["name", "public_id", "memberships__user__email"]
    date_hierarchy = "created_at"
    fields = _SHOWN
    readonly_fields = _SHOWN
    inlines = [Memberships]

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        """Let an admin change the members, the only part that is not read-only."""
        return admin.ModelAdmin.has_change_permission(self, request, obj)


@admin.register(Chatbot)
class ChatbotAdmin(KeptAdmin):
    """Shows how chatbots are asked and what they cost, except their secrets; they are changed on their own pages."""

    list_display = ["system", "campaign", "connector", "spent", "spending_cap"]
    list_filter = ["connector"]
    list_select_related = ["system__campaign"]
    search_fields = ["system__name", "system__campaign__name", "system__campaign__public_id"]
    fields = (
        "system",
        "campaign",
        "connector",
        "settings",
        "file_of_dialogues",
        "timeout_s",
        "n_retries",
        "max_chars",
        "max_parallel",
        "price_per_reply",
        "price_in",
        "price_out",
        "spending_cap",
        "spent",
        "tested",
    )

    @admin.display(description="campaign")
    def campaign(self, chatbot: Chatbot) -> str:
        return str(chatbot.system.campaign)

    @admin.display(description="file of dialogues")
    def file_of_dialogues(self, chatbot: Chatbot) -> str:
        return chatbot.dialogues.name or ""


@admin.register(Webhook)
class WebhookAdmin(DeletableAdmin):
    """Shows where events are sent, except the secrets; an admin may delete a webhook that is abused."""

    list_display = ["url", "campaign", "is_active", "gone_at", "created_at"]
    list_filter = ["is_active"]
    list_select_related = ["campaign"]
    search_fields = ["url", "campaign__name", "campaign__public_id"]
    fields = ("url", "campaign", "events", "is_active", "gone_at", "created_at")


@admin.register(Delivery)
class DeliveryAdmin(DeletableAdmin):
    """Shows what was sent, and how it was answered."""

    list_display = ["event_id", "event", "webhook", "at", "state", "n_tries", "try_at", "status"]
    list_filter = ["state", "event"]
    list_select_related = ["webhook"]
    search_fields = ["event_id", "webhook__url", "webhook__campaign__public_id"]
    date_hierarchy = "at"


@admin.register(Deletion)
class DeletionAdmin(KeptAdmin):
    """What was deleted or erased, by whom and when."""

    list_display = ["asked_at", "kind", "name", "object_id", "done_by", "done_at"]
    list_filter = ["kind"]
    list_select_related = ["done_by"]
    search_fields = ["name", "object_id", "done_by__email"]
    date_hierarchy = "asked_at"
