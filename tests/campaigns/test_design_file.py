"""Design files: what of a campaign is in them, and that nothing is forgotten."""

import json
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import models, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from campaigns.contracts.protocol import Protocol
from campaigns.design_file import FORMAT, LEFT_OUT, LEFT_OUT_MODELS, Design, design_pieces, fields_of, read_design
from campaigns.examples import EXAMPLES, Example
from campaigns.forms.design_file import DesignFileForm
from campaigns.models import Campaign, Output, Source, System, Upload
from campaigns.protocols import list_protocols
from campaigns.services.chatbots import add_chatbot, replace_dialogues
from campaigns.services.copies import create_from_design, duplicate_campaign
from campaigns.services.examples import create_from_example
from campaigns.services.imports import execute_import
from evalsite.accounts.models import User
from evalsite.lib.encryption import EncryptedField
from evalsite.lib.errors import DomainError
from tests.campaigns.cast import add_outputs, make_campaign
from tests.campaigns.live import KEY, chatbot_of, make_live
from tests.databases import on_both, on_sqlite

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
    campaign.platform_settings, campaign.method_options = {"title": "Questions"}, {}
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


# --- Files


def written(campaign: Campaign, *, has_outputs: bool = True) -> dict[str, Any]:
    """Return the design file of a campaign."""
    stored = Campaign.objects.get(pk=campaign.pk)
    return json.loads("".join(design_pieces(stored, has_outputs=has_outputs)))


def form_of(file: object) -> DesignFileForm:
    """Return the form of a file that is uploaded; what is no text is written as JSON."""
    content = file if isinstance(file, bytes) else json.dumps(file).encode()
    return DesignFileForm({}, {"file": SimpleUploadedFile("design.json", content)})


def design_in(file: object) -> Design:
    """Return what a file holds, which is not refused."""
    form = form_of(file)
    assert form.is_valid(), form.errors
    return form.cleaned_data["file"]


def read_back(owner: User, file: object) -> Campaign:
    """Return the campaign that is made of a file."""
    return create_from_design(owner=owner, design=design_in(file))


def test_a_file_gives_an_equal_campaign(owner, changed: Campaign) -> None:
    Source.objects.filter(campaign=changed).update(attribute_values={"domain": "news"}, document="d", place=1)
    file = written(changed)
    copy = read_back(owner, file)
    assert read_design(copy) == read_design(changed)
    assert written(copy) == file
    assert (copy.status, copy.seed == changed.seed, copy.memberships.get().user) == ("draft", False, owner)


def test_a_file_without_outputs_has_neither_sources_nor_systems(owner, changed: Campaign) -> None:
    copy = read_back(owner, written(changed, has_outputs=False))
    assert read_design(copy).campaign == read_design(changed).campaign
    assert not copy.sources.exists() and not copy.systems.exists()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.folder)
def test_examples_come_back_as_they_were(owner, example: Example) -> None:
    campaign = create_from_example(owner=owner, example=example)
    for upload in Upload.objects.filter(campaign=campaign):
        execute_import(upload=upload, mode="replace", on_progress=lambda *_: None, saving=nullcontext)
    campaign.refresh_from_db()
    file = written(campaign)
    assert bool(file.get("sources")) == (not campaign.is_live)
    assert bool(file.get("chatbots")) == campaign.is_live
    assert written(read_back(owner, file)) == file


@pytest.mark.parametrize("protocol", list_protocols(), ids=lambda protocol: protocol.slug)
def test_a_draft_of_every_protocol_comes_back_as_it_was(owner, protocol: type[Protocol]) -> None:
    file = written(make_campaign(owner, protocol.slug))
    assert written(read_back(owner, file)) == file


