"""Making a campaign."""

from uuid import uuid4

from django import forms

from campaigns.models import LONGEST_NAME
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
