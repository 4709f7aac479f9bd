from typing import TYPE_CHECKING, Any

from django.contrib import admin

from campaigns.models import Campaign, Membership

if TYPE_CHECKING:
    CampaignBase = admin.ModelAdmin[Campaign]
    MembershipBase = admin.TabularInline[Membership, Campaign]
else:
    CampaignBase, MembershipBase = admin.ModelAdmin, admin.TabularInline


_SHOWN = ("name", "public_id", "protocol", "status", "replicates", "created_at", "launched_at", "closed_at")


class Memberships(MembershipBase):
    """An admin may give a campaign whose owner has left a new one."""

    model = Membership
    autocomplete_fields = ["user"]
    extra = 0


@admin.register(Campaign)
class CampaignAdmin(CampaignBase):
    """Shows campaigns; they are made, changed and deleted on their own pages, which keep the rules."""

    list_display = ["name", "protocol", "status", "created_at", "launched_at", "closed_at"]
    list_filter = ["status", "protocol"]
    search_fields = ["name", "public_id", "memberships__user__email"]
    date_hierarchy = "created_at"
    fields = _SHOWN
    readonly_fields = _SHOWN
    inlines = [Memberships]

    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_delete_permission(self, request: Any, obj: Any = None) -> bool:
        return False
