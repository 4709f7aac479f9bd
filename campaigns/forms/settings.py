"""Settings of a campaign: general ones, what workers read, and the rules of chats."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, cast

from django import forms

from campaigns.contracts.chat import ChatRules
from campaigns.contracts.method import CampaignMethod
from campaigns.design.stopping import STOPPING_RULES
from campaigns.design.worker_test import WORKER_TESTS
from campaigns.forms.partial import CheckboxesWidget, CheckboxWidget, NamesField, PartialForm
from campaigns.methods import list_methods_for, methods, why_undecided
from campaigns.models import LONGEST_NAME, Campaign, Criterion
from campaigns.services.campaigns import CHANGEABLE_AFTER_LAUNCH
from evalsite.lib.markdown import MarkdownField

_GROUPS = (
    ("Campaign", ("name", "lease_minutes", "is_accessible", "offers_text")),
    ("Worker test", ("worker_test", "alpha")),
    ("Analysis", ("method", "method_options")),
    ("When it closes", ("stopping_rule", "stopping_systems")),
    ("Which HIT comes next", ("is_adaptive",)),
    ("Personal data", ("retention_days",)),
)
_PAYMENT = ("reward", "currency", "minutes_per_hit")


class SettingsForm(PartialForm):
    """Name, worker test, response method and payment: the last has a page of its own."""

    field_of_code = {"bad_method": "method", "bad_settings": "method_options", "bad_retention": "retention_days"}
    after_launch = CHANGEABLE_AFTER_LAUNCH

    name = forms.CharField(
        max_length=LONGEST_NAME, help_text="Workers do not see it: they see the study name, under Instructions."
    )
    is_accessible = forms.BooleanField(
        label="Accessible mode",
        required=False,
        widget=CheckboxWidget,
        help_text="All workers see real text instead of images. For invited raters and screen readers. The exports say "
        "which assignments have it.",
    )
    offers_text = forms.BooleanField(
        label="Offer accessible mode to workers",
        required=False,
        widget=CheckboxWidget,
        help_text="Each item then has a link with which a worker changes to real text. Real text can be copied, and "
        "read by a program.",
    )
    lease_minutes = forms.IntegerField(
        label="Minutes until an abandoned HIT is offered to others",
        min_value=1,
        max_value=10_080,
        help_text="Counted from the last item that was rated, or from when the worker came back.",
    )
    worker_test = forms.ChoiceField(
        choices=[(slug, test.title) for slug, test in WORKER_TESTS.items()],
        help_text="Careful workers rate degraded items lower; others do not count. None: for trusted raters.",
    )
    alpha = forms.FloatField(
        label="α",
        min_value=0.0001,
        max_value=0.9999,
        help_text="A worker passes if the test's p lies below it.",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "Give a number between 0 and 1."),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    method = forms.ChoiceField(
        label="Response method",
        help_text="How the results are computed. Offered are the methods that can read the answers on the criteria.",
    )
    method_options = forms.JSONField(label="Options of the method", required=False)
    stopping_rule = forms.ChoiceField(
        label="The campaign closes by itself",
        choices=STOPPING_RULES,
        widget=forms.RadioSelect,
        help_text="A pair is decided when its difference is shown at 95 %, valid whenever you look and for all pairs "
        "together. It is checked as HITs are finished. Workers who are at a HIT then may finish it.",
    )
    stopping_systems = NamesField(
        label="Systems that must be decided",
        required=False,
        widget=CheckboxesWidget,
        help_text="Only for the last two choices.",
    )
    is_adaptive = forms.BooleanField(
        label="Undecided pairs first",
        required=False,
        widget=CheckboxWidget,
        help_text="The next HIT is drawn at random, those more often that hold more outputs of systems still "
        "undecided. With which probability is kept and exported; results are weighted by it.",
    )
    retention_days = forms.IntegerField(
        label="Days until they are erased",
        required=False,
        min_value=1,
        max_value=20_000,
        help_text="From the close of the campaign. Names, e-mail addresses, platform ids, links and codes "
        "go; answers, chats and feedback stay, under labels. Results that were stored are made anew. Empty: until an "
        "owner erases them. Say it in the consent text: after the launch it can only be shortened.",
    )
    reward = forms.DecimalField(
        label="Reward per HIT", min_value=Decimal(0), max_digits=8, decimal_places=2, help_text="0: unpaid volunteers."
    )
    currency = forms.RegexField(
        r"^[A-Za-z]{3}$",
        max_length=3,
        help_text="Three letters, such as USD or EUR.",
        error_messages={"invalid": "Give the three letters of the currency, such as USD or EUR."},
    )
    minutes_per_hit = forms.IntegerField(
        label="Expected minutes per HIT", min_value=1, max_value=1_440, required=False, help_text="Try one yourself."
    )

    def __init__(self, campaign: Campaign, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial={name: getattr(campaign, name) for name in self.base_fields})
        names = {*campaign.systems.filter(is_degraded=False).values_list("name", flat=True)}
        # One that was chosen and is gone may be unticked.
        offered = sorted(names | set(campaign.stopping_systems))
        cast(NamesField, self.fields["stopping_systems"]).choices = [(name, name) for name in offered]
        criteria = list(campaign.criteria.all())
        method = self._offer_methods(campaign, criteria)
        if why := why_undecided(method, campaign.method_options, criteria):
            for name in ("stopping_rule", "is_adaptive"):
                self.fields[name].help_text = f"Not in this campaign. {why}"
        if campaign.is_live:  # chats have no images that text could take the place of
            del self.fields["is_accessible"], self.fields["offers_text"]

    def clean_currency(self) -> str:
        """Write it in capitals."""
        return str(self.cleaned_data["currency"]).upper()

    def clean_method_options(self) -> dict[str, Any]:
        """Take an empty field for no options."""
        options = {} if self.cleaned_data["method_options"] is None else self.cleaned_data["method_options"]
        if not isinstance(options, dict):
            raise forms.ValidationError('Write an object, such as {"name": 1}.')
        return options

    def _offer_methods(self, campaign: Campaign, criteria: Sequence[Criterion]) -> type[CampaignMethod]:
        """Offer the campaign's method, and those that can read its answers; return the campaign's."""
        method = methods[campaign.method]
        offered = dict.fromkeys([*list_methods_for(criteria), method])
        cast(forms.ChoiceField, self.fields["method"]).choices = [(each.slug, each.title) for each in offered]
        if method.campaign_options:
            self.fields["method_options"].help_text = f"As JSON. There are: {', '.join(method.campaign_options)}."
        else:
            del self.fields["method_options"]
        return method

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """Return the fields of the page of settings, in its groups."""
        found = [(title, [self[name] for name in names if name in self.fields]) for title, names in _GROUPS]
        return [(title, fields) for title, fields in found if fields]

    def payment(self) -> list[forms.BoundField]:
        """Return the fields of the page of the payment."""
        return [self[name] for name in _PAYMENT]


_LONGEST = 50_000


class InstructionsForm(PartialForm):
    """Which study it is, whom to ask, and, in Markdown, instructions and consent text."""

    after_launch = CHANGEABLE_AFTER_LAUNCH

    study_name = forms.CharField(
        label="Study name",
        required=False,
        max_length=LONGEST_NAME,
        help_text="Workers see it. It should name neither systems nor what you expect to find.",
    )
    contact = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        help_text="Whom workers may ask: an e-mail address, a web address or any other text. It is on every page of "
        "theirs, and can be changed after the launch.",
    )
    instructions = MarkdownField(
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 14}),
        help_text="Shown before the HIT and at any time in it. Markdown: **bold**, *italic*, lists with “- ”, "
        "[links](https://example.org). A blank such as [[target language]] has to be filled in before the launch.",
    )
    consent = MarkdownField(
        label="Consent text",
        required=False,
        max_length=_LONGEST,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown. If there is one, a worker must agree to it before the first item.",
    )


_MOST_INPUTS, _LONGEST_INPUT = 1000, 20_000
_OPENINGS = [
    ("free", "Free: the worker types a topic of their own"),
    ("icebreaker", "Ice-breaker: the worker is given a statement of the chatbot's persona"),
]

_SENDS_TOPIC = (
    "Off, as in the studies: a chatbot sees the messages and its persona only. The ratings then tell how well it finds "
    "the topic and keeps to it. On: it is sent the current topic with each message. The ratings are then of chatbots "
    "that know the topic; with an ice-breaker those without a persona know the statement, too. The rule is kept with "
    "the chats: compare only campaigns that have the same."
)


class ChatForm(PartialForm):
    """How a chat opens, how long it and its messages may be, and what chatbots are sent of the topic."""

    field_of_code = {"few_inputs": "max_inputs"}

    opening = forms.ChoiceField(label="What a chat is about", choices=_OPENINGS, widget=forms.RadioSelect)
    sends_topic = forms.BooleanField(
        label="Send the topic to the chatbots", required=False, widget=CheckboxWidget, help_text=_SENDS_TOPIC
    )
    min_inputs = forms.IntegerField(
        label="Messages of the worker, at least",
        min_value=1,
        max_value=_MOST_INPUTS,
        help_text="Before that the worker cannot rate the chatbot. The studies: 10.",
    )
    max_inputs = forms.IntegerField(
        label="Messages of the worker, at most",
        min_value=1,
        max_value=_MOST_INPUTS,
        help_text="Then the chat is full, and is rated.",
    )
    longest_input = forms.IntegerField(
        label="Longest message", min_value=1, max_value=_LONGEST_INPUT, help_text="In characters."
    )

    def __init__(self, rules: ChatRules, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, initial=rules.to_json())
