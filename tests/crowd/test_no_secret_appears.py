"""Keys of accounts, and what accounts store, are shown nowhere: in no page, file, log, message or traceback."""

import io
import logging
import sys
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.core import serializers
from django.core.signals import got_request_exception
from django.http import HttpRequest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.views.debug import ExceptionReporter
from django.views.decorators.debug import sensitive_variables
from pytest_django import Settings

from annotation.services.assignments import start_assignment
from campaigns.contracts.account import PlatformRefusedError
from campaigns.models import Campaign
from campaigns.platforms.prolific.client import ProlificClient
from crowd.models import Order, Posting, Submission, Wave
from crowd.services import account
from crowd.services.account import change_keys, check_account, store_account_data
from crowd.services.payments import decisions
from crowd.services.payments.sending import carry_out_orders
from crowd.services.syncing.polling import request_sync, sync_campaign
from evalsite.accounts.models import User
from evalsite.jobs.handlers import JobContext
from evalsite.jobs.models import Job
from evalsite.jobs.running import run_job
from evalsite.lib.errors import DomainError
from simulators.faults import Faults
from simulators.ledger import Ledger
from simulators.mturk import MTurkApi
from simulators.portals import MTurkPortal, ProlificPortal
from simulators.prolific import ProlificApi
from simulators.server import Served
from tests.analysis.campaigns import analysed
from tests.campaigns.cast import add_member
from tests.campaigns.platforms.scripted import Scripted
from tests.crowd.campaigns import finish, make_crowd_campaign, plan, publish
from tests.crowd.rated import decided, rated_campaign, submissions_of

pytestmark = pytest.mark.django_db
KEYS = {
    "mturk": {"access_key_id": "AKIASENTINELOFCAMPAIGN", "secret_access_key": "sentinel-secret/of+campaign"},
    "prolific": {"token": "sentinel-token-of-campaign"},
}
HOOK_SECRET = "sentinel-hook-secret"
OF_SITE = ("AKIASENTINELOFSITE", "sentinel-secret/of+site", "sentinel-token-of-site")
EARLIER_WORKER, KEY_OF_JWKS = "A9SENTINELEARLIERWORKER", "sentinel-modulus-of-jwks"
MEMORY = {"jwks": {"keys": [{"kid": "1", "n": KEY_OF_JWKS}]}, "excluded": [EARLIER_WORKER]}
SENTINELS = (*(key for keys in KEYS.values() for key in keys.values()), HOOK_SECRET, *OF_SITE)


def assert_hidden(text: str, *more: str) -> None:
    for secret in (*SENTINELS, *more):
        assert secret not in text


@pytest.fixture(autouse=True)
def keys_of_site(settings: Settings) -> None:
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY, settings.PROLIFIC_TOKEN = OF_SITE


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "CALLS_PER_S", 1_000)
    monkeypatch.setattr(account, "FIRST_PAUSE_S", 0)


@contextmanager
def simulated(slug: str, settings: Settings, faults: Faults) -> Iterator[Any]:
    """Serve a platform that knows the campaign's keys; give its interface and the portal of its workers."""
    api: Any
    if slug == "mturk":
        own = KEYS["mturk"]
        api = MTurkApi(Ledger(), faults, access_key=own["access_key_id"], secret_key=own["secret_access_key"])
        with Served(api) as served:
            settings.MTURK_SANDBOX_URL = served.url
            yield api, MTurkPortal(api, served.url)
    else:
        api = ProlificApi(Ledger(), faults, token=KEYS["prolific"]["token"], retry_after_s=0)
        with Served(api) as served:
            settings.PROLIFIC_URL = served.url
            yield api, ProlificPortal(api)


# --- Pages and files


