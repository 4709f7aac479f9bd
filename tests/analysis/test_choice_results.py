"""Results of chosen options, from uploaded files and from campaigns: what pages show, and what is downloaded."""

import csv
import io
import json
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from analysis.methods.settings import from_protocol
from analysis.models import AnalysisRun, RatingsFile
from analysis.web.queries.campaigns import settings_of
from analysis.web.services.runs import start_run
from annotation.export.tables import TABLES
from annotation.models import Response
from annotation.simulation.running import make_crowd, open_site, run_crowd
from annotation.worker_names import hashed_name
from campaigns.checklist import checklist
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign
from campaigns.services.criteria import add_criterion, change_criterion
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables.blocks import in_rows
from tests.analysis.campaigns import analysed
from tests.analysis.conftest import finish
from tests.analysis.test_downloads import as_downloaded, replicated
from tests.annotation.cast import build, launch
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

WORKERS = ("ann@example.org", "bob@example.org", "eve@example.org")


def answers_csv() -> bytes:
    """Return answers of three workers to the same outputs of two systems."""
    rows = [
        f"{worker},s{k},{system},{'yes' if (k + place + j) % 3 else 'no'}"
        for k in range(6)
        for place, system in enumerate(("A", "B"))
        for j, worker in enumerate(WORKERS)
    ]
    return "\n".join(["worker,source,system,answer", *rows]).encode()


def shares_csv(shift: int) -> bytes:
    """Return answers of four workers to outputs of three systems, of which the last ones are good more often."""
    rows = [
        f"w{worker},s{k},{system},{'yes' if (7 * k + 3 * worker + shift * k * k) % 10 < 3 * place + 2 else 'no'}"
        for k in range(20)
        for place, system in enumerate(("ash", "elm", "oak"))
        for worker in range(4)
    ]
    return "\n".join(["worker,source,system,answer", *rows]).encode()


# --- Uploaded files


def test_two_results_of_shares_are_compared_and_not_with_levels(owner: User, owner_client: Client, upload) -> None:
    first, second = (
        finish(
            start_run(
                ratings_file=upload(shares_csv(shift), name="answers.csv", title=f"Answers {shift}"),
                user=owner,
                settings=from_protocol("option-selection"),
            )
        )
        for shift in (0, 1)
    )
    page = owner_client.get(f"{reverse('analysis:compare', args=[first.pk])}?second={second.pk}")
    assert page.status_code == 200
    assert "of the scores is" in page.text and "over 3 systems; no system has another rank" in page.text
    address = f"{reverse('analysis:compare_any')}?first={first.pk}&second={second.pk}"
    assert "System by system" in owner_client.get(address).text
    query = f"?first={first.pk}&second={second.pk}&file=tables/comparison-systems.csv"
    table = owner_client.get(reverse("analysis:comparison_file") + query)
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["system"] for row in rows] == ["oak", "elm", "ash"]
    scores = {row["system"]: row["score"] for row in first.report["summary"]["systems"]}
    assert [float(row["score first"]) for row in rows] == [scores[row["system"]] for row in rows]

    levels = upload(b"worker,source,system,score\nw,1,ash,3\nw,1,elm,2\nw,1,oak,1\n", name="levels.csv")
    other = finish(start_run(ratings_file=levels, user=owner, settings=from_protocol("likert")))
    refused = owner_client.get(f"{reverse('analysis:compare_any')}?first={first.pk}&second={other.pk}")
    assert refused.status_code == 422 and "These are of: Options, Ordered levels." in refused.text
    offered = owner_client.get(reverse("analysis:compare", args=[first.pk])).context["offered"]
    assert {run.pk for run in offered} == {first.pk, second.pk}


def test_workers_of_labels_are_named_in_no_download_and_to_no_viewer(
    owner: User, owner_client: Client, colleague: User, colleague_client: Client, upload, tmp_path
) -> None:
    file = upload(answers_csv(), name="answers.csv")
    run = finish(start_run(ratings_file=file, user=owner, settings=from_protocol("option-selection")))
    assert {row["worker"] for row in run.report["labels"]["workers"]} == set(WORKERS)
    package = as_downloaded(owner_client, run)
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert not [worker for worker in WORKERS if worker in content]
    summary, printed = replicated(package, tmp_path)
    assert printed == summary
    labels = reverse("analysis:section", args=[run.pk, "labels"])
    assert WORKERS[0] in owner_client.get(labels).text
    seen = _as_viewer(run, owner, colleague, colleague_client)
    assert "Workers by labels" in seen and not [worker for worker in WORKERS if worker in seen]


