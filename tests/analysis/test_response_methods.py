"""A campaign that is analysed by another method than direct assessment: a Likert study, from its start to its files."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from analysis.models import AnalysisRun, RatingsFile
from analysis.web.queries.campaigns import settings_of
from analysis.web.services.runs import exclude_worker
from analysis.web.services.sharing import create_share_link
from annotation.simulation.running import make_crowd, open_site, run_crowd
from campaigns.contracts.result_pages import OWN_PAGE, RESULT_PAGES
from campaigns.design.composition import Layout
from campaigns.forms.settings import SettingsForm
from campaigns.models import Campaign
from campaigns.services.campaigns import change_campaign
from campaigns.services.copies import duplicate_campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.tables import TableError
from tests.analysis.campaigns import analysed
from tests.analysis.conftest import finish
from tests.analysis.test_downloads import replicated
from tests.annotation.cast import build, launch
from tests.campaigns.cast import make_campaign
from tests.conftest import make_owner

pytestmark = pytest.mark.django_db

N_HITS, N_SYSTEMS, N_WORKERS = 16, 6, 8


@pytest.fixture(scope="module")
def made(module_db: None) -> Campaign:
    """A Likert campaign whose HITs a simulated crowd has rated; a quarter of it answers at random."""
    campaign = make_campaign(make_owner(), "likert", name="Points")
    build(campaign, N_HITS, N_SYSTEMS)
    campaign.n_ordinary, campaign.n_degraded, campaign.n_repeat, campaign.layout = 6, 3, 1, Layout.POOLED
    campaign.hits_per_worker = N_HITS // N_WORKERS
    campaign.save()
    launch(campaign)
    systems = sorted(campaign.systems.values_list("name", flat=True))
    with open_site(None) as client:
        quality = {name: 0.4 * k - 1 for k, name in enumerate(systems)}
        crowd = make_crowd(campaign, seed=3, n_workers=N_WORKERS, careless=0.25, quality=quality)
        outcome = run_crowd(campaign, crowd, client)
    assert outcome.errors == [] and outcome.n_hits == N_HITS
    campaign.refresh_from_db()
    return campaign


@pytest.fixture
def likert(made: Campaign, db: None) -> Campaign:
    return Campaign.objects.get(pk=made.pk)


@pytest.fixture
def run(likert: Campaign) -> AnalysisRun:
    return analysed(likert)


def failed(run: AnalysisRun) -> list[str]:
    return [row["worker"] for row in run.report["worker_table"] if row["verdict"] == "failed"]


def addresses_of(run: AnalysisRun, campaign: Campaign) -> list[str]:
    """Return the address of every page of a result: of any method, in the campaign, by run, and of its sections."""
    of_campaign = [
        *(page.in_campaign for page in RESULT_PAGES if page.slug != OWN_PAGE),
        *("campaign_live_workers", "campaign_datasheet", "campaign_plan"),
    ]
    of_run = [page.slug for page in RESULT_PAGES if page.slug != OWN_PAGE]
    sections = ["pairs", "levels-clarity", "levels-usefulness", "nothing"]
    return [
        *(reverse(f"analysis:{name}", args=[campaign.public_id]) for name in of_campaign),
        *(reverse(f"analysis:{name}", args=[run.pk]) for name in (*of_run, "workers_csv")),
        *(reverse("analysis:campaign_section", args=[campaign.public_id, name]) for name in sections),
        *(reverse("analysis:section", args=[run.pk, name]) for name in sections),
        *(reverse(f"analysis:{name}") for name in ("ratings", "compare_any", "plans")),
        reverse("analysis:ratings_file", args=[run.ratings_file_id]),
        reverse("analysis:protocol", args=[run.ratings_file_id]) + f"?run={run.pk}",
        reverse("analysis:compare_any") + f"?first={run.pk}",
        *(reverse(f"campaigns:{name}", args=[campaign.public_id]) for name in ("campaign", "settings", "criteria")),
    ]


def test_careless_workers_fail_and_the_systems_rank_in_their_true_order(run: AnalysisRun, likert: Campaign) -> None:
    summary = run.report["summary"]
    assert (likert.method, likert.status, summary["method"]) == ("ordinal", Campaign.Status.CLOSED, "ordinal")
    assert summary["workers"] == {"total": 8, "passed": 6, "failed": 2, "untested": 0}
    order = [row["system"] for row in summary["systems"]]
    assert order[0] == "system-e" and order[-1] == "human"
    # Without the two who failed: 12 HITs of 6 items on 2 criteria; repeats are averaged with their twins.
    assert sum(row["n"] for row in summary["systems"]) == summary["n_ratings"] == 12 * 6 * 2
    assert all(1 <= row["score"] <= 5 for row in summary["systems"])


def test_every_page_answers(run: AnalysisRun, likert: Campaign, client: Client, owner: User) -> None:
    client.force_login(owner)
    found = {url: client.get(url, follow=True).status_code for url in addresses_of(run, likert)}
    assert set(found.values()) <= {200, 404}, found
    missing = {url.rstrip("/").rpartition("/")[2] for url, status in found.items() if status == 404}
    assert missing == {"chats", "nothing"}


def test_pages_show_the_findings_the_sections_and_the_workers(
    run: AnalysisRun, likert: Campaign, client: Client, owner: User
) -> None:
    client.force_login(owner)
    page = client.get(reverse("analysis:campaign_results", args=[likert.public_id])).content.decode()
    assert "system-e" in page and "Mean over criteria of the mean level" in page and r"\begin{tabular}" in page
    assert "6 of 8 workers passed" in page and "z" not in page.partition("<caption>")[2][:40]
    section = reverse("analysis:campaign_section", args=[likert.public_id, "levels-clarity"])
    assert section in page
    assert "strongly" not in client.get(section).content.decode()
    assert "Levels: clarity" in client.get(section).content.decode()
    workers = client.get(reverse("analysis:campaign_workers", args=[likert.public_id])).content.decode()
    assert all(name in workers for name in failed(run))
    sensitivity = client.get(reverse("analysis:campaign_sensitivity", args=[likert.public_id])).content.decode()
    assert "every worker counts" in sensitivity and "Only items with a short source text" in sensitivity


def test_a_worker_is_excluded_by_hand_with_a_reason(run: AnalysisRun, owner: User, client: Client) -> None:
    passed = next(row["worker"] for row in run.report["worker_table"] if row["verdict"] == "passed")
    again = finish(exclude_worker(run=run, user=owner, worker=passed, reason="asked to"))
    row = next(row for row in again.report["worker_table"] if row["worker"] == passed)
    assert (row["verdict"], row["excluded"]) == ("passed", "asked to")
    client.force_login(owner)
    page = client.get(reverse("analysis:run", args=[again.pk]), follow=True)
    assert page.context["changes"].workers_lost == [passed] and "1 fewer" in page.text
    assert again.report["summary"]["n_ratings"] == run.report["summary"]["n_ratings"] - 24


def test_the_package_names_no_worker_and_its_command_writes_the_same_tables(run: AnalysisRun, tmp_path: Path) -> None:
    out, package = tmp_path / "package", Path(django_settings.MEDIA_ROOT) / run.folder / "package.zip"
    kept, again = replicated(package.read_bytes(), out)
    assert kept == again
    with zipfile.ZipFile(package) as archive:
        content = b"".join(map(archive.read, archive.namelist())).decode()
    assert not any(row["worker"] in content for row in run.report["worker_table"])
    assert "responses.csv --protocol protocol.json --sources sources.csv --out" in (out / "README.txt").read_text()
    tables = {path.name for path in (out / "tables").iterdir()}
    assert {"systems.csv", "systems.tex", "pairs.csv", "workers.csv", "score-by-input-length.csv"} <= tables
    rows = list(csv.DictReader(io.StringIO((out / "tables" / "systems.csv").read_text())))
    assert rows[0]["system"] == "system-e" and json.loads((out / "report.json").read_text())["pairs"]


# --- Uploaded files


MQM = """system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity
A\td\t1\t1\tr1\tEin Haus\tA <v>mouse</v>\tAccuracy/Mistranslation\tMajor
A\td\t1\t2\tr1\tEin "Baum\tA "tree\tNo-error\tNo-error
B\td\t1\t1\tr2\tEin Haus\tA house\tNo-error\tNo-error
B\td\t1\t2\tr2\tEin "Baum\tA <v>"</v>tree\tFluency/Punctuation\tMinor
"""


TEST = {"worker_test": "paired-wilcoxon", "alpha": "0.05"}


def send(client: Client, name: str, content: str):
    """Upload a file, and follow to the page that comes next."""
    form = {"file": SimpleUploadedFile(name, content.encode()), "title": "Errors"}
    return client.post(reverse("analysis:upload"), form, follow=True)


def test_an_uploaded_file_of_errors_is_recognised_and_analysed(owner: User, owner_client: Client) -> None:
    page = send(owner_client, "errors.tsv", MQM)
    address, _ = page.redirect_chain[-1]
    assert address.endswith("?protocol=mqm") and "criteria-0-name" not in page.content.decode()
    weights = json.dumps({"weights": {"major": 10}})
    assert owner_client.post(address, {"options": weights} | TEST).status_code == 302
    run = finish(AnalysisRun.objects.select_related("ratings_file").get())
    assert [(row["system"], row["score"]) for row in run.report["summary"]["systems"]] == [("B", 0.05), ("A", 5.0)]
    page = owner_client.get(reverse("analysis:run", args=[run.pk])).content.decode()
    assert "Mean penalty of a segment" in page and reverse("analysis:pairs", args=[run.pk]) in page
    assert run.report["summary"]["worker_test"]["preset"] == "none", "there is nothing to compare"
    assert reverse("analysis:workers", args=[run.pk]) in page
    with zipfile.ZipFile(Path(django_settings.MEDIA_ROOT) / run.folder / "package.zip") as package:
        rows = list(csv.DictReader(io.StringIO(package.read("responses.csv").decode())))
    assert [row["target"] for row in rows] == ["A <v>mouse</v>", 'A "tree', "A house", 'A <v>"</v>tree']
    assert {row["rater"] for row in rows}.isdisjoint({"r1", "r2"})


def test_bad_options_and_bad_files_are_refused_in_words(owner: User, owner_client: Client) -> None:
    send(owner_client, "errors.tsv", MQM.replace("Major", "Enormous"))
    file = RatingsFile.objects.get()
    address = reverse("analysis:protocol", args=[file.pk]) + "?protocol=mqm"
    for options, words in (("[]", "Write an object"), ('{"colour": 1}', "has no option “colour”")):
        refused = owner_client.post(address, {"options": options} | TEST)
        assert refused.status_code == 422 and words in refused.content.decode()
    assert owner_client.post(address, TEST).status_code == 302
    run = AnalysisRun.objects.select_related("ratings_file").get()
    with pytest.raises(TableError):
        finish(run)
    assert "is no known severity" in owner_client.get(reverse("analysis:run", args=[run.pk])).content.decode()


def test_levels_of_an_uploaded_file_are_analysed_by_the_protocol_that_is_chosen(
    owner: User, owner_client: Client
) -> None:
    rows = [
        f"{worker},{system},s{k},{level}" for worker in "vw" for k in range(4) for system, level in (("A", 4), ("B", 2))
    ]
    page = send(owner_client, "levels.csv", "\n".join(["worker,system,source,score", *rows]) + "\n").content.decode()
    file = RatingsFile.objects.get()
    address = reverse("analysis:protocol", args=[file.pk]) + "?protocol=likert"
    assert address in page
    assert owner_client.post(address, {"worker_test": "paired-wilcoxon", "alpha": "0.05"}).status_code == 302
    run = finish(AnalysisRun.objects.select_related("ratings_file").get())
    assert [row["score"] for row in run.report["summary"]["systems"]] == [4.0, 2.0]
    assert run.report["summary"]["worker_test"]["preset"] == "none" and "every one counts" in run.report["notes"][0]


# --- The method of a campaign


def test_a_campaign_has_the_method_of_its_protocol_and_may_change_it(owner: User) -> None:
    likert, sliders = make_campaign(owner, "likert"), make_campaign(owner, "qg")
    assert (likert.method, sliders.method) == ("ordinal", "direct_assessment")
    offered = {campaign.pk: dict(SettingsForm(campaign).fields["method"].choices) for campaign in (likert, sliders)}
    assert set(offered[likert.pk]) >= {"ordinal", "direct_assessment"} and "ordinal" not in offered[sliders.pk]
    launch(likert)
    changed = change_campaign(campaign=likert, changes={"method": "direct_assessment"})
    assert settings_of(changed).method == "direct_assessment" and settings_of(changed).scales == [(1, 5), (1, 5)]
    assert duplicate_campaign(campaign=changed, owner=owner, as_replication=False).method == "direct_assessment"
    with pytest.raises(DomainError, match="cannot read the answers") as refused:
        change_campaign(campaign=sliders, changes={"method": "ordinal"})
    assert refused.value.code == "bad_method"


def test_criteria_with_different_points_are_not_averaged(likert: Campaign) -> None:
    criterion = likert.criteria.get(name="clarity")
    criterion.settings |= {"lowest": 0}
    criterion.save()
    with pytest.raises(DomainError, match="different levels"):
        analysed(likert)


def test_the_api_says_what_was_found_by_any_method(run: AnalysisRun, owner_client: Client) -> None:
    found = owner_client.get(reverse("api:result", args=[run.pk])).json()
    assert (found["method"], found["higher_is_better"], found["ranking"]) == ("ordinal", True, None)
    assert [row["rank"] for row in found["systems"]] == [1, 2, 3, 4, 5, 6] and found["totals"]["n_counted"] == 6
    assert {"systems", "pairs", "levels-clarity"} <= {
        section["slug"] for section in owner_client.get(reverse("api:sections", args=[run.pk])).json()
    }
    workers = owner_client.get(reverse("api:run_workers", args=[run.pk])).json()
    assert sum(worker["verdict"] == "failed" for worker in workers) == 2
    for name in ("comparisons", "run_chats"):
        assert owner_client.get(reverse(f"api:{name}", args=[run.pk])).status_code == 404


def test_a_link_shows_the_findings_and_sections_to_readers(run: AnalysisRun, likert: Campaign, client: Client) -> None:
    link = create_share_link(campaign=likert, user=run.created_by)
    for address in (
        *(reverse(f"shared:{name}", args=[link.token]) for name in ("run", "pairs", "downloads")),
        reverse("shared:section", args=[link.token, "levels-clarity"]),
    ):
        assert client.get(address).status_code == 200
    file = client.get(reverse("shared:file", args=[link.token, "tables/systems.tex"]))
    assert r"\toprule" in file.getvalue().decode()
