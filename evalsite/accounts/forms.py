"""What users enter about their accounts and tokens."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordResetForm, SetPasswordForm

from evalsite.accounts.models import Scope, User


class ResetForm(PasswordResetForm):
    """Somebody's address. Who was invited, and has no password yet, gets a link, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "E-mail"  # as on the page of signing in

    def get_users(self, email: str) -> Iterator[User]:
        """Return the active account with this address."""
        yield from User.objects.filter(email__iexact=email, is_active=True)


class SignUpForm(SetPasswordForm):
    """A new account of an address that is known."""

    name = forms.CharField(
        label="Your name",
        max_length=150,
        required=False,
        help_text="As colleagues see it.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    field_order = ("name",)

    def __init__(self, email: str, data: Any = None) -> None:
        super().__init__(User(email=email), data)  # a password must not be like the address
        self.fields["new_password1"].label = "Password"
        self.fields["new_password2"].label = "Password again"

    def values(self) -> dict[str, str]:
        """Return what was entered as `create_account` takes it."""
        return {"name": self.cleaned_data["name"], "password": self.cleaned_data["new_password1"]}


class CodeForm(forms.Form):
    """A code of an app, or a recovery code."""

    code = forms.CharField(
        max_length=40,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )


class TokenForm(forms.Form):
    """A new token."""

    name = forms.CharField(max_length=100, help_text="What it is for, such as “notebook of the QG study”.")
    scopes = forms.MultipleChoiceField(
        label="What it may do",
        choices=Scope.choices,
        initial=[Scope.READ],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one."},
        help_text="In your campaigns, as far as your role goes.",
    )
    expires_on = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Until midnight, UTC. Empty: until you revoke it.",
    )

    def values(self) -> dict[str, Any]:
        """Return what was entered as `create_token` takes it."""
        values = dict(self.cleaned_data)
        last = values.pop("expires_on")
        return values | {"expires_at": datetime.combine(last, time.max, UTC) if last else None}
