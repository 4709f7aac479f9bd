"""What browsers send: a worker's rated item, filters of lists."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.models import Assignment
from annotation.pages.contents import ABSTAINED, ANSWER
from annotation.pages.questions import AnswerKey

_MOST_VALUES = 50
_OF_OLD_PAGES = "score_"  # of a page that was open while the site was upgraded
LARGEST_HIT = 2**31 - 1
_DAY_MS = 86_400_000
# The largest value that is believed of each.
TELEMETRY = {
    "shown_ms": _DAY_MS,
    "first_touch_ms": _DAY_MS,
    "n_moves": 10_000,
    "n_focus_lost": 10_000,
    "n_pastes": 10_000,
}


@dataclass(frozen=True)
class SentPage:
    """A position (0 if none was sent), what was answered and why not, by place, and what the browser reports.

    `is_draft`: it is saved to be gone on with. `wants_redirect`: the browser would send the form again if its answer
    were reloaded.
    """

    position: int
    answers: dict[AnswerKey, list[str]] = field(default_factory=dict)
    abstained: dict[AnswerKey, str] = field(default_factory=dict)
    telemetry: dict[str, int] = field(default_factory=dict)
    is_draft: bool = False
    wants_redirect: bool = False


def read_page(sent: QueryDict) -> SentPage:
    """Return what was sent; whether it is all that is needed is for `save_page` to say."""
    return SentPage(
        read_whole(sent.get("position")) or 0,
        {
            key: values[:_MOST_VALUES]
            for name in (_OF_OLD_PAGES, ANSWER)
            for key, values in _by_place(sent, name).items()
        },
        {place: values[-1] for place, values in _by_place(sent, ABSTAINED).items()},
        read_telemetry(sent, TELEMETRY),
        "draft" in sent,
        bool(sent.get("redirect")),
    )


def _by_place(sent: QueryDict, start: str) -> dict[AnswerKey, list[str]]:
    """Return the values that were sent for each criterion at each place, empty ones left out.

    Those of all inputs that are parts of one answer are together: `answer_7.best` and `answer_7.worst`.
    """
    found: dict[AnswerKey, list[str]] = {}
    for name in sent:
        key = name.partition(".")[0]
        numbers = [read_whole(part) for part in key.removeprefix(start).split("_")] if key.startswith(start) else []
        whole = [number for number in numbers if number is not None]
        is_key = 1 <= len(whole) == len(numbers) <= len(AnswerKey._fields)
        if is_key and (values := [value for value in sent.getlist(name) if value]):
            found.setdefault(AnswerKey(*whole), []).extend(values)
    return found


def read_telemetry(sent: QueryDict, largest: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers of these names that were sent, each at most its `largest`."""
    numbers = ((name, read_whole(sent.get(name)), most) for name, most in largest.items())
    return {name: min(number, most) for name, number, most in numbers if number is not None}


def read_whole(text: object) -> int | None:
    """Return a number written in at most nine plain digits."""
    if not isinstance(text, str) or len(text) > 9 or not (text.isascii() and text.isdigit()):
        return None
    return int(text)


class FilterForm(forms.Form):
    """Which rows of a list to show; empty fields do not filter."""

    def filters(self) -> dict[str, Any]:
        """Return the filters of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}


class AssignmentFilter(FilterForm):
    """Which assignments to list. Who may not see workers' names cannot search for them."""

    state = forms.ChoiceField(required=False, choices=[("", "all"), *Assignment.State.choices])
    worker = forms.CharField(required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"}))
    hit = forms.IntegerField(label="HIT", required=False, min_value=1, max_value=LARGEST_HIT)
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


class EraseForm(forms.Form):
    """What of a worker is erased besides the name and ids."""

    feedback = forms.BooleanField(label="Feedback and other texts that they wrote", required=False, initial=True)
    telemetry = forms.BooleanField(
        label="Times and moves that their browser reported",
        required=False,
        initial=True,
        help_text="Seconds of each item are then those between two answers.",
    )
    chats = forms.BooleanField(
        label="What was said in their chats, and the topics",
        required=False,
        help_text="Ratings and numbers of messages stay; results of topics and words change.",
    )
    results = forms.BooleanField(
        label="Stored results that hold the name: delete them and analyse the ratings anew",
        required=False,
        initial=True,
        help_text="Analyses with other settings, or with workers excluded by hand, have to be made again. Results that "
        "are kept hold the name, and so do analyses that are changed from them.",
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, is_live: bool, has_results: bool = True) -> None:
        super().__init__(data)
        if not is_live:
            del self.fields["chats"]
        if not has_results:
            del self.fields["results"]

    def chosen(self) -> frozenset[str]:
        """Return the names of what is erased, of a valid form."""
        return frozenset(name for name, is_wanted in self.cleaned_data.items() if is_wanted)


class FeedbackFilter(forms.Form):
    """Which feedback to list."""

    search = forms.CharField(
        label="Words", required=False, max_length=200, widget=forms.TextInput(attrs={"type": "search"})
    )