def _as_viewer(run: AnalysisRun, owner: User, colleague: User, client: Client) -> str:
    """Return the page of labels as a viewer of the campaign sees it that the file belongs to."""
    campaign: Campaign = make_campaign(owner, "option-selection")
    add_member(campaign, colleague, "viewer")
    run.ratings_file.campaign, run.ratings_file.n_assignments = campaign, len(WORKERS)
    run.ratings_file.save()
    return client.get(reverse("analysis:section", args=[run.pk, "labels"]), follow=True).text


def two_questions() -> str:
    """Return answers of two workers to two questions about the same outputs."""
    rows = [
        f"{worker},s{k},{system},{criterion},{options[(k + place + j) % 3 % 2]}"
        for k in range(4)
        for place, system in enumerate("AB")
        for j, worker in enumerate(("ann", "bob"))
        for criterion, options in (("tone", ("polite", "rude")), ("true", ("yes", "no")))
    ]
    return "\n".join(["worker,source,system,criterion,answer", *rows]) + "\n"


def test_good_options_of_each_criterion_are_chosen_on_the_page_of_the_protocol(
    owner_client: Client, upload: Callable[..., RatingsFile]
) -> None:
    file = upload(two_questions().encode(), name="answers.csv")
    address = reverse("analysis:protocol", args=[file.pk]) + "?protocol=option-selection"
    for options, words in (
        ('{"good": {"tone": []}}', "“good” of the criterion “tone” must be a list of options"),
        ('{"good": {"tone": ["rude"], "Tone": ["rude"]}}', "names one criterion twice"),
    ):
        refused = owner_client.post(address, {"options": options})
        assert refused.status_code == 422 and words in refused.text
    assert owner_client.post(address, {"options": '{"good": {"tone": ["polite"]}}'}).status_code == 302
    run = finish(AnalysisRun.objects.select_related("ratings_file").get())
    assert run.report["summary"]["scored"] == ["tone", "true"]
    again = reverse("analysis:protocol", args=[file.pk]) + f"?run={run.pk}"
    assert "polite" in owner_client.get(again).text, "the next analysis begins with the same options"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('{"good": ["polite"]}', "does not say of which criterion it is"),
        ('{"good": {"tune": ["polite"]}}', "names the criterion “tune”. The criteria are: tone, true."),
        ('{"good": {"tone": ["nice"]}}', "“nice” for the criterion “tone”. Its options are: polite, rude."),
    ],
)
def test_options_that_a_file_does_not_have_are_refused_by_its_analysis(
    owner_client: Client, upload: Callable[..., RatingsFile], options: str, said: str
) -> None:
    file = upload(two_questions().encode(), name="answers.csv")
    owner_client.post(reverse("analysis:protocol", args=[file.pk]) + "?protocol=option-selection", {"options": options})
    with pytest.raises(DomainError) as refused:
        finish(AnalysisRun.objects.select_related("ratings_file").get())
    assert said in refused.value.message


# --- Campaigns


N_HITS, N_SYSTEMS, N_WORKERS = 4, 4, 4
GOOD = {"good": {"tone": ["polite"]}}


def draft(owner: User) -> Campaign:
    """Return a campaign that asks for good answers, for the tone and, of texts that are not polite, why not."""
    campaign = make_campaign(owner, "option-selection")
    tone = {"name": "tone", "statement": "How is the tone?", "response": "choice", "is_in_worker_test": False}
    add_criterion(campaign=campaign, fields=tone | {"settings": {"options": "polite\nneutral\nrude"}})
    add_criterion(
        campaign=campaign,
        fields=tone
        | {"name": "why", "statement": "Why?", "settings": {"options": "short\nlong"}, "is_required": False}
        | {"shown_on": campaign.criteria.get(name="tone").pk, "shown_values": ["neutral", "rude"]},
    )
    return campaign


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    """The same, answered by a crowd; two workers answer each HIT."""
    campaign = draft(make_owner())
    change_campaign(campaign=campaign, changes={"method_options": GOOD})
    campaign.refresh_from_db()
    campaign.workers_per_hit, campaign.hits_per_worker = 2, 2 * N_HITS // N_WORKERS
    campaign.save()
    build(campaign, N_HITS, N_SYSTEMS)
    for source in campaign.sources.all():
        source.fields |= {"options": "a; b\nc\nd", "correct": "a; b"}
        source.save()
    launch(campaign)
    quality = dict(zip(sorted(campaign.systems.values_list("name", flat=True)), (2, 0.5, -0.5, -2), strict=True))
    with open_site(None) as client:
        crowd = make_crowd(campaign, seed=3, n_workers=N_WORKERS, quality=quality)
        outcome = run_crowd(campaign, crowd, client)
    assert (outcome.errors, outcome.n_hits) == ([], 2 * N_HITS)
    campaign.refresh_from_db()
    return campaign