def test_chatbots_speak_from_their_dialogues_and_have_no_secrets(owner) -> None:
    live = make_live(owner)
    lines = "\n".join(json.dumps([f"Hello {n}", "Hi.", "How are you?", "Well."]) for n in range(3))
    replace_dialogues(campaign=live, chatbot=chatbot_of(live), file=ContentFile(lines.encode(), "own.jsonl"))
    settings = {"base_url": "https://chat.example.org/v1", "model": "small"}
    add_chatbot(campaign=live, name="Far", connector="openai-chat", settings=settings, secrets={"api_key": KEY})
    Campaign.objects.filter(pk=live.pk).update(platform_secrets="encrypted")
    text = "".join(design_pieces(live, has_outputs=True))
    assert KEY not in text and "secret" not in text
    copy = read_back(owner, json.loads(text))
    assert written(copy)["dialogues"] == {"Amber": lines}
    assert chatbot_of(copy, "Far").settings == chatbot_of(live, "Far").settings
    assert not chatbot_of(copy, "Far").secrets and not copy.platform_secrets


def test_a_file_sent_twice_is_one_campaign(owner, campaign: Campaign) -> None:
    design, public_id = design_in(written(campaign)), uuid4()
    first, second = (create_from_design(owner=owner, design=design, public_id=public_id) for _ in range(2))
    assert first == second


# --- Pages


def uploaded(client: Client, content: bytes, public_id: object = "") -> HttpResponse:
    file = SimpleUploadedFile("design.json", content)
    return client.post(reverse("campaigns:new_design"), {"file": file, "public_id": public_id})


@on_both
def test_a_viewer_takes_a_campaign_to_another_account(viewer_client: Client, stranger_client: Client, ready) -> None:
    address = reverse("campaigns:design_file", args=[ready.public_id])
    assert "autumn-questions-design.json" in viewer_client.get(address)["Content-Disposition"]
    content = viewer_client.get(f"{address}?outputs=yes").getvalue()
    public_id = uuid4()
    answer = uploaded(stranger_client, content, public_id)
    assert answer["Location"] == reverse("campaigns:campaign", args=[public_id])
    copy = Campaign.objects.get(public_id=public_id)
    assert written(copy) == json.loads(content) == written(ready)
    assert Output.objects.filter(source__campaign=copy).count() == Output.objects.count() / 2


def test_a_file_that_is_refused_makes_no_campaign_and_says_why(owner_client: Client, design) -> None:
    design["campaign"]["platform"] = "moon"
    answer = uploaded(owner_client, json.dumps(design).encode())
    assert answer.status_code == 422
    assert "There is no platform “moon”" in answer.content.decode()
    assert Campaign.objects.count() == 1


def test_a_method_that_cannot_analyse_the_file_is_said(owner_client: Client, design) -> None:
    design["campaign"]["method_options"] = {"volume": 11}
    answer = uploaded(owner_client, json.dumps(design).encode())
    assert (answer.status_code, Campaign.objects.count()) == (422, 1)
    assert "has no option “volume”" in answer.content.decode()


def test_an_id_of_another_campaign_is_not_taken(stranger_client: Client, campaign, design) -> None:
    answer = uploaded(stranger_client, json.dumps(design).encode(), campaign.public_id)
    assert (answer.status_code, Campaign.objects.count()) == (422, 1)


# --- Files that are refused


