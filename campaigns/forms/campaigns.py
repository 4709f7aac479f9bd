"""Making and duplicating a campaign, and its members."""

from uuid import uuid4

from django import forms

from campaigns.models import LONGEST_NAME, Membership
from campaigns.protocols import list_protocols


class NewForm(forms.Form):
    """A protocol and a name. The id of the campaign comes with the form, so that sending it twice makes one."""

    public_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, required=False)
    protocol = forms.ChoiceField(widget=forms.RadioSelect, error_messages={"required": "Choose a protocol."})
    name = forms.CharField(
        max_length=LONGEST_NAME,
        required=False,
        help_text="What you will know it by; workers do not see it. Left out: the protocol's name.",
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        protocols = list_protocols()
        self.fields["protocol"].choices = [(protocol.slug, protocol.title) for protocol in protocols]  # type: ignore[attr-defined]


class DuplicateForm(forms.Form):
    """Which kind of copy to make; the id of the copy comes with the form, so that sending it twice makes one."""

    public_id = forms.UUIDField(required=False)
    as_replication = forms.TypedChoiceField(choices=[("1", ""), ("0", "")], coerce=lambda value: value == "1")


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
