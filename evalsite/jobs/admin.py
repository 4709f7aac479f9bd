from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model

from evalsite.jobs.models import Job, WorkerHeartbeat

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Model]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """Shows what the workers write; nobody edits it by hand."""

    def has_add_permission(self, request: Any) -> bool:
        return False

    def has_change_permission(self, request: Any, obj: Any = None) -> bool:
        return False


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = [
        "id",
        "kind",
        "owner",
        "status",
        "stage",
        "attempts",
        "created_at",
        "finished_at",
        "error_code",
    ]
    list_filter = ["status", "kind"]
    list_select_related = ["owner"]
    search_fields = ["id", "kind", "owner__email"]
    date_hierarchy = "created_at"


@admin.register(WorkerHeartbeat)
class WorkerHeartbeatAdmin(ReadOnlyAdmin):
    list_display = ["name", "last_seen_at"]