@pytest.fixture
def campaign(made: Campaign, db: None) -> Campaign:
    return Campaign.objects.get(pk=made.pk)


@pytest.fixture
def owner(made: Campaign, db: None) -> User:
    return made.memberships.get(role="owner").user


def ordinary_rows(campaign: Campaign) -> list[dict]:
    columns, blocks = TABLES["answers"]
    found = (dict(zip(columns, row, strict=True)) for row in in_rows(blocks(campaign, names=hashed_name)))
    return [row for row in found if row["kind"] == "ordinary"]


def test_options_of_a_campaign_follow_from_its_criteria(campaign: Campaign) -> None:
    """Sources have options of their own for the first one, so none are said of it."""
    offered = {"tone": ["polite", "neutral", "rude"], "why": ["short", "long"]}
    assert settings_of(campaign).options == {**GOOD, "options": offered}


def test_a_campaign_of_one_criterion_is_analysed_as_before(owner: User) -> None:
    alone = make_campaign(owner, "option-selection")
    assert "options" not in settings_of(alone).to_json()
    alone.criteria.update(settings={"options": "fine\npoor"})
    assert "options" not in settings_of(alone).to_json()
    change_campaign(campaign=alone, changes={"method_options": {"good": ["fine"]}})
    alone.refresh_from_db()
    assert settings_of(alone).options == {"good": ["fine"], "options": {"answer": ["fine", "poor"]}}


def test_a_campaign_of_several_criteria_has_their_mean_as_score(campaign: Campaign) -> None:
    rows = ordinary_rows(campaign)
    run = analysed(campaign)
    summary = run.report["summary"]
    assert (summary["method"], summary["scored"]) == ("choice", ["answer", "tone"])
    assert summary["n_answers"] == len(rows)
    for row in summary["systems"]:
        own = [each for each in rows if each["system"] == row["system"]]
        answers = [each["answer"] == each["correct"] for each in own if each["criterion"] == "answer"]
        tones = [json.loads(each["answer"]) == ["polite"] for each in own if each["criterion"] == "tone"]
        assert row["criteria"] == {"answer": pytest.approx(np.mean(answers)), "tone": pytest.approx(np.mean(tones))}
        assert row["score"] == pytest.approx((np.mean(answers) + np.mean(tones)) / 2)
        assert row["n"] == len(answers) + len(tones)
    assert summary["systems"][0]["system"] == "human" and summary["systems"][-1]["system"] == "system-c"


def test_a_criterion_that_is_asked_after_some_answers_has_the_answers_given(campaign: Campaign) -> None:
    report = analysed(campaign).report
    answer, tone, why = report["criteria"]
    rows = ordinary_rows(campaign)
    n_asked = sum(row["criterion"] == "tone" and json.loads(row["answer"]) != ["polite"] for row in rows)
    assert sum(row["n"] for row in why["systems"]) == n_asked < sum(row["n"] for row in tone["systems"])
    assert (why["is_scored"], why["options"], why["chance"]) == (False, ["short", "long"], 0.5)
    assert any("Not in the score" in note and "why" in note for note in report["notes"])
    assert answer["labels"]["n_items"] and tone["paired"]
    agreement = {each["name"]: each["between"] for each in report["questions"]["reliability"]["criteria"]}
    assert agreement["tone"]["n_items"]


def test_a_criterion_that_nobody_has_answered_is_said(campaign: Campaign) -> None:
    Response.objects.filter(criterion__name="why").delete()
    report = analysed(campaign).report
    assert [each["criterion"] for each in report["criteria"]] == ["answer", "tone"]
    assert "Criteria without an answer, which are not in the results: why." in report["notes"]


