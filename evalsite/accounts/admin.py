from django.contrib import admin
from django.contrib.auth.models import Group

from evalsite.accounts.models import User
from evalsite.lib.admin import KeptAdmin

admin.site.unregister(Group)  # no page asks for a group


@admin.register(User)
class AccountAdmin(KeptAdmin):
    """Shows accounts; they are changed on the administrators' own pages, which keep the rules."""

    ordering = ["email"]
    list_display = ["email", "name", "is_staff", "is_active", "joined_at"]
    list_filter = ["is_staff", "is_active"]
    search_fields = ["email", "name"]
    fields = ("email", "name", "is_active", "is_staff", "is_superuser", "last_login", "joined_at")
