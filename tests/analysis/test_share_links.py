"""Links that show a campaign's results without signing in: what they show, what not, and when they end."""

import gc
import re
import weakref
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from analysis.models import AnalysisRun, ShareLink
from analysis.web.services.runs import exclude_worker
from analysis.web.services.sharing import create_share_link, revoke_share_link
from campaigns.models import Campaign
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError
from evalsite.lib.masking import mask_tokens
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish
from tests.campaigns.cast import add_member, make_campaign
from tests.conftest import make_owner

PAGES = ("run", "pairs", "reliability", "downloads")


@pytest.fixture(scope="module")
def files(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a campaign that is analysed, then again without a worker, once for all tests of this module."""
    folder = tmp_path_factory.mktemp("shared")
    with override_settings(MEDIA_ROOT=folder):
        owner = make_owner()
        run = analysed(rated_campaign(owner), owner)
        worker = run.report["worker_table"][0]["worker"]
        finish(exclude_worker(run=run, user=owner, worker=worker, reason="asked to be left out"))
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


@pytest.fixture
def link(campaign: Campaign, owner: User) -> ShareLink:
    return create_share_link(campaign=campaign, user=owner, note="reviewers")


def page(link: ShareLink, name: str = "run") -> str:
    return reverse(f"shared:{name}", args=[link.token])


def test_every_page_and_file_opens_without_signing_in_and_names_no_worker(link: ShareLink, campaign: Campaign) -> None:
    newest = AnalysisRun.objects.first()
    assert newest is not None and newest.parent_id  # what was changed from it is not compared for readers
    workers = [row["worker"] for row in newest.report["worker_table"]]
    reader, links = Client(), set()
    for name in PAGES:
        response = reader.get(page(link, name))
        assert response.status_code == 200, name
        assert response["X-Robots-Tag"].startswith("noindex") and response["Referrer-Policy"] == "no-referrer"
        assert "no-store" in response["Cache-Control"]
        assert not [worker for worker in workers if worker in response.text]
        assert campaign.name in response.text
        assert not re.search(r"<form[^>]*method=.post", response.text)
        links |= set(re.findall(r'(?:href|src)="(/[^"#]+)', unescape(response.text)))
    assert not [each for each in links if not each.startswith(("/shared/", "/static/", "/help/"))]
    files = [each for each in links if "/files/" in each and not each.endswith("dark.svg")]
    assert {each.split("?")[0].rpartition(".")[2] for each in files} >= {"zip", "csv", "xlsx", "svg", "json"}
    for each in ("package.zip", "tables.xlsx", "report.json", "tables/workers.csv"):
        response = reader.get(reverse("shared:file", args=[link.token, each]))
        assert response.status_code == 200 and response["Cache-Control"] == "private, no-store"
        content = response.getvalue()
        assert not [worker for worker in workers if worker.encode() in content], each
    assert reader.get(reverse("shared:file", args=[link.token, "../../x"])).status_code == 404


def test_no_page_leaves_a_result_to_the_garbage_collector(link: ShareLink, campaign: Campaign, owner: User) -> None:
    reader = Client()
    reader.force_login(owner)
    members = [reverse(f"analysis:campaign_{name}", args=[campaign.public_id]) for name in ("results", *PAGES[1:])]
    for path in (*(page(link, name) for name in PAGES), *members):
        gc.collect()
        gc.disable()
        try:
            response = reader.get(path)
            shown = response.context["result"]
            assert shown.summary.systems
            response.context = response.templates = None  # copied for tests
            left = weakref.ref(shown)
            del response, shown
            assert left() is None, path
        finally:
            gc.enable()


def test_it_says_the_same_as_the_page_of_members(link: ShareLink, campaign: Campaign, owner: User) -> None:
    member, reader = Client(), Client()
    member.force_login(owner)
    own = member.get(reverse("analysis:campaign_results", args=[campaign.public_id])).text
    shared = reader.get(page(link)).text
    finding = re.compile(r'<div class="finding".*?</div>', re.S)
    assert finding.search(own)[0] == finding.search(shared)[0]  # type: ignore[index]
    assert reader.get(f"{page(link)}?against={AnalysisRun.objects.last().pk}").status_code == 200  # type: ignore[union-attr]


def test_a_revoked_link_shows_nothing_at_once(link: ShareLink) -> None:
    assert Client().get(page(link)).status_code == 200
    revoke_share_link(link=link)
    for name in PAGES:
        assert Client().get(page(link, name)).status_code == 404
    assert Client().get(reverse("shared:file", args=[link.token, "package.zip"])).status_code == 404
    assert Client().get(reverse("shared:run", args=["x" * 32])).status_code == 404


def test_a_link_ends_after_its_last_day(link: ShareLink) -> None:
    today = timezone.now().date()
    for ends_on, status in ((today, 200), (today - timedelta(days=1), 404)):
        ShareLink.objects.update(ends_on=ends_on)
        assert Client().get(page(link)).status_code == status


def test_drafts_and_campaigns_being_deleted_are_not_shared(link: ShareLink, campaign: Campaign, owner: User) -> None:
    with pytest.raises(DomainError, match="no results"):
        create_share_link(campaign=make_campaign(owner), user=owner)
    with pytest.raises(DomainError, match="day is over"):
        create_share_link(campaign=campaign, user=owner, ends_on=timezone.now().date() - timedelta(days=1))
    Campaign.objects.filter(pk=campaign.pk).update(status=Campaign.Status.DELETING)
    assert Client().get(page(link)).status_code == 404


def test_an_editor_makes_copies_and_revokes_links_on_the_page(campaign: Campaign, colleague: User) -> None:
    add_member(campaign, colleague, "editor")
    editor = Client()
    editor.force_login(colleague)
    downloads = reverse("analysis:campaign_downloads", args=[campaign.public_id])
    share = reverse("analysis:share", args=[campaign.public_id])
    editor.post(share, {"note": "the <b>board</b>", "ends_on": "2999-12-31"})
    made = campaign.share_links.get()
    text = editor.get(downloads).text
    assert f"http://testserver{page(made)}" in text and "the &lt;b&gt;board&lt;/b&gt;" in text and "31 Dec 2999" in text
    assert "Last day: Enter a valid date." in editor.post(share, {"ends_on": "soon"}, follow=True).text
    assert "This day is over" in editor.post(share, {"ends_on": "2020-01-01"}, follow=True).text
    editor.post(reverse("analysis:revoke_share", args=[campaign.public_id, made.pk]))
    assert made.token not in editor.get(downloads).text
    assert Client().get(page(made)).status_code == 404
    campaign.memberships.filter(user=colleague).update(role="viewer")
    assert "Share these results" not in editor.get(downloads).text


@pytest.mark.parametrize(
    ("former", "now"), [("significance/?value=holm", "pairs/?value=holm"), ("paper/", "downloads/")]
)
def test_former_addresses_lead_on(link: ShareLink, campaign: Campaign, owner: User, former: str, now: str) -> None:
    member, run = Client(), AnalysisRun.objects.first()
    member.force_login(owner)
    for start in (page(link), f"/analysis/campaigns/{campaign.public_id}/results/", f"/analysis/runs/{run.pk}/"):  # type: ignore[union-attr]
        answer = member.get(start + former)
        assert (answer.status_code, answer["Location"]) == (302, start + now)
        assert member.get(start + former, follow=True).status_code == 200


def test_a_section_with_no_page_of_its_own_leads_to_the_page_that_has_it(link: ShareLink, campaign: Campaign) -> None:
    def sent(section: str) -> str:
        return Client().get(reverse("shared:section", args=[link.token, section])).get("Location", "")

    assert sent("recommended") == page(link, "pairs") and sent("ranking") == ""
    assert sent("p-values") == "", "readers have no page of single workers"


def test_logs_do_not_have_the_link(link: ShareLink) -> None:
    line = f'"GET {page(link, "pairs")}?value=holm HTTP/1.1" 200'
    assert mask_tokens(line) == '"GET /shared/***/pairs/?value=holm HTTP/1.1" 200'


def test_every_figure_and_table_has_an_address_on_its_page(link: ShareLink) -> None:
    text = Client().get(page(link, "reliability")).text
    anchors = re.findall(r'class="anchor" href="#([^"]+)"', text)
    assert len(anchors) == len(set(anchors)) > 5
    assert {each.partition("-")[0] for each in anchors} >= {"figure", "table"}
    for each in anchors:
        assert text.count(f'id="{each}"') == 1, each
