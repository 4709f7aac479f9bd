"""Systems by groups of an uploaded file: chosen on its page shown, downloaded and computed again."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import from_json, from_protocol
from analysis.models import AnalysisRun, RatingsFile
from analysis.templatetags.results import changes_since, setting, setting_name
from analysis.web.services.runs import change_run
from analysis.web.services.sharing import create_share_link
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish
from tests.analysis.test_downloads import as_downloaded, replicated
from tests.methods.test_by_groups import DEPENDS, PROTOCOLS, SAID, rows_of

COLUMNS = ["domain", "expertise", "words", "only", "remark"]


def as_csv(protocol: str, **changes: str) -> bytes:
    """Return the responses of a protocol, with other names of columns."""
    rows = [{changes.get(name, name): value for name, value in row.items()} for row in rows_of(protocol)]
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return text.getvalue().encode()


def offered(page: str) -> list[str]:
    return [name for name in COLUMNS if f'name="groups" value="{name}"' in page]


@pytest.mark.parametrize("protocol", ["likert", "da-translation"])
def test_groups_are_chosen_on_the_page_of_a_file_and_their_results_shown(
    upload, owner_client: Client, protocol: str, tmp_path: Path
) -> None:
    file = upload(as_csv(protocol))
    address = reverse("analysis:protocol", args=[file.pk]) + f"?protocol={protocol}"
    page = owner_client.get(address)
    assert offered(page.text) == COLUMNS
    sent: Mapping[str, object] = {
        **{name: "" if value is None else value for name, value in page.context["form"].initial.items()},
        "groups": ["domain", "only"],
        "criteria-TOTAL_FORMS": "1",
        "criteria-INITIAL_FORMS": "1",
        "criteria-0-name": "adequacy",
        "criteria-0-is_in_worker_test": "on",
    }
    answer = owner_client.post(address, {name: value for name, value in sent.items() if value != ""})
    assert answer.status_code == 302, answer.context["form"].errors
    run = finish(AnalysisRun.objects.get())
    assert run.settings["groups"] == ["domain", "only"]
    shown = owner_client.get(reverse("analysis:groups", args=[run.pk])).text
    assert DEPENDS in shown.replace("&lt;", "<") and SAID[0] in shown
    assert "All answers that count have the same only: same." in shown
    assert "by groups of domain, only" in owner_client.get(reverse("analysis:ratings_file", args=[file.pk])).text
    summary, again = replicated(as_downloaded(owner_client, run), tmp_path)
    assert again == summary
    assert json.loads(summary)["groups"] == run.report["groups"]


def test_a_change_of_groups_is_named_between_runs(upload, start, owner_client: Client) -> None:
    file = upload(as_csv("likert"))
    settings = {"protocol": "likert", "worker_test": "none"}
    first = start(file, from_json(settings))
    second = start(file, from_json(settings | {"groups": ["domain"]}), parent=first)
    [change] = changes_since(second, first)
    assert (setting_name(change), setting(change.before, change), setting(change.after, change)) == (
        *("Compared by groups of", "none", "domain"),
    )
    page = owner_client.get(reverse("analysis:protocol", args=[file.pk]) + f"?run={second.pk}").text
    assert 'value="domain" id="id_groups_0" checked' in page.replace('aria-describedby="id_groups_helptext" ', "")


def test_a_table_that_is_made_from_a_file_keeps_the_columns_that_are_named(owner_client: Client) -> None:
    """Of two tasks each becomes a table; it has the columns of groups, and no others beside those that are known."""
    rows = as_csv("likert", only="language_pair").replace(b",same,", b",en-de,")
    lines = rows.splitlines()
    both = b"\n".join([*lines, *(line.replace(b",en-de,", b",en-zh,") for line in lines[1:])])

    def send(groups: str):
        file = SimpleUploadedFile("ratings.csv", both)
        return owner_client.post("/analysis/new/", {"file": file, "groups": groups})

    assert send("domain, expertise").status_code == 302
    made = RatingsFile.objects.all()
    assert {file.made_from["task"] for file in made} == {"en-de", "en-zh"}
    assert all([name for name in file.columns if name in COLUMNS] == ["domain", "expertise"] for file in made)
    page = owner_client.get(reverse("analysis:protocol", args=[made[0].pk]) + "?protocol=likert").text
    assert offered(page) == ["domain", "expertise"]
    assert "no column “domian” of groups" in send("domian").text


def test_what_was_answered_is_not_offered_as_groups(upload, owner_client: Client) -> None:
    file = upload(as_csv("preference"))
    page = owner_client.get(reverse("analysis:protocol", args=[file.pk]) + "?protocol=preference")
    assert offered(page.text) == COLUMNS
    assert not [name for name in ("winner", "system_a", "worker") if f'name="groups" value="{name}"' in page.text]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_groups_are_on_a_page_in_a_table_and_in_what_scripts_get(
    protocol: str, upload, start, owner_client: Client
) -> None:
    test = {} if protocol == "option-selection" else {"worker_test": "none"}
    criteria = {"criteria": ["adequacy"]} if protocol == "da-translation" else {}
    settings = from_json({"protocol": protocol, "groups": ["domain"], **test, **criteria})
    run: AnalysisRun = start(upload(as_csv(protocol), name="ratings.csv"), settings)
    [found] = run.report["groups"]
    assert found["said"][1] == SAID[0]
    page = reverse("analysis:groups", args=[run.pk])
    assert page in owner_client.get(reverse("analysis:run", args=[run.pk])).text
    assert SAID[0] in owner_client.get(page).text
    table = owner_client.get(reverse("analysis:run_file", args=[run.pk, "tables/groups-domain.csv"])).getvalue()
    scores = [row for row in csv.DictReader(io.StringIO(table.decode("utf-8-sig"))) if row["system"] == "beta"]
    assert [row["domain"] for row in scores] == ["chats", "news"]
    sections = owner_client.get(reverse("api:sections", args=[run.pk])).json()
    assert "groups" in {section["slug"] for section in sections}


def test_groups_of_a_campaign_are_on_its_page_and_behind_a_share_link(owner: User, owner_client: Client) -> None:
    campaign = rated_campaign(owner)
    run = analysed(campaign, owner)
    findings = reverse("analysis:campaign_results", args=[campaign.public_id])
    page = reverse("analysis:campaign_groups", args=[campaign.public_id])
    assert page in owner_client.get(findings).text and "output_words" in owner_client.get(page).text
    link = create_share_link(campaign=campaign, user=owner, note="reviewers")
    shared, first = (reverse(f"shared:{name}", args=[link.token]) for name in ("groups", "run"))
    assert shared not in Client().get(first).text, "readers of a link can ask for nothing"
    finish(change_run(run=run, user=owner, groups=("position",)))
    assert "depend on position" in owner_client.get(page).text
    assert shared in Client().get(first).text and "depend on position" in Client().get(shared).text


def test_one_press_compares_by_a_column_of_the_ratings(
    upload, start, owner_client: Client, stranger_client: Client
) -> None:
    settings = from_json({"protocol": "likert", "worker_test": "none"})
    run: AnalysisRun = start(upload(as_csv("likert"), name="ratings.csv"), settings)
    page = reverse("analysis:groups", args=[run.pk])
    text = owner_client.get(page).text
    assert offered(text) == ["domain", "expertise", "words"], "one value is no groups, and remarks are too many"
    assert "chats" in text and "numbers, in quarters: " in text
    assert owner_client.post(page, {"groups": "worker"}).status_code == 422
    assert owner_client.post(page, {}).status_code == 422
    assert stranger_client.post(page, {"groups": "domain"}).status_code == 404
    answer = owner_client.post(page, {"groups": "domain"})
    made = finish(AnalysisRun.objects.exclude(pk=run.pk).get())
    assert answer["Location"] == reverse("analysis:groups", args=[made.pk])
    assert (made.parent, made.settings) == (run, run.settings | {"groups": ["domain"]})
    assert SAID[0] in owner_client.get(answer["Location"]).text


def test_columns_of_style_are_no_groups_of_votes(upload, start, owner_client: Client) -> None:
    rows = [f"w{k % 4},s{k},x,y,{'ab'[k % 3 % 2]},{k},{2 * k},{k % 2}" for k in range(40)]
    content = "\n".join(["worker,source,system_a,system_b,winner,words_a,words_b,domain", *rows])
    run = start(upload(content.encode(), name="votes.csv"), from_protocol("preference"))
    text = owner_client.get(reverse("analysis:groups", args=[run.pk])).text
    assert 'name="groups" value="domain"' in text and "words_a" not in text


def test_ratings_without_groups_say_where_such_come_from(upload, start, owner_client: Client) -> None:
    names = dict.fromkeys(COLUMNS, "")
    rows = [{key: value for key, value in row.items() if key not in names} for row in rows_of("likert")]
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    run = start(upload(text.getvalue().encode()), from_json({"protocol": "likert", "worker_test": "none"}))
    assert "one more column of the outputs" in owner_client.get(reverse("analysis:groups", args=[run.pk])).text