def test_pages_show_each_criterion(campaign: Campaign, owner: User, client: Client) -> None:
    client.force_login(owner)
    run = analysed(campaign)
    page = client.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    assert "mean over 2 criteria of the share" in page and "Not in the score, without good options: why." in page
    for slug, words in (
        ("criteria", "Share of good answers on each criterion"),
        ("shares", "neutral"),
        ("labels", "Workers by labels"),
    ):
        address = reverse("analysis:campaign_section", args=[campaign.public_id, slug])
        shown = client.get(address)
        assert shown.status_code == 200 and words in shown.text and "tone" in shown.text, slug
        assert address in page, slug
    pairs = client.get(reverse("analysis:campaign_pairs", args=[campaign.public_id])).text
    assert "McNemar" in pairs and "tone" in pairs
    reliability = client.get(reverse("analysis:campaign_reliability", args=[campaign.public_id])).text
    assert "Fleiss" in reliability and "tone" in reliability
    for name in ("campaign_downloads", "campaign_datasheet"):
        assert client.get(reverse(f"analysis:{name}", args=[campaign.public_id])).status_code == 200, name
    found = client.get(reverse("api:result", args=[run.pk])).json()
    assert [row["score"] for row in found["systems"]] == [row["score"] for row in run.report["summary"]["systems"]]
    sections = client.get(reverse("api:sections", args=[run.pk])).json()
    assert {"systems", "criteria", "shares", "paired", "labels"} <= {section["slug"] for section in sections}
    figure = client.get(reverse("analysis:run_file", args=[run.pk, "figures/shares-tone.svg"]))
    assert figure.getvalue().lstrip().startswith(b"<?xml")


def test_the_package_gives_the_same_again_and_names_no_worker(
    campaign: Campaign, owner: User, client: Client, tmp_path
) -> None:
    client.force_login(owner)
    run = analysed(campaign)
    package = as_downloaded(client, run)
    summary, printed = replicated(package, folder := tmp_path / "package")
    assert printed == summary
    names = {row["worker"] for each in run.report["criteria"] for row in each["labels"]["workers"]}
    content = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode(errors="replace")
    assert len(names) == N_WORKERS and not [name for name in names if name in content]
    rows = list(csv.DictReader((folder / "tables" / "shares.csv").read_text().splitlines()))
    assert {row["criterion"] for row in rows} == {"answer", "tone", "why"}
    labels = (folder / "again" / "labels.csv").read_text().splitlines()
    assert labels[0].startswith("criterion,source,system,")


def test_the_exported_table_has_the_same_results(campaign: Campaign, owner: User, client: Client, tmp_path) -> None:
    client.force_login(owner)
    run = analysed(campaign)
    path, protocol = tmp_path / "answers.csv", tmp_path / "own.json"
    path.write_bytes(client.get(reverse("monitoring:export_file", args=[campaign.public_id, "answers.csv"])).getvalue())
    protocol.write_text(json.dumps({"protocol": "option-selection", "options": dict(settings_of(campaign).options)}))
    out = io.StringIO()
    call_command("analyse", path, protocol=str(protocol), format="json", stdout=out, stderr=io.StringIO())
    found = json.loads(out.getvalue())
    assert found["criteria"] == run.report["summary"]["criteria"]
    assert [row["score"] for row in found["systems"]] == [row["score"] for row in run.report["summary"]["systems"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"good": ["polite"]}, "does not say of which criterion it is, and there are several"),
        ({"good": {"tune": ["polite"]}}, "names the criterion “tune”. The criteria are: answer, tone, why."),
        ({"good": {"tone": ["nice"]}}, "“nice” for the criterion “tone”. Its options are: polite, neutral, rude."),
        ({"chance": {"tone": 2}}, "“chance” of the criterion “tone” must be a share between 0 and 1"),
    ],
)
def test_settings_of_a_campaign_refuse_options_that_its_criteria_do_not_have(
    owner: User, client: Client, options: dict, said: str
) -> None:
    client.force_login(owner)
    address = reverse("campaigns:settings", args=[draft(owner).public_id])
    refused = client.post(address, {"method_options": json.dumps(options)}, headers={"X-Autosave": "1"})
    assert refused.status_code == 422 and said in json.dumps(refused.json(), ensure_ascii=False)
    saved = client.post(address, {"method_options": json.dumps(GOOD)}, headers={"X-Autosave": "1"})
    assert saved.json()["saved"]


def test_the_check_list_says_when_criteria_have_left_the_options_behind(owner: User) -> None:
    campaign = draft(owner)
    change_campaign(campaign=campaign, changes={"method_options": GOOD})
    campaign.refresh_from_db()
    assert criteria_step(campaign).state == "ok"
    tone = campaign.criteria.get(name="tone")
    change_criterion(campaign=campaign, criterion=tone, changes={"settings": {"options": "friendly\nrude"}})
    step = criteria_step(campaign)
    assert step.state == "error" and "“polite” for the criterion “tone”" in step.text
    with pytest.raises(DomainError, match="“polite” for the criterion “tone”"):
        settings_of(campaign)


def criteria_step(campaign: Campaign):
    return next(step for step in checklist(campaign) if step.key == "criteria")
