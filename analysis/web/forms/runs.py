"""The shape of what a researcher sends to the analysis pages."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from django import forms
from django.forms.formsets import BaseFormSet, formset_factory
from django.http import QueryDict

from analysis.data.ratings.columns import COLUMNS, REQUIRED
from analysis.data.ratings.scales import FULL, SHORT, Observed, Scale
from analysis.data.ratings.scales import words as scale_words
from analysis.methods import ResponseMethod
from analysis.methods.settings import LONGEST_NAME, LONGEST_STATEMENT, AnalysisSettings, RatedCriterion
from analysis.results.paper.questions import LONGEST_ANSWER, Question
from analysis.results.result import EXCLUDED
from analysis.results.words import PROCEDURES, UNITS, verdicts_of
from analysis.stats.procedures import Procedure
from analysis.web.queries.workers_now import ACTIVE, SUSPICIOUS
from campaigns.design.composition import ANALYSED_KINDS
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.forms.partial import NamesField, PartialForm
from evalsite.lib.errors import DomainError

_OTHER = "other"
_BOTH = (
    "Choose one: a column of scores, with one of criteria if there are several (one rating a row), or a column of "
    "scores for each criterion (one item a row)."
)
_MEANINGS = {
    "worker": "Who rated.",
    "assignment": "One worker's work on one HIT. If left out: all that a worker did in a HIT.",
    "hit": "The set of items that a worker was given.",
    "position": "Place of the item in the HIT. If left out: an item is one source, system and kind.",
    "source": "What the output is for (passage, question, segment …). Paired worker tests need it.",
    "system": "Whose output was rated.",
    "kind": "ordinary, degraded, repeat or reference. If left out: all are ordinary; no worker test can be applied.",
    "criterion": "What was rated. If left out: the protocol's only criterion.",
    "score": "As the worker gave it; negative criteria not reversed.",
    "pool": "The pool that the worker belongs to, such as crowd or experts: pools are compared.",
    "turn": "The reply in a chat that was rated; empty where the whole chat was.",
}


class MappingForm(forms.Form):
    """Which column of the file is which column of the long table."""

    def __init__(self, columns: Iterable[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        columns = list(columns)
        choices = [("", "– not in the file –"), *((name, name) for name in columns)]
        for name in COLUMNS:
            self.fields[name] = forms.ChoiceField(
                label="HIT" if name == "hit" else name.capitalize(),
                choices=choices,
                required=name in REQUIRED and name != "score",
                help_text=_MEANINGS[name],
            )
        self.fields["scores"] = forms.MultipleChoiceField(
            label="Scores in a column for each criterion",
            choices=[(name, name) for name in columns if name],
            required=False,
            widget=forms.CheckboxSelectMultiple,
            help_text="Instead of criterion and score: columns with the names of the criteria. An empty cell is "
            "no rating.",
        )

    def clean(self) -> dict[str, Any]:
        """Refuse a file without scores, and one with scores of both kinds."""
        data = super().clean() or {}
        if not data.get("score") and not data.get("scores") and not self.errors:
            self.add_error("score", "Choose the column of the scores, or a column for each criterion.")
        elif data.get("scores") and (data.get("score") or data.get("criterion")):
            self.add_error(None, _BOTH)
        return data

    def chosen(self) -> dict[str, Any]:
        """Return the columns that were chosen, by what they are used for."""
        return {name: column for name, column in self.cleaned_data.items() if column}

    def roles(self) -> dict[str, str]:
        """Return what each column of the file is used for, as the form shows it."""
        roles = {self[name].value(): name for name in COLUMNS if self[name].value()}
        return roles | dict.fromkeys(self["scores"].value() or (), "score")


class ScaleForm(forms.Form):
    """On which scale the scores of a file are. `observed` is what is odd about them; None if they are 0–100."""

    low = forms.FloatField(label="from", required=False, widget=forms.NumberInput(attrs={"step": "any"}))
    high = forms.FloatField(label="to", required=False, widget=forms.NumberInput(attrs={"step": "any"}))
    asked = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, observed: Observed | None, data: Any = None, *, kept: Sequence[float] | None = None) -> None:
        proposal = observed.proposal if observed else FULL
        scales = (*SHORT, proposal) if proposal and proposal != FULL else SHORT
        self._scales = {_ends(scale): scale for scale in scales}
        initial: dict[str, Any] = {"asked": self._question(observed)}
        if chosen := kept or proposal:
            initial |= {"scale": _ends(chosen)}
            if _ends(chosen) not in (_ends(FULL), *self._scales):
                initial |= {"scale": _OTHER, "low": chosen[0], "high": chosen[1]}
        super().__init__(data, initial=initial)
        self.observed = observed
        self.fields["scale"] = forms.ChoiceField(
            label="The scores are on a scale from",
            choices=[
                (_ends(FULL), "0 to 100, as they are"),
                *((ends, f"{scale_words(scale)}, mapped to 0–100") for ends, scale in self._scales.items()),
                (_OTHER, "another one, mapped to 0–100:"),
            ],
            widget=forms.RadioSelect,
            required=observed is not None,
        )

    def is_answer(self) -> bool:
        """Return whether what was sent answers the question that these scores raise."""
        return self.data.get("asked", "") == self._question(self.observed)

    def clean(self) -> dict[str, Any]:
        """Refuse another scale without its ends."""
        data = super().clean() or {}
        low, high = data.get("low"), data.get("high")
        if data.get("scale") == _OTHER and (low is None or high is None or not -math.inf < low < high < math.inf):
            self.add_error("scale", "Write the least and the greatest score that a worker could give.")
        return data

    def chosen(self) -> Scale | None:
        """Return the scale; None if nothing is odd about the scores and nothing else was chosen."""
        data = self.cleaned_data
        if data["scale"] == _OTHER:
            return data["low"], data["high"]
        return self._scales.get(data["scale"], FULL if self.observed else None)

    @staticmethod
    def _question(observed: Observed | None) -> str:
        return f"{observed.low:g} {observed.high:g}" if observed else ""


def _ends(scale: Sequence[float]) -> str:
    return f"{scale[0]:g} {scale[1]:g}"


def _alpha(help_text: str = "") -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"})
    return forms.FloatField(label="α", min_value=0.0001, max_value=0.9999, help_text=help_text, widget=widget)


# Fields of AnalysisSettings.
_SETTING = {"worker_test": "preset", "alpha": "alpha", "unit": "unit"}


class ChangeForm(forms.Form):
    """What is often changed on a results page, as far as its method takes it."""

    worker_test = forms.ChoiceField(choices=[(slug, test.name) for slug, test in WORKER_TESTS.items()])
    alpha = _alpha()
    unit = forms.ChoiceField(choices=[(slug, name) for slug, (name, _) in UNITS.items()])
    comparison = forms.ChoiceField(choices=[(slug, name) for slug, (name, _) in PROCEDURES.items()], required=False)
    groups = NamesField(
        label="Compare systems by groups of",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Columns that say more of sources, outputs or workers. Numbers are cut into quarters.",
    )

    def __init__(self, method: ResponseMethod[Any], *args: Any, columns: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in set(self.fields) - method.takes:
            del self.fields[name]
        if "groups" in self.fields:
            cast(NamesField, self.fields["groups"]).choices = [(name, name) for name in columns]
            if not columns and not self.data.get("groups"):  # those that were sent are refused
                del self.fields["groups"]

    @staticmethod
    def initial_of(settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form's values for settings as a run stores them."""
        test = settings["worker_test"]
        comparison = settings.get("comparison", Procedure.STUDIES.value)
        chosen = {"worker_test": test["preset"], "alpha": test["alpha"], "unit": settings["unit"]}
        return chosen | {"comparison": comparison, "groups": settings.get("groups", [])}

    def changes(self) -> dict[str, Any]:
        """Return what was sent as fields of AnalysisSettings."""
        data = self.cleaned_data
        chosen = {_SETTING[name]: data[name] for name in ("worker_test", "alpha", "unit") if name in data}
        if "comparison" in data:
            chosen["comparison"] = data["comparison"] or Procedure.CLUSTERED.value
        if "groups" in data:
            chosen["groups"] = tuple(data["groups"])
        return chosen


