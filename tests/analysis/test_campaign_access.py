"""Who may do what with a campaign's results: owner, editor, viewer, stranger; and uploaded files stay their owner's."""

from pathlib import Path

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from analysis.models import AnalysisRun
from analysis.web.navigation import result_url
from analysis.web.services.runs import exclude_worker
from campaigns.models import Campaign, Membership
from evalsite.accounts.models import User
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish
from tests.campaigns.cast import add_member
from tests.conftest import make_owner

LOOK = ["ratings_file", "run", "pairs", "workers", "downloads", "workers_csv", "run_file"]
PAGES = ["run", "pairs", "workers", "downloads", "compare"]
OF_CAMPAIGN = ["campaign_results", "campaign_live_workers", "campaign_job"]
CHANGE = {"alpha": "0.2", "worker_test": "paired-wilcoxon", "unit": "rating"}
REAL = "worker-000"


@pytest.fixture(scope="module")
def files(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a campaign that is rated and analysed once for all tests of this module."""
    folder = tmp_path_factory.mktemp("analysed")
    with override_settings(MEDIA_ROOT=folder):
        analysed(rated_campaign(make_owner()))
    return folder


@pytest.fixture(autouse=True)
def media(settings, files: Path) -> Path:
    settings.MEDIA_ROOT = files
    return files


@pytest.fixture
def campaign(db: None) -> Campaign:
    return Campaign.objects.get()


@pytest.fixture
def done(db: None) -> AnalysisRun:
    return AnalysisRun.objects.select_related("ratings_file__campaign", "job").get()


@pytest.fixture
def role(request: pytest.FixtureRequest, campaign: Campaign, colleague: User) -> Membership:
    return add_member(campaign, colleague, request.param)


def url_of(name: str, run: AnalysisRun) -> str:
    if name in OF_CAMPAIGN:
        job = [run.job_id] if name == "campaign_job" else []
        return reverse(f"analysis:{name}", args=[run.ratings_file.campaign.public_id, *job])
    if name in PAGES:
        return result_url(run, name)
    if name in ("ratings_file", "columns", "protocol"):
        return reverse(f"analysis:{name}", args=[run.ratings_file_id])
    return reverse(f"analysis:{name}", args=[run.pk, "package.zip"] if name == "run_file" else [run.pk])


def get(client: Client, url: str) -> int:
    response = client.get(url)
    if response.streaming:
        response.getvalue()  # reads the file to its end, and closes it
    return response.status_code


@pytest.mark.parametrize("role", ["editor", "owner"], indirect=True)
def test_an_editor_starts_a_run_with_other_settings(colleague_client: Client, colleague, done, role) -> None:
    response = colleague_client.post(reverse("analysis:run", args=[done.pk]), CHANGE)

    changed = AnalysisRun.objects.get(parent=done)
    assert response["Location"] == result_url(changed)
    assert (changed.created_by, changed.ratings_file) == (colleague, done.ratings_file)


@pytest.mark.parametrize("role", ["editor"], indirect=True)
def test_an_editor_excludes_a_worker(colleague_client: Client, done: AnalysisRun, role) -> None:
    colleague_client.post(reverse("analysis:workers", args=[done.pk]), {"worker": REAL, "reason": "asked for it"})
    assert AnalysisRun.objects.get(parent=done).settings["excluded"] == {REAL: "asked for it"}


def test_whoever_leaves_the_campaign_sees_nothing_more(colleague_client, campaign, colleague, done) -> None:
    membership = add_member(campaign, colleague, "editor")
    assert get(colleague_client, url_of("run", done)) == 200
    membership.delete()
    assert get(colleague_client, url_of("run", done)) == 404


def test_the_user_who_owns_the_file_needs_a_role_too(owner, owner_client, campaign, colleague, done) -> None:
    add_member(campaign, colleague, "owner")
    campaign.memberships.filter(user=owner).delete()
    assert get(owner_client, url_of("run", done)) == 404


def test_uploaded_files_stay_their_owner_s(colleague_client: Client, colleague, campaign, trees, start) -> None:
    add_member(campaign, colleague, "owner")
    assert get(colleague_client, reverse("analysis:ratings_file", args=[trees.pk])) == 404
    assert get(colleague_client, reverse("analysis:run", args=[start(trees).pk])) == 404


def test_a_snapshot_s_columns_are_not_to_be_chosen(owner_client: Client, done: AnalysisRun) -> None:
    assert get(owner_client, url_of("columns", done)) == 404
    assert url_of("columns", done) not in owner_client.get(url_of("ratings_file", done)).text


def test_the_list_of_analyses_shows_members_the_campaign_s(
    colleague_client: Client, stranger_client: Client, campaign, colleague, done
) -> None:
    add_member(campaign, colleague)
    listed, results = reverse("analysis:ratings"), url_of("campaign_results", done)
    assert results in colleague_client.get(listed).text
    assert results not in stranger_client.get(listed).text


# --- Workers' names


@pytest.mark.parametrize("role", ["viewer"], indirect=True)
def test_a_viewer_sees_no_worker_s_name_anywhere(colleague_client: Client, owner, done, role) -> None:
    left_out = finish(exclude_worker(run=done, user=owner, worker=REAL, reason="too fast"))

    for run in (done, left_out):
        for name in ["ratings_file", "run", "workers", "downloads", "workers_csv", *OF_CAMPAIGN]:
            assert "worker-00" not in colleague_client.get(url_of(name, run)).text, name
    assert "too fast" in colleague_client.get(url_of("workers", left_out)).text


@pytest.mark.parametrize("role", ["editor"], indirect=True)
def test_an_editor_sees_workers_as_the_platform_names_them(colleague_client: Client, done: AnalysisRun, role) -> None:
    for url in (url_of("workers", done), url_of("campaign_live_workers", done)):
        assert REAL in colleague_client.get(url).text


@pytest.mark.parametrize(("role", "status"), [("owner", 200), ("editor", 403), ("viewer", 403)], indirect=["role"])
def test_only_owners_take_out_workers_own_ids(
    colleague_client: Client, done: AnalysisRun, role: Membership, status: int
) -> None:
    own = url_of("workers_csv", done) + "?ids=own"
    response = colleague_client.get(own)
    assert (response.status_code, REAL in response.text) == (status, status == 200)
    assert (own in colleague_client.get(url_of("downloads", done)).text) == (status == 200)
    assert REAL not in colleague_client.get(url_of("workers_csv", done)).text


def test_a_stranger_does_not_find_workers_own_ids(stranger_client: Client, done: AnalysisRun) -> None:
    assert stranger_client.get(url_of("workers_csv", done) + "?ids=own").status_code == 404


@pytest.mark.parametrize("role", ["viewer"], indirect=True)
def test_all_who_look_see_the_same_hashes(colleague_client: Client, owner_client: Client, done, role) -> None:
    url = url_of("workers_csv", done)
    assert colleague_client.get(url).text == owner_client.get(url).text


@pytest.mark.parametrize("role", ["viewer"], indirect=True)
def test_a_viewer_s_look_leaves_the_run_as_it_is(colleague_client: Client, done: AnalysisRun, role) -> None:
    for name in LOOK:
        get(colleague_client, url_of(name, done))
    assert AnalysisRun.objects.get().report == done.report


# --- Jobs


def test_every_member_may_watch_the_job_and_nobody_another_one(
    colleague_client: Client, owner, colleague, campaign, done
) -> None:
    add_member(campaign, colleague)
    other = rated_campaign(owner)
    state = colleague_client.get(url_of("campaign_job", done)).json()
    assert state["url"] == url_of("campaign_job", done)
    foreign = reverse("analysis:campaign_job", args=[campaign.public_id, analysed(other).job_id])
    assert colleague_client.get(foreign).status_code == 404


# --- Queries

QUERIES = {"ratings_file": 5, "run": 14, "pairs": 8, "workers": 8, "downloads": 15, "workers_csv": 3}


@pytest.mark.parametrize("n_members", [1, 6])
@pytest.mark.parametrize("name", QUERIES)
def test_a_page_of_a_campaign_s_run_asks_the_same_few_times(
    owner_client: Client, campaign, done, django_assert_num_queries, name: str, n_members: int
) -> None:
    for k in range(1, n_members):
        add_member(campaign, User.objects.create_user(f"member-{k}@example.org", "a-password"))
    url = url_of(name, done)
    with django_assert_num_queries(QUERIES[name]):
        assert owner_client.get(url).status_code == 200
