"""Degraded outputs that a researcher has made, in a column beside the outputs."""

import csv
import io
import json
from dataclasses import replace

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client

from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.design_file import design_pieces
from campaigns.forms.design_file import DesignFileForm
from campaigns.models import Campaign, HitItem, Output
from campaigns.services.copies import create_from_design, duplicate_campaign
from campaigns.services.hits import execute_build
from campaigns.services.screens import change_screen
from evalsite.accounts.models import User
from tests.campaigns.cast import make_campaign
from tests.campaigns.data.files import bring_in, upload
from tests.databases import on_both

pytestmark = [pytest.mark.django_db, on_both]
MARK = "made worse by hand"


def table(degraded: dict[tuple[int, str], str]) -> str:
    stream = io.StringIO()
    rows = csv.writer(stream)
    rows.writerow(["source_id", "source", "system", "output", "degraded"])
    for n in range(8):
        for system in ("alder", "birch"):
            text = f"The answer number {n} that {system} gave to somebody in the street."
            rows.writerow([f"s{n}", f"Question {n}", system, text, degraded.get((n, system), "")])
    return stream.getvalue()


@pytest.fixture
def campaign(owner: User) -> Campaign:
    campaign = make_campaign(owner, "custom")
    Campaign.objects.filter(pk=campaign.pk).update(n_ordinary=16, n_degraded=16, n_repeat=0)
    return campaign


def build(campaign: Campaign) -> list[HitItem]:
    campaign.refresh_from_db()
    execute_build(campaign=campaign, on_progress=lambda *_: None, saving=transaction.atomic)
    return list(HitItem.objects.filter(hit__campaign=campaign, kind=Kind.DEGRADED).select_related("output"))


def test_they_take_the_place_of_made_ones(owner_client: Client, owner: User, campaign: Campaign) -> None:
    given = {(n, "alder"): f"{MARK} {n}" for n in range(8)}
    found = upload(owner_client, campaign, table(given))
    assert found.layout["roles"]["degraded"] == "degraded"
    assert bring_in(owner_client, campaign, table(given)).imported_at
    items = build(campaign)
    assert {item.text.startswith(MARK) for item in items} == {True, False}
    assert all(item.text == item.output.degraded for item in items if item.output.degraded)
    assert all(item.text not in ("", item.output.text) for item in items)

    design = "".join(design_pieces(campaign, has_outputs=True))
    assert json.loads(design)["sources"][0]["degraded"] == {"alder": f"{MARK} 0"}
    form = DesignFileForm(files={"file": SimpleUploadedFile("design.json", design.encode())})
    assert form.is_valid()
    for copy in (
        duplicate_campaign(campaign=campaign, owner=owner, as_replication=False),
        create_from_design(owner=owner, design=form.cleaned_data["file"]),
    ):
        outputs = Output.objects.filter(source__campaign=copy).exclude(degraded="")
        assert sorted(outputs.values_list("degraded", flat=True)) == sorted(given.values())


def test_one_that_is_the_output_is_refused(owner_client: Client, campaign: Campaign) -> None:
    same = {(0, "birch"): "The answer number 0 that birch gave to somebody in the street."}
    problems = bring_in(owner_client, campaign, table(same)).problems
    assert "is the output itself" in problems["rows"][0][2] and problems["rows"][0][0] == 3


def test_another_format_reads_them_again(owner_client: Client, campaign: Campaign) -> None:
    assert bring_in(owner_client, campaign, table({(0, "alder"): "Person: Hi.\nBot: No."})).imported_at
    Output.objects.filter(source__campaign=campaign).update(text="User: Hello.\nBot: Good day to you all.")
    change_screen(campaign=campaign, screen=replace(Screen.from_json(campaign.screen), output_format="dialogue"))
    kept = Output.objects.filter(source__campaign=campaign).exclude(degraded="").get()
    assert kept.degraded == "Person: Hi.\nChatbot: No." and kept.text.startswith("Person: Hello.")
