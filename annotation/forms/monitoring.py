"""What the lists of assignments and of feedback are filtered by."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from annotation.chat.flags import FLAGS
from annotation.models import Assignment, Conversation
from campaigns.models import Chatbot

_LARGEST_HIT = 2**31 - 1


class AssignmentFilter(forms.Form):
    """Which assignments to list; empty fields do not filter. Who may not see workers' names does not look for them."""

    state = forms.ChoiceField(required=False, choices=[("", "all"), *Assignment.State.choices])
    worker = forms.CharField(required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"}))
    hit = forms.IntegerField(label="HIT", required=False, min_value=1, max_value=_LARGEST_HIT)
    code = forms.CharField(
        label="Completion code",
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Mapping[str, Any], *, with_names: bool) -> None:
        super().__init__(data)
        if not with_names:
            del self.fields["worker"]

    def clean_code(self) -> str:
        """Return the code without what crept in when it was copied."""
        return "".join(c for c in self.cleaned_data["code"] if c.isalnum())

    def filters(self) -> dict[str, Any]:
        """Return the filters of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}


class FeedbackFilter(forms.Form):
    """Which feedback to list."""

    search = forms.CharField(
        label="Words", required=False, max_length=200, widget=forms.TextInput(attrs={"type": "search"})
    )


class ChatFilter(forms.Form):
    """Which chats to list; empty fields do not filter. Workers are looked for by the names that the user may see."""

    search = forms.CharField(
        label="Words", required=False, max_length=200, widget=forms.TextInput(attrs={"type": "search"})
    )
    chatbot = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    worker = forms.CharField(required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"}))
    hit = forms.IntegerField(label="HIT", required=False, min_value=1, max_value=_LARGEST_HIT)
    state = forms.ChoiceField(
        required=False, choices=[("", "all"), ("running", "Running now"), *Conversation.State.choices]
    )
    flag = forms.ChoiceField(
        required=False, choices=[("", "all"), *((flag.name, flag.title) for flag in FLAGS.values())]
    )

    def __init__(self, data: Mapping[str, Any], chatbots: Iterable[Chatbot]) -> None:
        super().__init__(data)
        self.fields["chatbot"].choices = [("", "all"), *((each.pk, str(each)) for each in chatbots)]  # type: ignore[attr-defined]

    def filters(self) -> dict[str, Any]:
        """Return the filters of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