def addresses(campaign: Campaign) -> list[str]:
    """Return every address of the site that names the campaign, one of its rows, or one of its files."""
    posted = Submission.objects.filter(campaign=campaign).values_list("pk", flat=True)
    known = {
        "<uuid:public_id>": str(campaign.public_id),
        "<int:submission_id>": str(posted[0]),
        "<int:wave_id>": str(Wave.objects.get(campaign=campaign).pk),
        "<int:number>": "1",
        "<int:hit>": "1",
        "<int:position>": "1",
    }
    found = []
    for route in _routes(get_resolver()):
        for place, value in known.items():
            route = route.replace(place, value)
        if str(campaign.public_id) in route and "<" not in route:
            found.append(f"/{route}")
    files = ("ratings.csv", "ratings.jsonl", "assignments.csv", "items.csv", "events.jsonl")
    exports = [reverse("monitoring:export_file", args=[campaign.public_id, name]) for name in files]
    payments_csv = reverse("crowd:payments_csv", args=[campaign.public_id])
    real = [f"{address}?ids=real" for address in (*exports, payments_csv)]
    return [*found, *exports, *real, f"{payments_csv}?orders=all"]


def _routes(resolver: URLResolver, beginning: str = "") -> Iterator[str]:
    for each in resolver.url_patterns:
        route = beginning + str(each.pattern)
        if isinstance(each, URLPattern):
            yield route
        elif not route.startswith("admin/"):
            yield from _routes(each, route)


def read(client: Client, address: str) -> tuple[int, str]:
    answer = client.get(address)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return answer.status_code, f"{answer.headers} {body.decode(errors='replace')}"


@pytest.fixture(params=["mturk", "prolific"])
def campaign(request: pytest.FixtureRequest, owner: User) -> Campaign:
    """Rated, submitted, partly paid, partly refused; with keys, and what its account remembers."""
    campaign = rated_campaign(owner, platform=request.param)
    change_keys(campaign=campaign, keys=KEYS[request.param])
    store_account_data(campaign=campaign, data=MEMORY, secrets={"hook_secret": HOOK_SECRET})
    submissions = submissions_of(campaign)
    decided(submissions[0], Order.Kind.APPROVE)
    decided(submissions[1], Order.Kind.BONUS, Order.State.REFUSED, last_error="There is no money.")
    Submission.objects.filter(pk=submissions[2].pk).update(discrepancy=Submission.Discrepancy.WRONG_CODE)
    return Campaign.objects.get(pk=campaign.pk)


@pytest.mark.parametrize("role", ["owner", "viewer"])  # an editor sees no more than an owner
def test_no_page_and_no_file_has_a_secret(
    campaign: Campaign, role: str, owner_client: Client, colleague_client: Client, colleague: User
) -> None:
    client = owner_client
    if role != "owner":
        add_member(campaign, colleague, role)
        client = colleague_client
    n_shown = 0
    for address in addresses(campaign):
        status, text = read(client, address)
        assert status < 500, address
        assert_hidden(text, campaign.platform_secrets, EARLIER_WORKER, KEY_OF_JWKS)
        n_shown += status == 200
    assert n_shown > 25


@pytest.mark.parametrize("campaign", ["mturk"], indirect=True)
def test_the_replication_package_has_no_secret(campaign: Campaign, owner_client: Client) -> None:
    answer = owner_client.get(reverse("analysis:run_file", args=[analysed(campaign).pk, "package.zip"]))
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        names = package.namelist()
        text = " ".join(package.read(name).decode(errors="replace") for name in names)
    assert "ratings.csv" in names
    assert_hidden(text, campaign.platform_secrets, EARLIER_WORKER, KEY_OF_JWKS)
    for submission in submissions_of(campaign):
        assert submission.platform_id not in text
        assert submission.worker.key not in text


def test_events_name_the_platforms_ids_to_owners_only(campaign: Campaign, owner_client: Client) -> None:
    assignment = submissions_of(campaign)[0].assignment
    assert assignment
    assignment.events.create(kind="arrived", data={"platform_id": assignment.platform_id})
    address = reverse("monitoring:export_file", args=[campaign.public_id, "events.jsonl"])
    assert f'"{assignment.platform_id}"' not in read(owner_client, address)[1]
    assert f'"{assignment.platform_id}"' in read(owner_client, f"{address}?ids=real")[1]


def test_the_admin_pages_have_no_secret(campaign: Campaign) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("admin@example.org"))
    for model in (Campaign, Wave, Posting, Submission, Order, Job):
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        rows = model.objects.values_list("pk", flat=True)
        for address in (reverse(f"{name}_changelist"), *(reverse(f"{name}_change", args=[pk]) for pk in rows)):
            status, text = read(client, address)
            assert status == 200, address
            assert_hidden(text, campaign.platform_secrets, EARLIER_WORKER, KEY_OF_JWKS)


