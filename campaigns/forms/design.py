"""What a HIT consists of, and how many workers rate it."""

from collections.abc import Mapping
from typing import Any

from django import forms

from campaigns.design.composition import Layout
from campaigns.design.paging import PageKind
from campaigns.design.raters import LARGEST_HIT, Raters, RaterTime
from campaigns.design.sampling import Leftover
from campaigns.forms.partial import CheckboxWidget, PartialForm
from campaigns.models import Campaign
from campaigns.proposals import Pace
from campaigns.services.design import WORKERS
from evalsite.lib.words import counted

_MOST_ITEMS = LARGEST_HIT
_MOST_HITS = 1_000_000
_LARGEST_SEED = 2**31 - 1

_MOST_RATERS, _MOST_MINUTES, _MOST_SECONDS = 1000, 1440, 36_000

_RATERS = [
    (Raters.CROWD.value, "Crowd: many workers, a HIT each, with a worker test and degraded items"),
    (Raters.LAB.value, "Lab: a few known raters, several HITs each, personal links, repeats instead of a worker test"),
    (Raters.EXPERTS.value, "Experts: a few, no degraded items, each output rated by 2 or 3 of them"),
]

_LAYOUTS = [
    (Layout.POOLED.value, "Any outputs: its items come from all sources and systems alike"),
    (Layout.BY_SOURCE.value, "One source: its items are the outputs of different systems for it"),
]
_LEFTOVERS = [
    (Leftover.FILL.value, "Every output is rated: one more HIT is filled with outputs that are rated already"),
    (Leftover.DROP.value, "They are left out: no output is rated twice, and sources that cannot fill a HIT are unused"),
]
_PAGE_KINDS = [
    (PageKind.OUTPUT.value, "One output"),
    (PageKind.COMPARISON.value, "A comparison: outputs of several systems for one source, side by side"),
    (PageKind.DOCUMENT.value, "A document: one system’s outputs for all sources of a document, in their order"),
]
_MOST_COMPARED = 10
NOT_OF_CHATS = frozenset(
    {"page_kind", "outputs_per_page", "n_repeat", "n_reference", "layout", "has_anchor", "leftover"}
)
"""Fields that a design of chats does not have."""
_ITEMS, _CHATS = "Items of a HIT", "Chats of a HIT"
_GROUPS = (
    (_ITEMS, ("n_ordinary", "n_degraded", "n_repeat", "n_reference"), "mix-fields"),
    ("What workers see at once", ("page_kind", "outputs_per_page"), ""),
    ("Which outputs", ("layout", "has_anchor", "leftover"), ""),
    ("How many", ("n_hits", "workers_per_hit", "hits_per_worker", "seed"), "field-grid"),
)


class DesignForm(PartialForm):
    """The design of a campaign's HITs."""

    page_kind = forms.ChoiceField(
        label="A page shows",
        choices=_PAGE_KINDS,
        widget=forms.RadioSelect,
        help_text="Each page counts as one item of the HIT.",
    )
    outputs_per_page = forms.IntegerField(
        label="Outputs of a comparison",
        min_value=2,
        max_value=_MOST_COMPARED,
        help_text="Of 2, every pair of a source’s outputs is compared.",
    )
    n_ordinary = forms.IntegerField(
        label="Ordinary", min_value=1, max_value=_MOST_ITEMS, help_text="Outputs as they are."
    )
    n_degraded = forms.IntegerField(
        label="Degraded",
        min_value=0,
        max_value=_MOST_ITEMS,
        help_text="With words of another text.",
    )
    n_repeat = forms.IntegerField(label="Repeats", min_value=0, max_value=_MOST_ITEMS, help_text="Outputs shown twice.")
    n_reference = forms.IntegerField(
        label="References", min_value=0, max_value=_MOST_ITEMS, help_text="Instead of an output."
    )
    layout = forms.ChoiceField(label="A HIT holds", choices=_LAYOUTS, widget=forms.RadioSelect)
    has_anchor = forms.BooleanField(
        label="The human system is in every HIT, with a degraded copy and a repeat",
        required=False,
        widget=CheckboxWidget,
        help_text="Needs one source per HIT, and a system marked as human.",
    )
    leftover = forms.ChoiceField(label="Outputs that do not fill a HIT", choices=_LEFTOVERS, widget=forms.RadioSelect)
    n_hits = forms.IntegerField(
        label="Number of HITs",
        min_value=1,
        max_value=_MOST_HITS,
        required=False,
        help_text="Empty: as many as rate each output once.",
    )
    workers_per_hit = forms.IntegerField(
        label="Workers per HIT", min_value=1, max_value=1000, help_text="Each rates all of its items."
    )
    hits_per_worker = forms.IntegerField(
        label="HITs per worker, at most", min_value=1, max_value=10_000, required=False, help_text="Empty: no limit."
    )
    seed = forms.IntegerField(
        min_value=0,
        max_value=_LARGEST_SEED,
        help_text="The same outputs, design and seed give the same HITs.",
    )

    def __init__(self, campaign: Campaign, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial={name: getattr(campaign, name) for name in self.base_fields})
        self._is_live = campaign.is_live
        if self._is_live:
            self._be_live(is_compared=campaign.compares_chats)
        if campaign.has_given_hits:
            for name in self.fields.keys() - WORKERS:
                del self.fields[name]

    def _be_live(self, *, is_compared: bool) -> None:
        """Leave out what chatbots do not have, and say the rest in words of chats."""
        for name in NOT_OF_CHATS:
            del self.fields[name]
        ordinary, n_hits = self.fields["n_ordinary"], self.fields["n_hits"]
        if is_compared:
            ordinary.label, ordinary.help_text = "Pairs of chatbots", "Each pair once in a HIT."
            self.fields["n_degraded"].help_text = "Pairs in which one is the degraded chatbot."
        else:
            ordinary.label, ordinary.help_text = "Chatbots", "Each of another family."
            self.fields["n_degraded"] = forms.IntegerField(
                label="Degraded", min_value=0, max_value=1, help_text="0 or 1: there is one such chatbot."
            )
        n_hits.required, n_hits.help_text = True, "Choose how many HITs to build."
        self.fields["workers_per_hit"].help_text = "Each has all of its chats."
        self.fields["seed"].help_text = "The same chatbots, design and seed give the same HITs."

    def groups(self) -> list[tuple[str, list[forms.BoundField], str]]:
        """Return the fields as the page groups them: title, fields, class of their frame."""
        groups = [(title, [self[name] for name in names if name in self.fields], css) for title, names, css in _GROUPS]
        if self._is_live:
            groups = [(_CHATS if title == _ITEMS else title, fields, css) for title, fields, css in groups]
        return [group for group in groups if group[1]]


