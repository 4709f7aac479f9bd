"""What administrators enter: people, and filters of lists."""

from typing import Any

from django import forms

from evalsite.accounts.models import LONGEST_ADDRESS, User
from evalsite.jobs.handlers import list_kinds
from evalsite.jobs.models import Job

_LONGEST_NAME = User._meta.get_field("name").max_length
_SEARCH = {"type": "search", "autocomplete": "off", "spellcheck": "false"}
PEOPLE = {
    "": "all",
    "active": "active",
    "administrators": "administrators",
    "invited": "invited, without a password",
    "deactivated": "deactivated",
}


class PersonForm(forms.Form):
    """Name and address of an account."""

    email = forms.EmailField(label="E-mail address", max_length=LONGEST_ADDRESS, help_text="To sign in with.")
    name = forms.CharField(max_length=_LONGEST_NAME, required=False, help_text="As other members of campaigns see it.")


class InvitationForm(PersonForm):
    """A new account."""

    is_administrator = forms.BooleanField(
        label="Administrator", required=False, help_text="Sees these pages, too. Researchers do not need it."
    )


class PeopleFilter(forms.Form):
    """Which accounts to list."""

    search = forms.CharField(
        label="Name or address", required=False, max_length=LONGEST_ADDRESS, widget=forms.TextInput(attrs=_SEARCH)
    )
    state = forms.ChoiceField(label="Who", required=False, choices=list(PEOPLE.items()))


class JobFilter(forms.Form):
    """Which jobs to list."""

    status = forms.ChoiceField(label="State", required=False, choices=[("", "all"), *Job.Status.choices])
    kind = forms.ChoiceField(required=False)
    search = forms.CharField(
        label="Number of the job, or address of its owner",
        required=False,
        max_length=LONGEST_ADDRESS,
        widget=forms.TextInput(attrs=_SEARCH),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        kind = self.fields["kind"]
        assert isinstance(kind, forms.ChoiceField)
        kind.choices = [("", "all"), *list_kinds().items()]