def errors_of(file: object) -> str:
    """Return what is said of a file that is refused."""
    form = form_of(file)
    assert not form.is_valid()
    return "\n".join(form.errors["file"])


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (b"", "empty"),
        (b"{", "This is not JSON"),
        (b"[" * 100_000, "too many levels"),
        (b'{"a":' * 100_000, "too many levels"),
        (b"[" + b"[]," * 4_000_001 + b"[]]", "4,000,000 values"),
        (b'{"n": ' + b"9" * 5000 + b"}", "This is not JSON"),
        (b'{"n": 1e999}', "not a number that can be kept"),
        (b'{"a": "\\ud800"}', "half of a surrogate pair"),
        (b"\xff\xfe{", "This is not JSON"),
        ([], "no design file. Outputs are uploaded under"),
        ({"format": "evalsite results"}, "no design file"),
        ({"format": FORMAT}, "version: write a whole number"),
        ({"format": FORMAT, "version": True}, "version: write a whole number"),
        ({"format": FORMAT, "version": 2, "written_by": "evalsite 9.9"}, "of version 2, by evalsite 9.9, and this"),
        ({"format": FORMAT, "version": 1}, "campaign: write an object"),
        ({"format": FORMAT, "version": 1, "campaign": {"name": "a\0"}}, "cannot be stored (NUL)"),
        ({"format": FORMAT, "version": 1, "campaign": {}}, "campaign, protocol: it is missing"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_design_file_is_refused(file: object, said: str) -> None:
    assert said in errors_of(file)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("campaign.name", ["a"], "campaign, name: write a text."),
        ("campaign.name", "x" * 201, "campaign, name: Ensure this value has at most 200"),
        ("campaign.colour", "red", "campaign, colour: this site does not know it"),
        ("campaign.n_ordinary", "70", "campaign, n_ordinary: write a whole number."),
        ("campaign.n_ordinary", True, "campaign, n_ordinary: write a whole number."),
        ("campaign.n_ordinary", 10**30, "campaign, n_ordinary: "),
        ("campaign.n_ordinary", None, "campaign, n_ordinary: "),
        ("campaign.alpha", 2, "campaign, alpha: "),
        ("campaign.reward", "-1", "campaign, reward: "),
        ("campaign.currency", "€", "campaign, currency: "),
        ("campaign.layout", "spiral", "campaign, layout: "),
        ("campaign.is_adaptive", "yes", "campaign, is_adaptive: write true or false."),
        ("campaign.protocol", "telepathy", "campaign, protocol: There is no protocol “telepathy”"),
        ("campaign.protocol", "dialogue-free", "has rules of live chats"),
        ("campaign.method", "astrology", "campaign, method: There is no method “astrology”"),
        ("campaign.platform", "moon", "campaign, platform: There is no platform “moon”"),
        ("campaign.platform", "moon", "install that here, too"),
        ("campaign.platform_settings", {"token": "x"}, "platform_settings, token: there is no such option"),
        ("campaign.platform_settings", {"access": {"a": 1}}, "campaign, platform_settings: "),
        ("campaign.platform_settings", json.loads("[" * 900 + "]" * 900), "more than 20 levels"),
        ("campaign.screen", {"fields": [{"name": 1}]}, "campaign, screen: Expected `str`, got `int`"),
        ("campaign.screen", {"fields": [{"name": "a", "label": "A"}] * 2}, "Two fields are called “a”"),
        ("campaign.screen", {"fields": [{"name": "", "label": "A"}]}, "a field needs a name"),
        ("campaign.stopping_systems", [1], "write a list of texts"),
        ("campaign.instructions", "x" * 50_001, "campaign, instructions: "),
        ("criteria", {}, "criteria: write a list"),
        ("criteria", [{}] * 31, "criteria: there are 31"),
        ("criteria.0", 5, "criteria 1: write an object"),
        ("criteria.0.response", "hum", "criteria 1, settings: There is no response kind “hum”"),
        ("criteria.0.settings", {"volume": 11}, "has no option “volume”"),
        ("criteria.0.shown_on", "nothing", "criteria 1, shown_on: there is no criterion “nothing” before it"),
        ("criteria.0.statement", "", "criteria 1, statement: "),
        ("systems.0.name", "alder", "several are called “alder”"),
        ("systems.1.is_human", True, "systems, is_human: it is true of several"),
        ("chatbots", [{"system": "human", "connector": "retrieval"}], "a campaign without live chats has none"),
        ("chatbots", [{"system": "human", "connector": "oracle"}], "There is no connector “oracle”"),
        ("dialogues", {"nobody": ""}, "dialogues: there is no chatbot “nobody”"),
        ("sources.0.name", "s1", "sources: several are called “s1”"),
        ("sources.0.outputs", [], "sources: Expected `object`, got `array`"),
        ("sources.0.outputs.alder", "", "source “s0”, alder: the output is empty"),
        ("sources.0.outputs.alder", "x" * 20_001, "source “s0”, alder: the output has 20,001 characters"),
        ("extra", 1, "extra: a design file has no such part"),
    ],
)  # fmt: skip
def test_each_fault_is_said_with_its_place(design: dict[str, Any], place: str, value: object, said: str) -> None:
    *way, last = place.split(".")
    part: Any = design
    for step in way:
        part = part[int(step) if step.isdecimal() else step]
    part[int(last) if last.isdecimal() else last] = value
    assert said in errors_of(design)


