"""What browsers send about raters: whom to invite, which to list, an address."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.forms import FilterForm
from annotation.raters.lists import MOST_BYTES, EntryProblem, RaterEntry, read_rater_file, read_raters
from annotation.raters.queries import RaterState
from annotation.raters.reminder_text import PLACEHOLDERS, SUBJECT, TEXT, find_unknown_placeholders, has_placeholder
from evalsite.lib.errors import DomainError

_ERRORS_SHOWN = 10
_SUFFIXES = ".csv,.tsv,.txt,.xlsx"
_WINDOWS = (
    "The file is not UTF-8. It was read as Windows-1252, which Excel on Windows writes. Check the letters in the field "
    "below, then add the raters."
)


def as_errors(problems: Sequence[EntryProblem]) -> list[forms.ValidationError]:
    """Return the first problems of a list as errors of its field, and how many more there are."""
    n_more = len(problems) - _ERRORS_SHOWN
    more = [forms.ValidationError(f"And {n_more} more.", code="more")] if n_more > 0 else []
    return [forms.ValidationError(str(each), code=each.code) for each in problems[:_ERRORS_SHOWN]] + more


class RatersForm(forms.Form):
    """A list of raters, pasted or as a file. What is refused in a file is put into the field, to be corrected there."""

    names = forms.CharField(
        label="Raters",
        help_text="One rater on each line: a name, an e-mail address, or <code>name,email</code>. A first line such "
        "as <code>name,email,pool,native language</code> says what the columns are.",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "autocomplete": "off", "spellcheck": "false"}),
    )
    file = forms.FileField(
        label="Or a file",
        help_text="CSV or Excel (.xlsx) with the columns <code>name</code> and <code>email</code>, at most 1 MB.",
        required=False,
        widget=forms.FileInput(attrs={"accept": _SUFFIXES}),
    )

    attributes = forms.CharField(
        label="Further columns to keep",
        help_text="With commas between them, such as <code>pool, native language</code>: attributes of the raters, by "
        "which results compare systems. They stand beside answers in files, where names do not.",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files)
        self.entries: list[RaterEntry] = []
        self._text = ""

    def clean(self) -> dict[str, Any]:
        """Read the list; refuse lines that are no rater, by number."""
        cleaned = super().clean() or {}
        file = cleaned.get("file")
        if self.errors:
            return cleaned
        self._text = cleaned["names"]
        if file:
            if self._text.strip():
                raise forms.ValidationError("Paste a list or choose a file, not both.", code="both")
            try:
                self._text, is_windows = self._read(file)
            except DomainError as error:
                self.add_error("file", forms.ValidationError(error.message, code=error.code))
                return cleaned
            if is_windows:
                self.show_sent()
                raise forms.ValidationError(_WINDOWS, code="encoding")
        kept = [name for name in map(str.strip, cleaned["attributes"].split(",")) if name]
        self.entries, problems = read_raters(self._text, kept)
        if not self.entries and not problems:
            self.add_error("names", forms.ValidationError("Write at least one rater.", code="required"))
        elif problems:
            self.show_sent()
            self.add_error("names", forms.ValidationError(as_errors(problems)))
        return cleaned

    @staticmethod
    def _read(file: Any) -> tuple[str, bool]:
        if file.size > MOST_BYTES:
            raise DomainError("too_large", "The file has more than 1 MB. Leave out other columns, or split it.")
        return read_rater_file(file.read(), file.name)

    def show_sent(self) -> None:
        """Put the list that was read into the field, so that it can be corrected there."""
        self.data = {**self.data, "names": self._text}


class RaterFilter(FilterForm):
    """Which raters to list."""

    state = forms.ChoiceField(
        required=False, choices=[("", "all"), ("unfinished", "Not begun or in progress"), *RaterState.choices]
    )
    search = forms.CharField(
        label="Name or e-mail", required=False, max_length=255, widget=forms.TextInput(attrs={"type": "search"})
    )


class EmailForm(forms.Form):
    """The e-mail address of a rater; empty if there is none."""

    email = forms.EmailField(
        label="E-mail address", required=False, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )


class ReminderForm(forms.Form):
    """A mail to raters who have not finished. The token tells a form that is sent twice from another reminder."""

    token = forms.UUIDField(widget=forms.HiddenInput)
    subject = forms.CharField(max_length=200, initial=SUBJECT, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    text = forms.CharField(
        max_length=10_000, initial=TEXT, strip=False, widget=forms.Textarea(attrs={"rows": 12, "autocomplete": "off"})
    )

    def clean_subject(self) -> str:
        """Refuse placeholders that are unknown, and the link: subjects are shown in lists and logs."""
        subject = " ".join(self.cleaned_data["subject"].split())
        _refuse_unknown(subject)
        if has_placeholder(subject, "link"):
            raise forms.ValidationError("Write {link} into the text, not into the subject.", code="link")
        return subject

    def clean_text(self) -> str:
        """Refuse placeholders that are unknown, and a text without the link."""
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        _refuse_unknown(text)
        if not has_placeholder(text, "link"):
            raise forms.ValidationError("Write {link} where each rater’s own link belongs.", code="no_link")
        return text


def _refuse_unknown(text: str) -> None:
    if unknown := find_unknown_placeholders(text):
        shown, known = (", ".join(f"{{{name}}}" for name in names) for names in (unknown, PLACEHOLDERS))
        raise forms.ValidationError(f"{shown} is no placeholder. There are {known}.", code="placeholder")
