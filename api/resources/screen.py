"""What a worker is shown: the texts of a source, their headings, and that of the output."""

from dataclasses import replace
from typing import Any

from django import forms
from django.http import Http404

from api.access import ApiRequest
from api.operations import Resource, operation
from api.problems import InvalidFieldsError
from api.shapes import cleaned, save_sent, sent_to
from campaigns.contracts.protocol import Screen
from campaigns.forms.screen import FieldForm, FieldPlaceForm, formats_of_fields, formats_of_outputs, screen_form
from campaigns.models import Campaign
from campaigns.services.screens import change_screen
from evalsite.accounts.models import Scope
from evalsite.lib.errors import CONFLICT


class LabelsForm(forms.Form):
    """What is shown beside the fields of the source."""

    output_label = forms.CharField(help_text="Heading of the text that is rated.")
    output_format = forms.ChoiceField(required=False, choices=formats_of_outputs, help_text="What outputs are.")
    is_output_drawn = forms.BooleanField(required=False, help_text="Workers are shown it as an image.")
    reference_field = forms.CharField(
        required=False, help_text="Its text takes the place of the output in reference items."
    )
    donor_field = forms.CharField(
        required=False, help_text="Degraded outputs get a run of words from this field of another source."
    )


class ScreenOf(Resource):
    """The screen."""

    @operation(Scope.READ, returns=Screen)
    def get(self, request: ApiRequest, campaign: Campaign) -> Screen:
        """Return what a worker is shown: the fields of the source in their order, then the output."""
        return _screen_of(campaign)

    @operation(Scope.EDIT, takes=LabelsForm, returns=Screen)
    def patch(self, request: ApiRequest, campaign: Campaign) -> Screen:
        """Change the heading of the output or, where the protocol lets fields be changed, what they are used for."""
        return _save(campaign, sent_to(LabelsForm, request, partial=True))


class Fields(Resource):
    """The fields of the source."""

    @operation(Scope.EDIT, takes=FieldForm, returns=Screen, status=201, fields={"bad_screen": "name"})
    def post(self, request: ApiRequest, campaign: Campaign) -> Screen:
        """Add a field, last. Adding the same one twice adds it once."""
        screen = _screen_of(campaign)
        form = FieldForm(sent_to(FieldForm, request))
        cleaned(form)
        if form.field() not in screen.fields:
            change_screen(campaign=campaign, screen=replace(screen, fields=(*screen.fields, form.field())))
        return _again(campaign)


class ChangedFieldForm(forms.Form):
    """A field of the source. A name may be changed until sources are imported."""

    name = forms.CharField(help_text="The column of the file that has it.")
    label = forms.CharField(help_text="Its heading.")
    format = forms.ChoiceField(required=False, choices=formats_of_fields, help_text="What it is.")
    is_drawn = forms.BooleanField(required=False, help_text="Workers are shown it as an image.")
    is_shown = forms.BooleanField(required=False)
    is_required = forms.BooleanField(required=False)
    marks = forms.CharField(required=False, help_text="The field whose text is highlighted in this one.")


class OneField(Resource):
    """One field of the source, by its name."""

    @operation(Scope.EDIT, takes=ChangedFieldForm, returns=Screen, fields={"bad_screen": "name"})
    def patch(self, request: ApiRequest, campaign: Campaign, name: str) -> Screen:
        """Change what is sent of the field; what names it follows another name."""
        _check_field(campaign, name)
        sent = sent_to(ChangedFieldForm, request, partial=True)
        return _save(campaign, {f"{part}:{name}": value for part, value in sent.items()})

    @operation(Scope.EDIT, returns=Screen, refused=CONFLICT)
    def delete(self, request: ApiRequest, campaign: Campaign, name: str) -> Screen:
        """Take the field out; what named it names none."""
        return _move(campaign, name, 0)


class PlaceForm(forms.Form):
    """Which way a field goes."""

    step = forms.TypedChoiceField(choices=[(-1, "up"), (1, "down")], coerce=int)


class FieldPlace(Resource):
    """The place of a field."""

    @operation(Scope.EDIT, takes=PlaceForm, returns=Screen)
    def post(self, request: ApiRequest, campaign: Campaign, name: str) -> Screen:
        """Move the field by one place, up (-1) or down (1)."""
        return _move(campaign, name, cleaned(PlaceForm(sent_to(PlaceForm, request)))["step"])


def _screen_of(campaign: Campaign) -> Screen:
    """Return the screen; raise Http404 where workers chat and are shown no texts."""
    if campaign.is_live:
        raise Http404
    return Screen.from_json(campaign.screen)


def _check_field(campaign: Campaign, name: str) -> None:
    if name not in _screen_of(campaign).field_names:
        raise Http404


def _move(campaign: Campaign, name: str, step: int) -> Screen:
    _check_field(campaign, name)
    form = FieldPlaceForm({"name": name, "step": str(step)})
    cleaned(form)
    change_screen(campaign=campaign, screen=form.moved(_screen_of(campaign)))
    return _again(campaign)


def _save(campaign: Campaign, sent: dict[str, Any]) -> Screen:
    """Save what was sent as the page's form names it."""
    _screen_of(campaign)
    try:
        save_sent(screen_form(campaign, sent), lambda changes: change_screen(campaign=campaign, **changes))
    except InvalidFieldsError as error:
        raise InvalidFieldsError({name.partition(":")[0]: texts for name, texts in error.errors.items()}) from None
    return _again(campaign)


def _again(campaign: Campaign) -> Screen:
    campaign.refresh_from_db()
    return _screen_of(campaign)
