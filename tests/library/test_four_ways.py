"""Command line, site, API and library say the same numbers of the same responses, whatever they are."""

import io
import json
from html import unescape
from pathlib import Path
from typing import Any

import pandas
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import reverse

import evalsite as ev
from analysis.models import AnalysisRun
from evalsite.accounts.models import User
from tests.analysis.conftest import finish, media  # noqa: F401
from tests.api.conftest import Api, api  # noqa: F401
from tests.methods.test_by_groups import PROTOCOLS, rows_of

ROOT = "/api/v1/"


def rows_with_style(protocol: str) -> list[dict[str, Any]]:
    """Return responses in which votes say how long both outputs are."""
    rows = list(rows_of(protocol))
    lengths = [{"words_a": 20 + 7 * k % 13, "words_b": 20 + 5 * k % 11} for k in range(len(rows))]
    return [row | more for row, more in zip(rows, lengths, strict=True)] if protocol == "preference" else rows


def settings_of(protocol: str) -> dict[str, Any]:
    """Return the settings of a protocol without a worker test, which these responses could not have.

    Votes are ranked with the length of outputs taken out.
    """
    settings: dict[str, Any] = ev.read(list(rows_of(protocol)), protocol).settings.to_json()
    test = settings["worker_test"] if protocol == "option-selection" else {"preset": "none", "alpha": 0.05}
    options = {"options": {"style": "adjust"}} if protocol == "preference" else {}
    return settings | {"worker_test": test, "groups": ["domain"]} | options


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_four_ways_to_the_same_numbers(
    protocol: str,
    api: Api,  # noqa: F811
    owner: User,
    owner_client: Client,
    tmp_path: Path,
) -> None:
    rows, settings = rows_with_style(protocol), settings_of(protocol)
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    path = tmp_path / "responses.csv"
    pandas.DataFrame(rows).to_csv(path, index=False)

    of_library = ev.analyse(rows, settings)
    found = of_library.to_json()
    assert found["systems"] and found["findings"]

    printed = io.StringIO()
    call_command("analyse", path, protocol=str(tmp_path / "settings.json"), format="json", stdout=printed)
    assert json.loads(printed.getvalue()) == json.loads(json.dumps(found))

    script = api(owner)
    upload = {"file": SimpleUploadedFile(path.name, path.read_bytes())}
    file = script.post(f"{ROOT}ratings-files/", upload, MULTIPART_CONTENT).json()
    started = script.post(f"{ROOT}ratings-files/{file['id']}/runs/", {"settings": settings})
    assert started.status_code == 202, started.content
    run = finish(AnalysisRun.objects.select_related("ratings_file").get(pk=started.json()["id"]))
    report = script.get(f"{ROOT}runs/{run.pk}/report/").json()
    assert report["findings"] == found["findings"]
    assert report["summary"]["systems"] == json.loads(json.dumps(found["systems"]))
    assert report["groups"] == json.loads(json.dumps(found["groups"]))
    assert report.get("style") == json.loads(json.dumps(found.get("style")))
    assert bool(report.get("style")) == (protocol == "preference")
    assert [pair["p_holm"] for pair in report["pairs"]] == of_library.pairs["p_holm"]

    page = unescape(owner_client.get(reverse("analysis:run", args=[run.pk])).text)
    for sentence in found["findings"]:
        assert sentence in page
    copied = owner_client.get(reverse("analysis:run_file", args=[run.pk, "tables/systems.csv"]))
    assert b"".join(copied.streaming_content).decode() == of_library.table("systems").to_csv()  # type: ignore[attr-defined]
