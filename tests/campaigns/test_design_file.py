"""Design files: what of a campaign is in them, and that nothing is forgotten."""

import pytest
from django.apps import apps
from django.db import models

from campaigns.design_file import LEFT_OUT, LEFT_OUT_MODELS, fields_of, read_design
from campaigns.models import Campaign, System
from campaigns.services.copies import duplicate_campaign
from evalsite.lib.encryption import EncryptedField
from tests.campaigns.cast import add_outputs
from tests.campaigns.live import make_live
from tests.databases import on_sqlite

pytestmark = on_sqlite


def test_every_model_is_in_a_design_file_or_has_a_reason_why_not() -> None:
    known = {*apps.get_app_config("campaigns").get_models()}
    assert known == LEFT_OUT.keys() | LEFT_OUT_MODELS.keys()
    assert not LEFT_OUT.keys() & LEFT_OUT_MODELS.keys()


@pytest.mark.parametrize("model", LEFT_OUT, ids=lambda model: model.__name__)
def test_reasons_are_of_fields_that_there_are(model: type[models.Model]) -> None:
    assert LEFT_OUT[model].keys() <= {field.name for field in model._meta.fields}


@pytest.mark.parametrize("model", LEFT_OUT, ids=lambda model: model.__name__)
def test_no_secret_no_file_and_no_row_of_this_site_is_in_a_design_file(model: type[models.Model]) -> None:
    named = {"shown_on", "system", "source"}  # by their names
    kept = [field for name, field in fields_of(model).items() if name not in named]
    assert not [field for field in kept if isinstance(field, EncryptedField | models.FileField | models.ForeignKey)]


@pytest.fixture
def changed(campaign: Campaign) -> Campaign:
    """Return a campaign in which no field of its design has its default."""
    add_outputs(campaign, 3)
    System.objects.filter(campaign=campaign, name="human").update(family="people")
    for name, field in fields_of(Campaign).items():
        setattr(campaign, name, _other(field, getattr(campaign, name)))
    campaign.protocol, campaign.platform, campaign.method = "qg", "prolific", "direct_assessment"
    campaign.platform_settings = {"title": "Questions"}
    campaign.screen, campaign.chat = Campaign.objects.get(pk=campaign.pk).screen, {}
    campaign.save()
    return campaign


def _other(field: models.Field, value: object) -> object:
    """Return a value that the field may have and has not."""
    if field.choices:
        return next(slug for slug, _ in field.choices if slug != value)
    match field:
        case models.BooleanField():
            return not value
        case models.JSONField():
            return ["human"] if isinstance(value, list) else {"other": 1}
        case models.CharField() | models.TextField():
            return "EUR" if field.max_length == 3 else f"another {field.name}"
        case models.FloatField():
            return 0.01
        case _:
            return 7


def test_a_copy_has_every_field_of_the_design(owner, changed: Campaign) -> None:
    copy = duplicate_campaign(campaign=changed, owner=owner, as_replication=False)
    copied, design = read_design(copy), read_design(changed)
    assert {**copied.campaign, "name": changed.name} == design.campaign
    assert (copied.criteria, copied.systems) == (design.criteria, design.systems)


def test_a_copy_of_chats_has_the_chatbots(owner) -> None:
    live = make_live(owner, "dialogue-icebreaker")
    copy = duplicate_campaign(campaign=live, owner=owner, as_replication=False)
    assert read_design(copy).chatbots == read_design(live).chatbots != []


def test_a_copy_of_what_was_erased_is_not_erased(owner, changed: Campaign) -> None:
    Campaign.objects.filter(pk=changed.pk).update(erased_at=changed.created_at)
    assert duplicate_campaign(campaign=Campaign.objects.get(), owner=owner, as_replication=True).erased_at is None
