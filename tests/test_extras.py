"""An installation without what is large and rarely needed: pages, checks and commands say what to install."""

import os
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from crowd.services.account import check_account, open_account
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.crowd.campaigns import make_crowd_campaign, plan

SAID = (
    "Amazon Mechanical Turk needs the library botocore, which is not installed here. An administrator can install it: "
    "pip install 'evalsite[mturk]'."
)


@pytest.fixture
def without_amazon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("botocore", "boto3", "storages"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.django_db
@pytest.mark.usefixtures("without_amazon")
def test_without_amazons_library_the_account_and_publishing_say_so(
    owner: User, owner_client: Client, admin_client: Client
) -> None:
    campaign = make_crowd_campaign(owner, "mturk")
    page = owner_client.get(reverse("crowd:platform", args=[campaign.public_id]))
    assert page.status_code == 200
    assert SAID in unescape(page.text)
    for refused in (
        lambda: open_account(campaign),
        lambda: check_account(campaign=campaign, user=owner),
        lambda: plan(campaign, owner),
    ):
        with pytest.raises(DomainError) as error:
            refused()
        assert (error.value.code, error.value.message) == ("missing_library", SAID)
    blocked = owner_client.get(reverse("crowd:plan", args=[campaign.public_id]), {"n_hits": 1})
    assert SAID in unescape(blocked.text)
    assert "Enter them" not in blocked.text, "keys are no help"
    system = unescape(admin_client.get(reverse("desk:system")).text)
    assert SAID in system


@pytest.mark.django_db
def test_where_it_is_installed_nothing_is_said(owner: User, owner_client: Client, admin_client: Client) -> None:
    campaign = make_crowd_campaign(owner, "mturk")
    for client, address in (
        (owner_client, reverse("crowd:platform", args=[campaign.public_id])),
        (admin_client, reverse("desk:system")),
    ):
        assert "not installed here" not in client.get(address).text


def failed_without(library: str, command: str, folder: Path, **environment: str) -> str:
    """Run a command where a library is not installed; return what it says when it fails, which is no traceback."""
    code = f"import sys; sys.modules[{library!r}] = None; from evalsite.command import main; main()"
    own = {"EVALSITE_DATA": str(folder), "DJANGO_SETTINGS_MODULE": "evalsite.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code, command],
        cwd=Path(__file__).parents[1],
        env=os.environ | own | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.usefixtures("without_amazon")
def test_the_simulator_says_what_it_needs() -> None:
    with pytest.raises(CommandError, match=r"The simulator needs the library botocore.*evalsite\[mturk\]"):
        call_command("crowd_simulator")


def test_the_simulator_of_the_command_line_starts_without_amazons_library_to_say_so(tmp_path: Path) -> None:
    assert "evalsite[mturk]" in failed_without("botocore", "crowd_simulator", tmp_path)


@pytest.mark.parametrize("library", ["boto3", "storages"])
def test_a_bucket_without_its_library_is_refused_when_the_site_starts(library: str, tmp_path: Path) -> None:
    said = f"MEDIA_BUCKET needs the library {library}, which is not installed here."
    assert said in failed_without(library, "check", tmp_path, MEDIA_BUCKET="uploads")
