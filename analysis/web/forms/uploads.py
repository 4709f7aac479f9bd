"""A file of responses that a researcher sends, and how it is read."""

from typing import Any

from django import forms

from analysis.data.choices import Twice
from analysis.data.finding import read_chosen
from analysis.data.layout import SHAPES
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import Opening
from evalsite.lib.tables.formats import READABLE, SUFFIXES
from evalsite.web import SizedFileField, SizedFilesField

_DELIMITERS = ((",", "A comma"), (";", "A semicolon"), ("\t", "A tab"), ("|", "A bar"))


def _between_commas(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


class UploadForm(forms.Form):
    """A ratings file."""

    title = forms.CharField(max_length=200, required=False, help_text="Your name for it. Empty: the file's name.")
    file = SizedFileField(
        label="Ratings file",
        help_text=f"{READABLE}: names of columns in the first row.",
        advice="Save it as Parquet, which is many times smaller, or analyse it on the command line: “evalsite "
        "analyse” has no limit.",
        widget=forms.FileInput(attrs={"accept": SUFFIXES}),
    )
    columns = forms.CharField(
        label="Columns that have other names",
        required=False,
        widget=forms.Textarea({"rows": 2, "placeholder": "system=model\nsource=question"}),
        help_text="One a line: what it is, and its name in the tasks’ data. score=… says which answers are meant.",
    )
    items = SizedFileField(
        label="File of the items that were annotated",
        required=False,
        help_text="Potato writes only the ids and texts of its items.",
        advice="Leave out the columns that say nothing about system and source.",
    )

    more = SizedFilesField(
        label="Further files",
        required=False,
        help_text="Read together with the first: more answers, or what tools such as doccano write for each annotator.",
        advice="Analyse them on the command line.",
    )
    shape = forms.ChoiceField(
        label="What a row of scores is", required=False, choices=[("", "What it looks like"), *SHAPES.items()]
    )
    words = forms.CharField(
        label="Words of the answers",
        required=False,
        widget=forms.Textarea({"rows": 2}),
        help_text="One a line, the lowest first, if they are of a scale that is not known here.",
    )
    missing = forms.CharField(
        label="Words that say that an answer is missing",
        required=False,
        help_text="Beside NA, N/A, nan, null, None and -, with commas between them.",
    )
    decimal = forms.ChoiceField(
        label="Decimal mark", required=False, choices=[("", "What it looks like"), (".", "A point"), (",", "A comma")]
    )
    delimiter = forms.ChoiceField(
        label="What is between cells of a text file", required=False, choices=[("", "What it looks like"), *_DELIMITERS]
    )
    sheet = forms.CharField(
        label="Sheet of a workbook", required=False, help_text="Its name. Empty: the first one with rows."
    )
    by = forms.CharField(
        label="Columns that say the task of a row",
        required=False,
        help_text="Such as the language pair, with commas between them.",
    )
    groups = forms.CharField(
        label="Columns by whose groups systems may be compared",
        required=False,
        help_text="Such as a domain, with commas between them; of a table that is made from the file. Other files keep "
        "all their columns.",
    )
    twice = forms.ChoiceField(
        label="Answers that stand twice",
        required=False,
        choices=[("", "Refuse the file"), *((each.value, f"The {each} counts") for each in Twice)],
    )
    pool = forms.BooleanField(
        label="Several tasks, such as language pairs, are one",
        required=False,
        help_text="Else each becomes a file of its own, with a ranking of its own.",
    )

    def clean_words(self) -> tuple[str, ...]:
        """Return the words of answers, lowest first."""
        return tuple(line.strip() for line in self.cleaned_data["words"].splitlines() if line.strip())

    def clean(self) -> dict[str, Any]:
        """Return the fields of an upload."""
        data = super().clean() or {}
        data["splits_tasks"] = not data.pop("pool", False)
        opening = Opening(**{name: data.pop(name, "") for name in ("delimiter", "sheet")})
        return data if opening.says_nothing else data | {"encoding": opening}

    def clean_missing(self) -> tuple[str, ...]:
        """Return further words for missing answers."""
        return _between_commas(self.cleaned_data["missing"])

    def clean_by(self) -> tuple[str, ...]:
        """Return the columns that say the task."""
        return _between_commas(self.cleaned_data["by"])

    def clean_groups(self) -> tuple[str, ...]:
        """Return the columns of groups."""
        return _between_commas(self.cleaned_data["groups"])

    def clean_columns(self) -> dict[str, str]:
        """Return the columns that were named, by what they are."""
        try:
            return read_chosen([line for line in self.cleaned_data["columns"].splitlines() if line.strip()])
        except DomainError as error:
            raise forms.ValidationError(error.message) from None
