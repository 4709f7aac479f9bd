"""The shape of what a researcher sends to the page of metrics."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from analysis.metrics.kinds import Data, MetricKind, list_kinds
from analysis.metrics.neural import SourceField
from analysis.web.queries.metrics import ReferenceChoice
from campaigns.contracts.options import Option
from evalsite.lib.tables.formats import READABLE, SUFFIXES
from evalsite.web import SizedFileField


class ScoresUploadForm(forms.Form):
    """A file of scores."""

    file = SizedFileField(
        label="File of scores",
        help_text=f"{READABLE}: metric, system, source and score in columns of these names.",
        advice="Save it as Parquet, which is many times smaller.",
        widget=forms.FileInput(attrs={"accept": SUFFIXES}),
    )


def _kinds() -> list[tuple[str, str]]:
    return [(kind.slug, ", ".join(kind.metrics)) for kind in list_kinds()]


class MetricsForm(forms.Form):
    """Which metrics are computed, and what the reference is; the options of each kind follow.

    `lacking` holds the kinds that cannot be computed of these data, each with what is missing.
    """

    kinds = forms.MultipleChoiceField(
        label="Metrics", choices=_kinds, widget=forms.CheckboxSelectMultiple, help_text="Slugs of the kinds of metrics."
    )
    reference = forms.ChoiceField(
        required=False, help_text="What the outputs are compared with, if a metric needs a reference."
    )
    options = forms.JSONField(
        required=False, widget=forms.HiddenInput, help_text="Options of each kind, by its slug: an object of objects."
    )

    def __init__(self, references: Sequence[ReferenceChoice], data: Data | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.listed: list[MetricKind] = list_kinds()
        data = data or Data(has_references=False)
        lacks = [(kind, kind.lacks(data)) for kind in self.listed]
        self.lacking = [(kind, missing) for kind, missing in lacks if missing]
        possible = [kind for kind, missing in lacks if not missing]
        kinds = self.fields["kinds"]
        assert isinstance(kinds, forms.MultipleChoiceField)
        kinds.help_text = ""
        kinds.initial = [kind.slug for kind in possible if kind.is_default]
        # Others are not offered; for one that is sent all the same, the service says what is missing.
        kinds.widget.choices = [(kind.slug, ", ".join(kind.metrics)) for kind in possible]
        reference = self.fields["reference"]
        assert isinstance(reference, forms.ChoiceField)
        reference.choices = [(choice.value, choice.label) for choice in references]
        for kind in self.listed:
            for name, option in kind.Options.plain().items():
                self.fields[f"{kind.slug}-{name}"] = _offered(option, data)
        self._possible = possible

    def clean_options(self) -> dict[str, Any]:
        """Refuse what is no object of objects."""
        found = self.cleaned_data["options"] or {}
        if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
            raise forms.ValidationError("Send an object with an object of options for each kind.")
        return found

    def chosen_options(self) -> dict[str, dict[str, Any]]:
        """Return the options of each kind, by slug: as the page has them, or as they were sent in one object."""
        data = self.cleaned_data
        return {
            kind.slug: {
                name: data[f"{kind.slug}-{name}"] for name in kind.Options.plain() if data[f"{kind.slug}-{name}"]
            }
            | data["options"].get(kind.slug, {})
            for kind in self.listed
        }

    def option_groups(self) -> list[tuple[MetricKind, list[BoundField]]]:
        """Return the fields of the options, by kind; kinds without options are left out."""
        return [
            (kind, [self[f"{kind.slug}-{name}"] for name in kind.Options.plain()])
            for kind in self._possible
            if kind.Options.plain()
        ]


def _offered(option: Option, data: Data) -> forms.Field:
    """Return the field of an option; one that names a field of the sources offers those that there are.

    None has to be sent: the kind may not be wanted, and says itself what it needs.
    """
    field = deepcopy(option)
    field.required = False
    if isinstance(option, SourceField):
        field.widget = forms.Select(choices=list(data.fields.items()))
    return field
