"""What is set in a campaign. Most resources are a form of the pages: its fields are read, and any of them changed."""

from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from api.access import ApiRequest
from api.operations import Resource, operation
from api.shapes import cleaned, save_sent, sent_to, shown
from campaigns.building.proposals import Proposal
from campaigns.design.raters import Raters
from campaigns.forms.design import NOT_OF_CHATS, DesignForm, RatersForm
from campaigns.forms.partial import PartialForm
from campaigns.forms.settings import ChatForm, InstructionsForm, SettingsForm
from campaigns.models import Campaign
from campaigns.proposals import get_proposal, pace_of
from campaigns.services.campaigns import change_campaign
from campaigns.services.design import change_design, draw_seed, preset_of, use_preset
from campaigns.services.screens import change_chat_rules
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT

Make = Callable[[Campaign, Any], PartialForm]


def _of_form(title: str, form: type[PartialForm], make: Make, save: Callable[..., object]) -> type[Resource]:
    """Return the resource of a form that `make` makes of a campaign and what was sent, saved by the service `save`."""

    class Settings(Resource):
        @operation(Scope.READ, returns=form)
        def get(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
            return shown(make(campaign, None))

        @operation(Scope.EDIT, takes=form, returns=form)
        def patch(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
            form_sent = make(campaign, sent_to(form, request, partial=True))
            save_sent(form_sent, lambda changes: save(campaign=campaign, changes=changes))
            campaign.refresh_from_db()
            return shown(make(campaign, None))

    Settings.__doc__ = title
    Settings.get.__doc__, Settings.patch.__doc__ = f"Return {title}.", f"Change those of {title} that are sent."
    return Settings


def _instructions(campaign: Campaign, data: Any) -> PartialForm:
    return InstructionsForm(data, initial={name: getattr(campaign, name) for name in InstructionsForm.base_fields})


General = _of_form("the name, worker test and payment", SettingsForm, SettingsForm, change_campaign)
Instructions = _of_form("what workers read", InstructionsForm, _instructions, change_campaign)
ChatRules = _of_form(
    "the rules of chats", ChatForm, lambda campaign, data: ChatForm(campaign.chat_rules, data), change_chat_rules
)
Design = _of_form("what a HIT consists of", DesignForm, DesignForm, change_design)


class Preset(Resource):
    """The design that the campaign's protocol presets."""

    @operation(Scope.READ, returns=DesignForm)
    def get(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Return the fields that the protocol presets, as it has them; all others as they are set."""
        design = shown(DesignForm(campaign))
        return design | {name: value for name, value in preset_of(campaign).items() if name in design}

    @operation(Scope.EDIT, returns=DesignForm)
    def post(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Take the mix and the layout of the protocol."""
        use_preset(campaign=campaign)
        campaign.refresh_from_db()
        return shown(DesignForm(campaign))


class DesignProposalShape(serializers.Serializer[Proposal]):
    """A design for raters and their time, and what its results will tell."""

    summary = serializers.SerializerMethodField(help_text="The design and its certainty in words.")
    design = serializers.SerializerMethodField(help_text="What to send to `design/` to use it.")
    worker_test = serializers.CharField(help_text="What goes with it, in `settings/`.")
    minutes_per_hit = serializers.IntegerField()
    seconds_per_item = serializers.FloatField(source="time.seconds_per_item")
    n_assignments = serializers.IntegerField()
    fewest_ratings = serializers.IntegerField(
        help_text="Ratings on one criterion of the system that has the fewest, of all workers."
    )
    n_counted = serializers.IntegerField(help_text="Those of them that are expected to pass the worker test.")
    share_rated = serializers.FloatField(help_text="Share of the outputs that are rated.")
    half_width = serializers.FloatField(
        source="certainty.half_width", allow_null=True, help_text="Of the 95 % interval of such a system's mean z."
    )
    smallest_difference = serializers.FloatField(
        source="certainty.smallest_difference",
        allow_null=True,
        help_text="Of two systems, in z, found with 80 % power at p < .05.",
    )
    smallest_points = serializers.FloatField(
        source="certainty.smallest_points", allow_null=True, help_text="The same in points of 100."
    )

    def get_summary(self, proposal: Proposal) -> str:
        """Return the sentences of the page."""
        return f"{proposal.in_words} {proposal.certainty_in_words}"

    def get_design(self, proposal: Proposal) -> dict[str, Any]:
        """Return the fields of the design alone; those that chats do not have are left out."""
        fields = DesignForm.base_fields.keys() - (NOT_OF_CHATS if proposal.is_live else set())
        return {name: value for name, value in proposal.fields().items() if name in fields}


class Proposals(Resource):
    """Designs for raters and their time."""

    @operation(Scope.READ, returns=DesignProposalShape, filters=RatersForm, refused=CONFLICT)
    def get(self, request: ApiRequest, campaign: Campaign) -> Proposal:
        """Return the design that fits so many raters with so many minutes each; refused, in words, if none does."""
        form = RatersForm(request.query_params)
        data = cleaned(form)
        time = form.time(data["seconds_per_item"] or pace_of(campaign).seconds)
        return get_proposal(campaign, raters=Raters(data["raters"]), time=time)


class Seed(Resource):
    """The seed of the design."""

    @operation(Scope.EDIT, returns=DesignForm)
    def post(self, request: ApiRequest, campaign: Campaign) -> dict[str, Any]:
        """Draw a new seed."""
        draw_seed(campaign=campaign)
        campaign.refresh_from_db()
        return shown(DesignForm(campaign))