class RatersForm(forms.Form):
    """Who rates, and how much time they have."""

    raters = forms.ChoiceField(label="Who rates", choices=_RATERS, widget=forms.RadioSelect)
    n_raters = forms.IntegerField(label="Number of raters", min_value=1, max_value=_MOST_RATERS)
    minutes = forms.FloatField(
        label="Minutes each",
        min_value=0.1,
        max_value=_MOST_MINUTES,
        widget=forms.NumberInput(attrs={"step": "any"}),
        help_text="What one rater has in all.",
    )
    seconds_per_item = forms.FloatField(
        label="Seconds per item",
        min_value=0.1,
        max_value=_MOST_SECONDS,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def time(self, seconds_per_item: float) -> RaterTime:
        """Return what was sent; `seconds_per_item` is used where it was left out."""
        data = self.cleaned_data
        return RaterTime(data["n_raters"], data["minutes"], self.seconds() or seconds_per_item)

    def seconds(self) -> float | None:
        """Return the seconds per item that were sent; None if none were."""
        seconds: float | None = self.cleaned_data["seconds_per_item"]
        return seconds


class ChatRatersForm(RatersForm):
    """The same of raters who chat."""

    seconds_per_item = None  # type: ignore[assignment]
    minutes_per_chat = forms.FloatField(
        min_value=0.1,
        max_value=_MOST_SECONDS / 60,
        required=False,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )

    def seconds(self) -> float | None:
        """Return the seconds of a chat that were sent; None if none were."""
        minutes: float | None = self.cleaned_data["minutes_per_chat"]
        return minutes * 60 if minutes else None


def raters_form(campaign: Campaign, pace: Pace, data: Mapping[str, Any] | None = None) -> RatersForm:
    """Return the form for a campaign, whose items take so long where nothing else is sent."""
    form = ChatRatersForm if campaign.is_live else RatersForm
    name, default = (
        ("minutes_per_chat", round(pace.seconds / 60, 1)) if campaign.is_live else ("seconds_per_item", pace.seconds)
    )
    raters = Raters.CROWD if campaign.crowd_platform.has_account else Raters.LAB
    if data is not None:
        data = {field: data.get(field) or (default if field == name else "") for field in form.base_fields}
    initial = {"raters": raters.value, "n_raters": 12, "minutes": 30, name: default}
    made = form(data, initial=initial, auto_id="raters_%s")
    made.fields[name].help_text = _pace_words(campaign, pace)
    return made


def _pace_words(campaign: Campaign, pace: Pace) -> str:
    if pace.n_measured:
        return f"As in {counted(pace.n_measured, 'finished assignment')} of the campaign that this is a run of."
    if campaign.is_live:
        return "Proposed by the messages of a chat and the statements."
    return "Proposed by the length of the texts and the statements."
