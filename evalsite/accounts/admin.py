from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from evalsite.accounts.models import User


@admin.register(User)
class AccountAdmin(UserAdmin):
    ordering = ["email"]
    list_display = ["email", "name", "is_staff", "is_active", "joined_at"]
    list_filter = ["is_staff", "is_active"]
    search_fields = ["email", "name"]
    readonly_fields = ["last_login", "joined_at"]
    fieldsets = [
        (None, {"fields": ["email", "name", "password"]}),
        ("Rights", {"fields": ["is_active", "is_staff", "is_superuser", "groups"]}),
        ("Times", {"fields": ["last_login", "joined_at"]}),
    ]
    add_fieldsets = [(None, {"classes": ["wide"], "fields": ["email", "name", "password1", "password2"]})]