def test_a_copy_that_a_viewer_makes_has_no_keys(campaign: Campaign, colleague: User, colleague_client: Client) -> None:
    add_member(campaign, colleague)
    sent = {"as_replication": "1", "public_id": uuid.uuid4()}
    colleague_client.post(reverse("campaigns:duplicate", args=[campaign.public_id]), sent)
    copy = Campaign.objects.exclude(pk=campaign.pk).get()
    assert (copy.platform, copy.platform_secrets, copy.account_data) == (campaign.platform, "", {})


# --- Logs and messages


@pytest.mark.parametrize("slug", ["mturk", "prolific"])
def test_no_log_row_or_message_of_the_whole_way_has_a_secret(
    slug: str, owner: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    faults, currency = Faults(seed=5, silence_s=0.01), "USD" if slug == "mturk" else "GBP"
    campaign = make_crowd_campaign(owner, slug, n_hits=2, n_workers=1, currency=currency)
    said: list[str] = []
    with simulated(slug, settings, faults) as (api, portal):
        with pytest.raises(DomainError) as refused:
            check_account(campaign=campaign, user=owner)  # the keys of the site are not known there
        change_keys(campaign=campaign, keys=KEYS[slug])
        campaign.refresh_from_db()
        faults.rate = 1.0
        with pytest.raises(DomainError) as unsure:
            check_account(campaign=campaign, user=owner)
        said += [repr(refused.value), repr(unsure.value), str(campaign.account_data["account"])]
        faults.rate = 0.3
        wave = plan(campaign, owner)
        for _ in range(4):
            publish(wave)
        faults.rate = 0.0
        campaign.refresh_from_db()
        _work(campaign, api, portal)
        faults.rate = 0.3
        for _ in range(4):
            request_sync(campaign=campaign)
            sync_campaign(JobContext(), campaign.pk)
        decisions.approve(campaign=campaign, user=owner)
        bonus: dict[str, Any] = {
            "amount": Decimal("0.25"),
            "message": "Thank you.",
            "token": uuid.uuid4(),
            "user": owner,
        }
        decisions.give_bonus(campaign=campaign, submissions=submissions_of(campaign), **bonus)
        for _ in range(4):
            Order.objects.filter(campaign=campaign).update(try_at=None)
            carry_out_orders(JobContext(), campaign.pk)
    assert set(Order.objects.values_list("state", flat=True)) == {"done"}
    rows = [*Campaign.objects.all(), *Job.objects.all()]
    for model in (Wave, Posting, Submission, Order):
        rows += model.objects.all()
    said += [serializers.serialize("json", rows), repr(rows)]
    assert "called again" in caplog.text
    assert_hidden(f"{caplog.text} {' '.join(said)}")
    campaign.refresh_from_db()
    assert campaign.platform_secrets not in caplog.text


def _work(campaign: Campaign, api: Any, portal: Any) -> None:
    """Let two workers do a HIT each and hand it in."""
    plugin = campaign.crowd_platform
    for number in (1, 2):
        task = portal.take(portal.worker_id(1, number))
        assert task
        arrival = plugin.identify(campaign.ref, _query(task.url))
        given: dict[str, Any] = {"worker_key": arrival.worker_key, "place": arrival.place, "consented": True}
        done = finish(start_assignment(campaign=campaign, **given))
        handover = plugin.finish(campaign.ref, arrival.place, done.completion_code)
        api.submit(task.id, _query(handover.link_url).get("cc") or handover.fields)


def _query(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def test_a_platform_that_repeats_the_token_does_not_make_it_known(settings: Settings) -> None:
    token, prolific = KEYS["prolific"]["token"], Scripted()
    prolific.will_say("401 Unauthorized", {"error": {"detail": f"{'x' * 380} no such token: {token}"}})
    with Served(prolific) as served:
        settings.PROLIFIC_URL = served.url
        with pytest.raises(PlatformRefusedError) as error:
            ProlificClient(token).get("/api/v1/users/me/")
    assert "no such token" in error.value.message
    assert token[:4] not in error.value.message


@pytest.mark.parametrize("typed", ["sentinel-töken", "sentinel token\nX-Header: 1", "sentinel…"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(
    typed: str, owner: User, owner_client: Client, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.PROLIFIC_URL = "http://127.0.0.1:9"
    campaign = make_crowd_campaign(owner, "prolific")
    change_keys(campaign=campaign, keys={"token": typed})
    page = owner_client.post(reverse("crowd:check", args=[campaign.public_id]), follow=True)
    assert "characters that no token may have" in page.context["account"].last_check.error
    assert "sentinel" not in page.text + caplog.text


# --- Tracebacks


class BugError(Exception):
    """What nobody has thought of."""


# Deep in each adapter, where keys are at hand.
BROKEN = {"mturk": "botocore.auth.SigV4Auth.add_auth", "prolific": "h11.Connection.send"}


@pytest.fixture(params=["mturk", "prolific"])
def broken(request: pytest.FixtureRequest, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Break the adapter of a platform that is there; return the name of the platform."""

    def fail(*args: object, **kwargs: object) -> None:
        raise BugError("something of the adapter is broken")

    with Served(Scripted()) as served:
        settings.MTURK_SANDBOX_URL = settings.PROLIFIC_URL = served.url
        monkeypatch.setattr(BROKEN[request.param], fail)
        yield request.param


def _with_keys(owner: User, slug: str) -> Campaign:
    campaign = make_crowd_campaign(owner, slug, n_hits=1)
    change_keys(campaign=campaign, keys=KEYS[slug])
    campaign.refresh_from_db()
    return campaign


@contextmanager
def reported() -> Iterator[list[str]]:
    """Give the reports of what nobody has thought of."""
    reports: list[str] = []

    def report(sender: object, request: HttpRequest, **more: object) -> None:
        payload = ExceptionReporter(request, *sys.exc_info())
        reports.append(payload.get_traceback_html() + payload.get_traceback_text())

    got_request_exception.connect(report)
    try:
        yield reports
    finally:
        got_request_exception.disconnect(report)


@pytest.mark.parametrize("name", ["crowd:check", "api:platform_check"])
def test_the_report_of_a_bug_has_no_secret(
    broken: str, owner: User, owner_client: Client, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    campaign = _with_keys(owner, broken)
    owner_client.raise_request_exception = False
    with reported() as reports:
        answer = owner_client.post(reverse(name, args=[campaign.public_id]))
    assert answer.status_code == 500
    assert "BugError" in reports[0]
    assert_hidden(f"{reports} {answer.text} {caplog.text}", campaign.platform_secrets)


@pytest.mark.parametrize(
    "place",
    [
        "api.shapes.shape_of",
        "api.options.typed",
        "campaigns.forms.partial.pop_named",
        "crowd.services.account.encrypt_secrets",
    ],
)
def test_the_report_of_a_bug_while_a_script_sends_keys_has_none(
    place: str, owner: User, owner_client: Client, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = make_crowd_campaign(owner, "mturk", n_hits=1)

    @sensitive_variables()
    def fail(*args: object, **kwargs: object) -> None:
        raise BugError("something that reads keys is broken")

    monkeypatch.setattr(place, fail)
    owner_client.raise_request_exception = False
    address = reverse("api:platform_keys", args=[campaign.public_id])
    with reported() as reports:
        answer = owner_client.patch(address, {"keys": KEYS["mturk"]}, "application/json")
    assert answer.status_code == 500
    assert "BugError" in reports[0]
    assert_hidden(f"{reports} {answer.text} {caplog.text}")


@pytest.mark.django_db(transaction=True)
def test_a_job_that_meets_a_bug_tells_no_secret(broken: str, owner: User, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    campaign = _with_keys(owner, broken)
    wave = plan(campaign, owner)
    job = Job.objects.get(kind="crowd.publish", args={"wave": wave.pk})
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.error_code) == (Job.Status.FAILED, "internal")
    assert "BugError" in caplog.text
    assert_hidden(f"{caplog.text} {serializers.serialize('json', [job])}", campaign.platform_secrets)
