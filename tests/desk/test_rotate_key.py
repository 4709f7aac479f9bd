"""A new SECRET_KEY: what was given out goes on, what is stored is encrypted anew, and names stay what they were."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from urllib.parse import parse_qsl

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from pytest_django import Settings

from analysis.models import Judge
from analysis.web.services.judges import add_judge
from analysis.web.services.sharing import create_share_link
from annotation.models import Assignment
from annotation.worker_names import hashed_name
from campaigns.models import Campaign, Chatbot, Webhook
from campaigns.platforms.prolific.authenticity import completion_code
from campaigns.services.webhooks import add_webhook
from crowd.services.account import change_keys
from desk.secrets import encrypted_columns
from evalsite.accounts import kept_keys
from evalsite.accounts.models import User
from evalsite.accounts.services import make_password_link
from evalsite.lib.encryption import EncryptedField, decrypt_secrets, encrypt_secrets
from evalsite.lib.errors import DomainError
from evalsite.lib.kept_keys import PURPOSES, keyed_hash
from tests.analysis.campaigns import analysed, rated_campaign
from tests.annotation.open_campaigns import open_campaign
from tests.annotation.worker_pages import answers, form_of, personal_query, started, url, welcome_url
from tests.campaigns.cast import make_campaign
from tests.campaigns.live import make_live

pytestmark = pytest.mark.django_db
NEW = "another key of thirty-two characters, at least"
PASSWORD = "a password of five words"


@pytest.fixture
def stored_keys(settings: Settings) -> Iterator[None]:
    """The keys of names are stored, as a migration stores them."""
    settings.EVALSITE_KEPT_KEYS = "evalsite.accounts.kept_keys.stored_keys"
    kept_keys.store_keys(settings.SECRET_KEY)
    yield
    kept_keys._read.clear()


def rotate(settings: Settings) -> str:
    """Set a new key, with the former as a fallback; return what `rotate-key` prints."""
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    return encrypt_anew()


def encrypt_anew() -> str:
    printed = StringIO()
    call_command("rotate_key", stdout=printed)
    return printed.getvalue()


# --- Links in use


@dataclass
class InUse:
    """What people and scripts hold when the key changes."""

    campaign: Campaign
    under_way: Assignment
    urls: dict[str, str]
    researcher: Client
    newcomer: dict[str, str]


def give_out(owner: User) -> InUse:
    """Let every kind of link and session be in use."""
    owner.set_password(PASSWORD)
    owner.save()
    signed_in = Client()
    signed_in.post(reverse("accounts:sign_in"), {"username": owner.email, "password": PASSWORD})
    campaign = open_campaign(owner, n_hits=4)
    under_way = started(campaign)
    first = signed_in.get(url("hit", under_way))
    assert signed_in.post(url("hit", under_way), answers(first)).status_code == 200
    rated = analysed(rated_campaign(owner), owner).ratings_file.campaign
    now = timezone.now()
    reset = make_password_link(user=User.objects.create_user("colleague@example.org"), now=now, by=owner)
    share = create_share_link(campaign=rated, user=owner)
    urls = {
        "HIT under way": url("hit", under_way),
        "personal link": welcome_url(campaign, personal_query(campaign, "Ann")),
        "open link": welcome_url(campaign),
        "shared results": reverse("shared:run", args=[share.token]),
        "link for a password": reset.path,
    }
    return InUse(campaign, under_way, urls, signed_in, form_of(Client().get(welcome_url(campaign))).hidden)


def test_links_and_sessions_in_use_go_on_under_a_new_key(owner: User, settings: Settings, stored_keys: None) -> None:
    held = give_out(owner)
    rotate(settings)
    for name, address in held.urls.items():
        page = Client().get(address, follow=True)
        assert page.status_code == 200, name
    page = Client().get(held.urls["HIT under way"])
    assert Client().post(held.urls["HIT under way"], answers(page)).status_code == 200
    assert held.under_way.responses.values("item").distinct().count() == 2
    assert held.researcher.get(reverse("campaigns:list")).status_code == 200, "still signed in"
    taken = Client().post(held.urls["open link"], held.newcomer | {"consent": "on"})
    assert taken.status_code == 303, "who had the page open takes part"
    assert Client().get(taken["Location"]).status_code == 200
    # New ones are made with the new key only.
    fresh = url("hit", held.under_way)
    settings.SECRET_KEY_FALLBACKS = []
    assert fresh != held.urls["HIT under way"]
    assert Client().get(fresh).status_code == 200
    assert Client().get(held.urls["HIT under way"]).status_code == 404, "the former key is worth nothing any more"


@pytest.mark.parametrize("slug", ["mturk", "prolific"])
def test_addresses_that_a_platform_has_go_on(owner: User, settings: Settings, slug: str) -> None:
    campaign = make_campaign(owner)
    campaign.platform = slug
    ids = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24}
    params = dict(parse_qsl(campaign.crowd_platform.arrival_query(campaign.ref, 1))) | ids
    before = campaign.crowd_platform.identify(campaign.ref, params)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    assert campaign.crowd_platform.identify(campaign.ref, params) == before
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(DomainError):
        campaign.crowd_platform.identify(campaign.ref, params)


# --- Stored secrets


def with_secrets(owner: User) -> list[tuple[type, str, dict[str, str]]]:
    """One of each kind of stored secret; return where they are and what they say."""
    live = make_live(owner, names=("Amber",))
    Chatbot.objects.filter(system__campaign=live, system__name="Amber").update(
        secrets=encrypt_secrets({"api_key": "sk-chatbot"})
    )
    add_webhook(campaign=live, url="https://hooks.example.org/", events=["job.failed"])
    rated = open_campaign(owner)
    Campaign.objects.filter(pk=rated.pk).update(platform="prolific")
    rated.refresh_from_db()
    change_keys(campaign=rated, keys={"token": "prolific-token"})
    options = {"base_url": "https://models.example.org/v1", "model": "m"}
    add_judge(
        campaign=rated, user=owner, name="J", connector="openai-chat", settings=options, secrets={"api_key": "sk-judge"}
    )
    return stored()


def stored() -> list[tuple[type, str, dict[str, str]]]:
    """Return all stored secrets as they can be read now."""
    return [
        (model, column, decrypt_secrets(text))
        for model, column in encrypted_columns()
        for text in model._default_manager.exclude(**{column: ""}).order_by("pk").values_list(column, flat=True)
    ]


def test_secrets_are_encrypted_anew_so_that_the_former_key_can_go(owner: User, settings: Settings) -> None:
    before = with_secrets(owner)
    assert {model for model, _, _ in before} == {Campaign, Chatbot, Judge, Webhook}
    printed = rotate(settings)
    for kind in ("campaign", "chatbot", "judge", "webhook"):
        assert f"Encrypted with the present key: secrets of 1 {kind}.\n" in printed
    assert "No stored secret needs a former key any more." in printed
    settings.SECRET_KEY_FALLBACKS = []
    assert stored() == before
    assert "Encrypted with it before: secrets of 1 judge." in encrypt_anew()


def test_without_it_a_key_that_goes_takes_the_secrets_along_and_each_is_named(owner: User, settings: Settings) -> None:
    with_secrets(owner)
    settings.SECRET_KEY = NEW
    with pytest.raises(CommandError, match=r"4 rows cannot be read") as refused:
        encrypt_anew()
    assert f"judge {Judge.objects.get().pk}" in str(refused.value)


def test_no_column_of_secrets_is_forgotten() -> None:
    named = {
        (model, column.name)
        for model in apps.get_models()
        for column in model._meta.concrete_fields
        if "secret" in column.name or "encrypted" in str(column.verbose_name)
    }
    assert named == {*encrypted_columns()} and len(named) == 5
    assert all(isinstance(model._meta.get_field(name), EncryptedField) for model, name in named)


def test_judges_keys_that_cannot_be_read_are_counted(admin_client: Client, owner: User) -> None:
    rated, options = open_campaign(owner), {"base_url": "https://models.example.org/v1", "model": "m"}
    keys = {"api_key": "sk-judge"}
    add_judge(campaign=rated, user=owner, name="J", connector="openai-chat", settings=options, secrets=keys)
    [judge] = Judge.objects.all()
    page = admin_client.get(reverse("desk:system"))
    assert "1 stored secret, encrypted and readable" in page.text
    Judge.objects.filter(pk=judge.pk).update(secrets="encrypted with a key that is gone")
    assert "1 of 1 stored secret" in admin_client.get(reverse("desk:system")).text


# --- Names that stay


def names_of(campaign: Campaign, assignment: Assignment) -> tuple[object, ...]:
    """Return everything that is named by a key."""
    page = Client().get(url("hit", assignment)).text
    return (
        hashed_name(assignment.worker),
        completion_code(campaign.public_id),
        re.findall(r"([0-9a-f]{24}[a-z])\.img", page),
        re.findall(r'data-kept="(\w+)"', page),
    )


def test_workers_codes_and_images_keep_their_names(owner: User, settings: Settings, stored_keys: None) -> None:
    campaign = open_campaign(owner, n_hits=2)
    assignment = started(campaign, "at-work")
    before = names_of(campaign, assignment)
    assert all(before)
    rotate(settings)
    settings.SECRET_KEY_FALLBACKS = []
    assert names_of(campaign, assignment) == before
    kept_keys._read.clear()  # as another process, which reads them anew
    assert names_of(campaign, assignment) == before


@pytest.mark.parametrize("purpose", PURPOSES)
def test_an_installation_of_before_keeps_the_names_that_it_had(purpose: str, settings: Settings, stored_keys) -> None:
    """They were made by Django's `salted_hmac`, of SECRET_KEY."""
    before = salted_hmac(purpose, "A1B2C3 ключ", algorithm="sha256").hexdigest()
    settings.SECRET_KEY = NEW
    assert keyed_hash(purpose, "A1B2C3 ключ").hexdigest() == before
    assert salted_hmac(purpose, "A1B2C3 ключ", algorithm="sha256").hexdigest() != before


def test_keys_are_stored_once(settings: Settings, stored_keys: None) -> None:
    before = dict(kept_keys.stored_keys())
    assert {*before} == {*PURPOSES}
    kept_keys.store_keys(NEW)
    assert dict(kept_keys.stored_keys()) == before
    kept_keys.store_keys(NEW, replace=True)
    assert not {*before.values()} & {*kept_keys.stored_keys().values()}


def test_a_purpose_without_a_key_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=r"no kept key: annotation\.imagee"):
        keyed_hash("annotation.imagee", "x")
