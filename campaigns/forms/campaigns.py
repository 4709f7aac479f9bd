"""Making and duplicating a campaign, and its members."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from django import forms

from campaigns.choosing import TASKS, WRITTEN
from campaigns.examples import EXAMPLES, Example
from campaigns.models import LONGEST_NAME, Campaign, Membership
from campaigns.protocols import list_protocols


def _protocols() -> list[tuple[str, str]]:
    return [(protocol.slug, protocol.title) for protocol in list_protocols()]


_STAGES = [(stage.value, stage.label) for stage in Campaign.Status if stage != Campaign.Status.DELETING]


class CampaignFilter(forms.Form):
    """Which campaigns to list, and in which order; empty fields do not filter."""

    search = forms.CharField(
        label="Name", required=False, max_length=LONGEST_NAME, widget=forms.TextInput(attrs={"type": "search"})
    )
    stage = forms.ChoiceField(required=False, choices=[("", "all"), *_STAGES])
    protocol = forms.ChoiceField(required=False, choices=lambda: [("", "all"), *_protocols()])
    sort = forms.ChoiceField(
        label="Sort by",
        required=False,
        choices=[("", ""), ("activity", "last activity"), ("created", "created"), ("name", "name")],
    )
    archived = forms.BooleanField(required=False, help_text="Only those that are archived. Else they are left out.")

    def filters(self) -> dict[str, Any]:
        """Return what was set, of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value}


class CampaignListFilter(CampaignFilter):
    """The same on the page of campaigns, which begins with those in which something happened last."""

    sort = forms.ChoiceField(
        label="Sort by",
        required=False,
        choices=[("", "last activity"), ("created", "created"), ("name", "name")],
    )


class NewForm(forms.Form):
    """A name and a protocol. The id of the campaign comes with the form, so that sending it twice makes one."""

    public_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, required=False)
    name = forms.CharField(
        max_length=LONGEST_NAME,
        required=False,
        help_text="Your name for it; workers do not see it. Empty: the protocol's name.",
        widget=forms.TextInput(attrs={"form": "create"}),  # on the page it is beside the form of the protocols
    )
    protocol = forms.ChoiceField(
        choices=_protocols, widget=forms.RadioSelect, error_messages={"required": "Choose a protocol."}
    )


class ChooseForm(forms.Form):
    """What a protocol is to fit; what is left out fits any."""

    written = forms.ChoiceField(
        label="What did your systems write?",
        required=False,
        choices=[("", "Anything"), *WRITTEN.items()],
        widget=forms.RadioSelect,
    )
    task = forms.ChoiceField(
        label="What shall people do?",
        required=False,
        choices=[("", "Anything"), *TASKS.items()],
        widget=forms.RadioSelect,
    )
    search = forms.CharField(
        label="Or search by name",
        required=False,
        max_length=100,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": "MQM, SSA, RankME, direct assessment"}),
    )


class CopyForm(forms.Form):
    """What to copy: a campaign, by its id, or an example, by its place in the list of them."""

    public_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, required=False)
    copied = forms.ChoiceField(label="Campaign to copy")

    def __init__(self, campaigns: Iterable[Campaign], data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, auto_id="copy_%s")
        own = [(str(each.public_id), each.name) for each in campaigns]
        examples = [(str(place), each.name) for place, each in enumerate(EXAMPLES)]
        groups = [*([("Yours and your colleagues’", own)] if own else []), ("Examples", examples)]
        self.fields["copied"].choices = groups  # type: ignore[attr-defined]

    def example(self) -> Example | None:
        """Return the example that was chosen; None if it is a campaign."""
        chosen = self.cleaned_data["copied"]
        return EXAMPLES[int(chosen)] if chosen.isdecimal() else None


class LaunchForm(forms.Form):
    """The launch of a campaign."""

    is_confirmed = forms.BooleanField(
        required=False, help_text="Launch it although no worker can pass the worker test."
    )


class DuplicateForm(forms.Form):
    """Which kind of copy to make; the id of the copy comes with the form, so that sending it twice makes one."""

    public_id = forms.UUIDField(required=False)
    as_replication = forms.TypedChoiceField(choices=[("1", ""), ("0", "")], coerce=lambda value: value == "1")


class ArchiveForm(forms.Form):
    """Whether a campaign is archived."""

    is_archived = forms.BooleanField(required=False)


class DeleteForm(forms.Form):
    """The name of the campaign that is deleted, typed again; one that was never launched needs none."""

    name = forms.CharField(
        label="Name of the campaign",
        required=False,
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


class MemberForm(forms.Form):
    """Somebody's address and role."""

    email = forms.EmailField(
        label="E-mail address", help_text="They accept or decline by a link. No account is needed yet."
    )
    role = forms.ChoiceField(
        choices=Membership.Role.choices,
        initial=Membership.Role.EDITOR,
        help_text="Owners may do everything, editors everything except members and deleting; viewers only read.",
    )


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=Membership.Role.choices)