class ProtocolForm(ChangeForm):
    """Settings of an analysis apart from its criteria."""

    worker_test = forms.ChoiceField(
        choices=[(slug, f"{test.name}: {test.meaning}") for slug, test in WORKER_TESTS.items()],
        help_text="Careful workers rate degraded items lower; others do not count.",
    )
    alpha = _alpha("A worker passes if the test's p lies below it.")
    unit = forms.ChoiceField(
        label="Unit of analysis",
        choices=[(slug, f"{name}: {meaning}") for slug, (name, meaning) in UNITS.items()],
        help_text="What one observation is when systems are compared.",
    )
    comparison = forms.ChoiceField(
        label="Comparison of systems",
        choices=[(slug, f"{name}: {meaning}") for slug, (name, meaning) in PROCEDURES.items()],
        required=False,
        help_text="Where ratings share workers and sources. The rank-sum test of the studies is always beside it.",
    )
    standardised_kinds = forms.MultipleChoiceField(
        label="Kinds behind each worker's mean and standard deviation",
        choices=[(name, name) for name in ANALYSED_KINDS],
        widget=forms.CheckboxSelectMultiple,
        help_text="z is a score minus the worker's mean, divided by the worker's standard deviation.",
    )

    def __init__(self, method: ResponseMethod[Any], *args: Any, **kwargs: Any) -> None:
        super().__init__(method, *args, **kwargs)
        if method.options:
            help_text = f"As JSON, such as {{}}. There are: {', '.join(method.options)}."
            self.fields["options"] = forms.JSONField(
                label="Options of the method", required=False, help_text=help_text, widget=forms.Textarea({"rows": 2})
            )

    def clean_options(self) -> dict[str, Any]:
        """Take an empty field for no options."""
        options = {} if self.cleaned_data["options"] is None else self.cleaned_data["options"]
        if not isinstance(options, dict):
            raise forms.ValidationError("Write an object, such as {}.")
        return options

    @staticmethod
    def initial_of(settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the form's values for settings as a run stores them."""
        more = {"standardised_kinds": settings["standardised_kinds"], "options": settings.get("options", {})}
        return ChangeForm.initial_of(settings) | more

    def changes(self) -> dict[str, Any]:
        """Return what was sent as fields of AnalysisSettings."""
        data, more = self.cleaned_data, {}
        if "standardised_kinds" in data:
            more["standardised_kinds"] = tuple(data["standardised_kinds"])
        if "options" in data:
            more["options"] = data["options"]
        return super().changes() | more


class AnalysedCriterionForm(forms.Form):
    """One criterion; without a name it is left out."""

    name = forms.CharField(max_length=LONGEST_NAME, required=False)
    statement = forms.CharField(max_length=LONGEST_STATEMENT, required=False)
    is_negative = forms.BooleanField(label="Negative", required=False)
    is_in_worker_test = forms.BooleanField(label="In worker test", required=False)


class CriteriaForms(BaseFormSet):
    """The criteria of a protocol."""

    def criteria(self, before: AnalysisSettings) -> tuple[RatedCriterion, ...]:
        """Return the named criteria, in order; those that keep their name keep their scale."""
        scales = {criterion.name: criterion.scale for criterion in before.criteria}
        named = [form.cleaned_data for form in self.forms if form.cleaned_data.get("name")]
        return tuple(RatedCriterion(**each, scale=scales.get(each["name"])) for each in named)


def criteria_initial(settings: AnalysisSettings) -> list[dict[str, Any]]:
    """Return the criteria of these settings as a CriteriaFormSet takes them."""
    return [asdict(criterion) for criterion in settings.criteria]


CriteriaFormSet = cast(
    type[CriteriaForms],
    formset_factory(AnalysedCriterionForm, formset=CriteriaForms, extra=2, max_num=50, absolute_max=60),
)


class ExclusionForm(forms.Form):
    """A worker to take out by hand, and why; or one who was, to count again."""

    worker = forms.CharField(max_length=500, strip=False, widget=forms.HiddenInput)
    reason = forms.CharField(max_length=500, required=False)
    again = forms.BooleanField(required=False)


class FilterForm(forms.Form):
    """What a page of results shows, as its address says it; `defaults` are what it shows by itself."""

    use_required_attribute = False

    def __init__(self, sent: QueryDict, **defaults: str) -> None:
        super().__init__({**defaults, **sent.dict()}, auto_id="%s")

    def offer(self, field: str, choices: Mapping[str, str]) -> None:
        """Set the choices of a field, {value: words}."""
        cast(forms.ChoiceField, self.fields[field]).choices = list(choices.items())


_ORDERS = {
    "p": "p, most careful first",
    "-p": "p, least careful first",
    "-n_ratings": "most ratings",
    "sd": "least spread",
    "worker": "name",
}


class WorkerFilter(FilterForm):
    """Which workers of a run with this worker test to list, in which order. Without a test there is no p."""

    state = forms.ChoiceField(label="Verdict", required=False)
    order = forms.ChoiceField()
    search = forms.CharField(label="Worker", required=False, widget=forms.SearchInput)

    def __init__(self, worker_test: str, sent: QueryDict) -> None:
        has_p = worker_test != NO_TEST
        super().__init__(sent, order="p" if has_p else "worker")
        self.offer("state", {"": "all", **verdicts_of(worker_test), EXCLUDED: EXCLUDED})
        self.offer("order", {key: words for key, words in _ORDERS.items() if has_p or key.lstrip("-") != "p"})


class LiveWorkerFilter(FilterForm):
    """Which workers of a campaign with this worker test to list."""

    show = forms.ChoiceField(required=False)
    search = forms.CharField(label="Worker", required=False, widget=forms.SearchInput)

    def __init__(self, worker_test: str, sent: QueryDict) -> None:
        super().__init__(sent)
        verdicts = verdicts_of(worker_test)
        self.offer("show", {"": "all", **verdicts, SUSPICIOUS: "suspicious", ACTIVE: "rating now"})


class AnswersForm(PartialForm):
    """Answers to the questions of a datasheet or data statement, of which any may be sent."""

    def __init__(self, questions: Iterable[Question], data: Mapping[str, Any] | None = None) -> None:
        found = list(questions)
        written = {each.key: each.answer if each.origin == "researcher" else "" for each in found}
        super().__init__(data, initial=written)
        for each in found:
            self.fields[each.key] = forms.CharField(
                label=f"{each.number} {each.text}",
                required=False,
                max_length=LONGEST_ANSWER,
                widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
            )

    def refuse(self, error: DomainError) -> None:
        """Add what was refused to the form as a whole."""
        self.add_error(None, error.message)


class AnswerForm(forms.Form):
    """An answer to one question of the datasheet or data statement."""

    question = forms.CharField(max_length=80, help_text="Its key.")
    answer = forms.CharField(
        required=False, max_length=LONGEST_ANSWER, help_text="Empty: what the campaign says, if it says anything."
    )


class ShareForm(forms.Form):
    """A link that shows results without signing in."""

    note = forms.CharField(label="For whom", max_length=200, required=False, help_text="Only members see it.")
    ends_on = forms.DateField(
        label="Last day",
        required=False,
        help_text="In UTC. Empty: until it is revoked.",
        widget=forms.DateInput(attrs={"type": "date"}),
    )
    field_of_code = {"ended": "ends_on"}


class ComparisonFilter(FilterForm):
    """On which criterion, and by which numbers, to show the tests between systems."""

    criterion = forms.ChoiceField()
    value = forms.ChoiceField(label="Show")

    def __init__(self, criteria: Sequence[str], sent: QueryDict) -> None:
        super().__init__(sent, criterion=criteria[0], value="p")
        self.offer("criterion", {name: name for name in criteria})
        self.offer(
            "value",
            {
                "p": "p",
                "holm": "p, corrected by Holm",
                "bh": "p, corrected by Benjamini–Hochberg",
                "superiority": "effect size P(row > column)",
            },
        )
        if len(criteria) == 1:
            self.fields["criterion"].widget = forms.HiddenInput()


class CorpusForm(forms.Form):
    """A corpus of dialogues that chats are compared with."""

    corpus = forms.FileField(
        label="Corpus",
        help_text="JSON Lines with “turns”, or a table with one turn a row: text, and dialogue and speaker if known.",
    )
