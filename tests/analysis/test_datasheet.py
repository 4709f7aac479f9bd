"""The Human Evaluation Datasheet: filled from a campaign, completed by researchers, as page, file and command."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.urls import reverse

from analysis.models import AnalysisRun, PaperAnswer
from analysis.results.paper import heds
from analysis.results.reading import read_result
from analysis.web.queries.campaigns import get_datasheet
from analysis.web.queries.facts import get_facts
from analysis.web.services.datasheets import save_answers
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from tests.analysis.campaigns import analysed, rated_campaign
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner

# The questions of the form of HEDS 3.0, those of section 4 once.
_NUMBERS = """
1.1.1 1.1.2 1.2 1.3.1.1 1.3.1.2 1.3.1.3 1.3.2.1 1.3.2.2 1.3.2.3
2.1 2.2 2.3 2.4 2.5
3.1.1 3.1.2 3.1.3.1 3.1.3.2 3.1.3.3
3.2.1 3.2.2.1 3.2.2.2 3.2.2.3 3.2.2.4 3.2.3 3.2.4 3.2.5
3.3.1 3.3.2 3.3.3.1 3.3.3.2 3.3.4.1 3.3.4.2 3.3.5 3.3.6 3.3.7 3.3.8
4.1.1 4.1.2 4.1.3 4.2.1 4.2.2 4.2.3
4.3.1.1 4.3.1.2 4.3.2 4.3.3 4.3.4 4.3.5 4.3.6 4.3.7 4.3.8 4.3.9 4.3.10 4.3.11.1 4.3.11.2 4.3.12.1 4.3.12.2
5.1 5.2 5.3 5.4
"""
NUMBERS = _NUMBERS.split()


@pytest.fixture(scope="module")
def files(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sheet")
    with override_settings(MEDIA_ROOT=folder):
        analysed(rated_campaign(make_owner()))
    return folder


@pytest.fixture(autouse=True)
def media(settings, files: Path) -> None:
    settings.MEDIA_ROOT = files


@pytest.fixture
def campaign(db: None) -> Campaign:
    return Campaign.objects.get()


@pytest.fixture
def owner(campaign: Campaign) -> User:
    return campaign.memberships.get().user


def answers_of(campaign: Campaign) -> dict[str, heds.Question]:
    """Return the questions by number; of section 4 those of the last criterion."""
    return {each.number: each for section in get_datasheet(campaign) for each in section.questions}


def test_it_has_every_question_of_heds_and_section_4_for_each_criterion(campaign: Campaign) -> None:
    sections = get_datasheet(campaign)
    assert list(answers_of(campaign)) == NUMBERS
    of_criteria = [section for section in sections if section.number == "4"]
    assert [section.title for section in of_criteria] == [
        f"Quality Criterion: {name}" for name in campaign.criteria.values_list("name", flat=True)
    ]
    keys = heds.keys_of(sections)
    assert (
        len(keys) == len(set(keys)) == len(NUMBERS) + (len(of_criteria) - 1) * sum(each[0] == "4" for each in NUMBERS)
    )
    for section in sections:
        for each in section.questions:
            assert bool(each.answer) != each.is_open and (each.hint or not each.is_open), each


def test_what_the_campaign_knows_is_filled_in(campaign: Campaign) -> None:
    report = AnalysisRun.objects.get().report
    found = answers_of(campaign)
    n_counted = sum(row["verdict"] == "passed" for row in report["worker_table"])
    assert found["3.2.1"].answer == str(n_counted)
    assert (
        found["3.3.3.1"].answer.startswith("2. Automatic quality checking")
        and "4. Evaluators" in found["3.3.3.1"].answer
    )
    assert "6 degraded items and 3 exact repeats" in found["3.3.3.2"].answer
    assert found["4.3.5"].answer.startswith("3. Slider") and found["4.3.8"].answer.startswith("1. (Dis)agreement")
    last = campaign.criteria.last()
    assert last and last.statement in found["4.3.7"].answer
    intra = report["questions"]["reliability"]["intra"]["passed"]["correlations"]["pearson"]["quartiles"][1]
    assert found["4.3.12.2"].answer == f"Median r = {intra:.3f}"
    assert found["3.2.2.2"].is_open and found["5.1"].is_open and found["2.4"].is_open
    paid = heds.datasheet(get_facts(Campaign(pk=campaign.pk, **_paid(campaign))), read_result(report))
    assert "1. Paid (monetary compensation): EUR 2.00 for each HIT." in [q.answer for s in paid for q in s.questions]


def _paid(campaign: Campaign) -> dict[str, object]:
    names = [field.attname for field in Campaign._meta.concrete_fields if field.attname != "id"]
    return {name: getattr(campaign, name) for name in names} | {"reward": 2, "currency": "EUR"}


def test_before_there_are_results_the_design_is_filled_in(owner: User) -> None:
    found = answers_of(make_campaign(owner))
    assert found["3.2.1"].is_open and found["4.3.9"].is_open and found["4.3.11.2"].is_open
    assert found["4.3.5"].origin == "campaign"


def test_researchers_complete_it_in_the_page_and_viewers_read_it(
    campaign: Campaign, owner: User, colleague: User
) -> None:
    address, editor, viewer = reverse("analysis:campaign_datasheet", args=[campaign.public_id]), Client(), Client()
    editor.force_login(owner)
    add_member(campaign, colleague, "viewer")
    viewer.force_login(colleague)
    page = editor.get(address).text
    n_open = heds.to_document("", get_datasheet(campaign))["n_open"]
    assert "to be completed" in page and 'name="heds-5.1"' in page and "data-autosave" in page

    saved = editor.post(address, {"heds-5.1": "The <b>board</b> of 2026"}, headers={"X-Autosave": "1"})
    assert saved.json()["saved"] is True
    editor.post(address, {"heds-3.2.1": "12", "statement-b": "en-IE"})
    read = viewer.get(address).text
    assert "The &lt;b&gt;board&lt;/b&gt; of 2026" in read and "<textarea" not in read
    assert "<textarea" not in editor.get(f"{address}?read").text
    found = answers_of(campaign)
    assert (found["3.2.1"].answer, found["3.2.1"].origin) == ("12", "researcher")
    assert heds.to_document("", get_datasheet(campaign))["n_open"] == n_open - 1
    paper = viewer.get(reverse("analysis:campaign_downloads", args=[campaign.public_id])).text
    assert "en-IE" in paper
    assert viewer.post(address, {"heds-5.1": "mine"}).status_code == 403

    editor.post(address, {"heds-3.2.1": ""})  # what the campaign says is back
    assert answers_of(campaign)["3.2.1"].origin == "campaign"
    long = editor.post(address, {"heds-5.2": "x" * 10_001}, headers={"X-Autosave": "1"})
    assert long.status_code == 422 and list(long.json()["errors"]) == ["heds-5.2"]
    with pytest.raises(DomainError, match="no question"):
        save_answers(campaign=campaign, user=owner, answers={"heds-9.9": "?"})
    assert PaperAnswer.objects.count() == 3


def test_it_is_a_file_in_two_formats_and_in_the_package(campaign: Campaign, owner: User) -> None:
    client = Client()
    client.force_login(owner)
    save_answers(campaign=campaign, user=owner, answers={"heds-1.3.1.1": "A. Tester"})
    document = client.get(reverse("analysis:campaign_datasheet_file", args=[campaign.public_id, "json"])).json()
    assert (document["datasheet"], document["version"], document["campaign"]) == ("HEDS", "3.0", campaign.name)
    text = client.get(reverse("analysis:campaign_datasheet_file", args=[campaign.public_id, "md"])).text
    assert "**1.3.1.1: Name of the person completing this sheet.**\n\nA. Tester\n\n*(completed by hand)*" in text
    assert "*(from the campaign)*" in text and "*To be completed:*" in text
    assert client.get(reverse("analysis:campaign_datasheet_file", args=[campaign.public_id, "exe"])).status_code == 404

    folder = Path(django_settings.MEDIA_ROOT) / AnalysisRun.objects.get().folder
    with zipfile.ZipFile(folder / "package.zip") as package:
        packed = json.loads(package.read("datasheet.json"))
        assert [part["title"] for part in packed["sections"]] == [part["title"] for part in document["sections"]]
        assert "datasheet.md" in package.read("README.txt").decode()
        assert package.read("paper.txt").decode().startswith("Methods\n\nHuman raters assessed")
        workers = [row["worker"].encode() for row in AnalysisRun.objects.get().report["worker_table"]]
        for name in ("datasheet.md", "paper.txt"):
            assert not [worker for worker in workers if worker in package.read(name)]
    downloads = client.get(reverse("analysis:campaign_downloads", args=[campaign.public_id])).text
    assert "read datasheet.md and paper.txt before you pass the package on" in downloads


def test_the_command_prints_it(campaign: Campaign) -> None:
    out, err = io.StringIO(), io.StringIO()
    call_command("datasheet", str(campaign.public_id), format="json", stdout=out, stderr=err)
    document = json.loads(out.getvalue())
    assert f"{document['n_open']} of" in err.getvalue()
    text = io.StringIO()
    call_command("datasheet", campaign.name, stdout=text, stderr=io.StringIO())
    assert text.getvalue().startswith(f"# Human Evaluation Datasheet (HEDS 3.0): {campaign.name}\n")
    with pytest.raises(CommandError, match="no campaign"):
        call_command("datasheet", "no such campaign")