@pytest.fixture
def design(campaign: Campaign) -> dict[str, Any]:
    """Return a design file with two sources, of which each has outputs of two systems."""
    add_outputs(campaign, 2, ("human", "alder"))
    for n, source in enumerate(campaign.sources.all()):
        source.name = f"s{n}"
        source.save()
    file = written(campaign)
    file["systems"].sort(key=lambda each: each["name"] != "human")
    return file


def test_a_file_over_the_limit_says_both_sizes_and_what_to_do(settings) -> None:
    settings.MAX_UPLOAD_MB = 1
    said = errors_of(b" " * 2 * 2**20)
    assert "The file has 2 MB and the limit is 1 MB. Download it without the outputs" in said


def test_all_plug_ins_that_this_site_lacks_are_named_at_once(design: dict[str, Any]) -> None:
    design["campaign"] |= {"protocol": "telepathy", "method": "astrology", "platform": "moon", "name": 5}
    design["criteria"][0]["response"] = "hum"
    said = errors_of(design)
    assert all(f"“{slug}”" in said for slug in ("telepathy", "astrology", "moon", "hum"))
    assert said.count("install that here, too") == 4


def test_many_faults_are_counted(design: dict[str, Any]) -> None:
    design["criteria"] = [5] * 20
    assert errors_of(design).count("write an object") == 10
    assert "… and 10 more." in errors_of(design)


def test_markup_in_a_file_is_text_to_workers_and_researchers(owner, owner_client: Client, design) -> None:
    evil = "<script>alert(1)</script>"
    design["campaign"] |= {"name": evil, "study_name": evil, "instructions": evil}
    design["criteria"][0]["statement"] = evil
    copy = read_back(owner, design)
    for page in ("campaign", "criteria", "instructions", "settings"):
        shown = owner_client.get(reverse(f"campaigns:{page}", args=[copy.public_id])).content.decode()
        assert evil not in shown, page


WRONG = (None, True, -(10**20), "", "é" * 3000, ["a", {}], {"": {"b": [1]}})


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each list or object in JSON with each of its keys; of like entries of a list, the first only."""
    known = set()
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        shape = shape_of(inner)
        if isinstance(value, list) and shape in known:
            continue
        known.add(shape)
        yield value, key
        if isinstance(inner, dict | list):
            yield from places_in(inner)


def shape_of(value: Any) -> Any:
    """Return what is where in JSON, without texts and numbers; which kind of response a criterion has stays."""
    if isinstance(value, dict):
        return tuple((key, inner if key == "response" else shape_of(inner)) for key, inner in value.items())
    return tuple(dict.fromkeys(map(shape_of, value))) if isinstance(value, list) else type(value)


def test_places_of_like_entries_are_tried_once() -> None:
    like = [{"a": 1, "b": []}, {"a": 2, "b": []}, {"a": 1, "b": [5]}, {"a": None, "b": []}]
    assert [key for _, key in places_in({"all": like})] == ["all", 0, "a", "b", 2, "a", "b", 0, 3, "a", "b"]
    assert len({shape_of({"response": kind}) for kind in ("slider", "text")}) == 2


@pytest.mark.parametrize("kind", ["outputs", "chats"])
def test_whatever_stands_anywhere_is_refused_or_makes_a_campaign(owner, design: dict[str, Any], kind: str) -> None:
    file = design if kind == "outputs" else written(make_live(owner, names=("Amber",)))
    n_made = 0
    for part, key in places_in(file):
        kept = part[key]
        for value in WRONG:
            part[key] = value
            form = form_of(file)
            if form.is_valid():
                with suppress(DomainError), transaction.atomic():
                    create_from_design(owner=owner, design=form.cleaned_data["file"])
                    n_made += 1
        part[key] = kept
    assert n_made > 20
