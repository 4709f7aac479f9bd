"""Members and their roles."""

from django import forms

from campaigns.models import Membership


class MemberForm(forms.Form):
    """Somebody's address and role."""

    email = forms.EmailField(label="E-mail address", help_text="Of an account on this site.")
    role = forms.ChoiceField(
        choices=Membership.Role.choices,
        initial=Membership.Role.EDITOR,
        help_text="Owners do everything; editors all but members and deleting; viewers look.",
    )


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Membership.Role.choices)
