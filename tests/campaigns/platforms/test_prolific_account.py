"""The account at Prolific against its simulator: each act has its effect once, whatever goes wrong on the way."""

import logging
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest

from campaigns.contracts.account import (
    BonusSpec,
    CrowdAccount,
    DraftLapsedError,
    PlatformRefusedError,
    PlatformUnsureError,
    PostingSpec,
    PostingState,
    SubmissionState,
    Terms,
)
from campaigns.contracts.platform import CampaignRef, Place
from campaigns.platforms.prolific import account as account_module
from campaigns.platforms.prolific.plugin import Prolific
from crowd.simulator.faults import Fault, Faults
from crowd.simulator.prolific import ProlificApi
from crowd.simulator.server import Served
from tests.crowd.simulator.prolific_cast import TOKEN, Standing, make_api

PLATFORM = Prolific()
CAMPAIGN = CampaignRef(uuid4(), {})
SITE = "https://evalsite.example"
TERMS = Terms("Rate short texts", "Ten texts.", Decimal("1.50"), "GBP", 9, SITE)
MESSAGE = "All twenty ratings of your HIT are the same, also those of the two texts whose words were put in disorder."


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Standing, str]]:
    standing = Standing()
    with Served(standing) as served:
        yield standing, served.url


@pytest.fixture
def api(server: tuple[Standing, str], settings: Any) -> ProlificApi:
    standing, settings.PROLIFIC_URL = server
    standing.api = make_api()
    return standing.api


@pytest.fixture
def account(api: ProlificApi) -> CrowdAccount:
    return open_account()


def open_account(options: dict[str, Any] | None = None) -> CrowdAccount:
    """Open the account as another process would."""
    return PLATFORM.open_account(replace(CAMPAIGN, settings=options or {}), {"token": TOKEN})


def spec(token: UUID | None = None, *, n_places: int = 3, terms: Terms = TERMS) -> PostingSpec:
    """Return a wave of HITs of three places."""
    url = f"{SITE}/rate/c/{CAMPAIGN.public_id}/?{PLATFORM.arrival_query(CAMPAIGN, None)}"
    return PostingSpec(token or uuid4(), terms, url, n_places)


def publish(account: CrowdAccount, **more: Any) -> str:
    """Publish a wave and return its study."""
    study = account.draft(spec(**more))
    account.publish(study)
    return study


def work(api: ProlificApi, study: str, code: str = "ABC") -> str:
    """Let a new participant submit a session of a study."""
    session = api.reserve(study, api.add_participant())
    api.external_url(study, session)
    api.submit(session, code)
    return session


def insist(act: Callable[[], Any], *, times: int = 200) -> Any:
    """Do something until the platform is sure of it."""
    for _ in range(times):
        try:
            return act()
        except PlatformUnsureError:
            continue
    raise AssertionError("it never worked")


def operations(api: ProlificApi, *names: str) -> list[str]:
    """Return the effects of some operations, in order."""
    return [each.operation for each in api.ledger.effects() if each.operation in names]


# --- Whose account it is


def test_the_check_tells_the_name_the_money_and_that_it_is_a_rehearsal(account: CrowdAccount) -> None:
    state = account.check()
    assert (state.name, state.balance, state.currency) == ("Simulated researcher", Decimal("10000"), "GBP")
    assert state.is_sandbox


def test_a_wrong_token_is_refused_in_prolifics_words(api: ProlificApi) -> None:
    account = PLATFORM.open_account(CAMPAIGN, {"token": "a-token-that-is-wrong"})
    with pytest.raises(PlatformRefusedError, match="Invalid token") as error:
        account.check()
    assert error.value.code == "401"


def test_the_token_is_in_no_message_log_or_traceback(
    api: ProlificApi, account: CrowdAccount, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api.faults.rate, api.faults.silence_s = 1.0, 0.0
    shown = repr(account) + str(vars(account))
    for kind in Fault:
        api.faults.kinds = (kind,)
        with pytest.raises(PlatformUnsureError) as error:
            account.draft(spec())
        shown += "".join(traceback.TracebackException.from_exception(error.value, capture_locals=True).format())
    api.faults.rate = 0.0
    with pytest.raises(PlatformRefusedError) as refused:
        account.publish("f" * 24)
    shown += "".join(traceback.TracebackException.from_exception(refused.value, capture_locals=True).format())
    assert "f" * 24 in shown
    assert TOKEN not in shown + caplog.text


def test_rewards_in_another_currency_than_the_workspaces_are_refused(account: CrowdAccount) -> None:
    with pytest.raises(PlatformRefusedError) as error:
        account.prepare(replace(TERMS, currency="USD"))
    assert error.value.code == "currency"


# --- Studies


def test_a_wave_becomes_one_study_that_participants_see_once_it_is_published(
    api: ProlificApi, account: CrowdAccount
) -> None:
    study = account.draft(spec())
    person = api.add_participant()
    assert api.open_studies(person) == []
    assert account.look(study).state is PostingState.DRAFT
    account.publish(study)
    account.publish(study)
    (seen,) = api.open_studies(person)
    assert (seen["reward"], seen["total_available_places"], seen["estimated_completion_time"]) == (150, 3, 9)
    assert operations(api, "create", "publish") == ["create", "publish"]
    (code,) = seen["completion_codes"]
    assert code["code"] == PLATFORM.finish(CAMPAIGN, Place("c" * 24), "").code
    assert code["actions"] == [{"action": "MANUALLY_REVIEW"}]


def test_the_options_become_filters(api: ProlificApi) -> None:
    account = open_account(
        {
            "countries": "united kingdom, Germany",
            "min_approval_percent": 95,
            "min_approved": 100,
            "devices": "desktop",
            "maximum_minutes": 60,
            "secure_url": "yes",
        }
    )
    study = api.studies.study(account.draft(spec()))
    assert {each["filter_id"]: each for each in study["filters"]} == {
        "current-country-of-residence": {
            "filter_id": "current-country-of-residence",
            "selected_values": ["0", "3"],
        },
        "approval_rate": {"filter_id": "approval_rate", "selected_range": {"lower": 95, "upper": 100}},
        "approval_numbers": {"filter_id": "approval_numbers", "selected_range": {"lower": 100}},
    }
    assert (study["device_compatibility"], study["maximum_allowed_time"]) == (["desktop"], 60)
    assert study["is_external_study_url_secure"]


def test_a_country_that_prolific_does_not_know_is_refused_before_anything_is_made(api: ProlificApi) -> None:
    with pytest.raises(PlatformRefusedError, match="Utopia"):
        open_account({"countries": "Utopia"}).draft(spec())
    assert api.ledger.effects("create") == []


def test_a_refusal_is_told_in_prolifics_words(api: ProlificApi) -> None:
    with pytest.raises(PlatformRefusedError, match="maximum_allowed_time: Must be at least 26 minutes"):
        open_account({"maximum_minutes": 10}).draft(spec())


def test_without_money_a_study_stays_a_draft(api: ProlificApi, account: CrowdAccount) -> None:
    study = account.draft(spec(n_places=10_000))
    with pytest.raises(PlatformRefusedError, match="not enough funds"):
        account.publish(study)
    assert account.look(study).state is PostingState.DRAFT


def test_two_drafts_of_one_token_are_one_study_to_everybody(api: ProlificApi, account: CrowdAccount) -> None:
    wanted = spec()
    first = account.draft(wanted)
    twin = {name: value for name, value in api.studies.study(first).items() if name in ("name", "description")}
    body = {**api.studies.study(first), **twin}
    for name in ("id", "status", "is_stopped", "date_created"):
        body.pop(name)
    api.studies.create(body)
    assert account.draft(wanted) == open_account().draft(wanted) == first


def test_pause_resume_and_stop_may_be_repeated(api: ProlificApi, account: CrowdAccount) -> None:
    study = publish(account)
    for act, state in (
        (account.pause, PostingState.PAUSED),
        (account.resume, PostingState.OPEN),
        (account.stop, PostingState.ENDED),
    ):
        act(study)
        act(study)
        assert account.look(study).state is state
    assert operations(api, "pause", "start", "stop") == ["pause", "start", "stop"]


def test_a_draft_is_deleted_and_a_published_study_is_not(account: CrowdAccount) -> None:
    draft, study = account.draft(spec()), publish(account)
    account.delete(draft)
    account.delete(draft)
    assert account.look(draft).state is PostingState.GONE
    with pytest.raises(PlatformRefusedError, match="cannot be deleted"):
        account.delete(study)


def test_a_look_tells_every_submission(api: ProlificApi, account: CrowdAccount) -> None:
    study = publish(account, n_places=130)
    sessions = {work(api, study) for _ in range(121)}
    at_work, returned, late = (api.reserve(study, api.add_participant()) for _ in range(3))
    api.give_back(returned)
    api.time_out(late)
    seen = account.look(study)
    assert seen.state is PostingState.OPEN
    assert seen.n_pending is None
    states = {each.platform_id: each.state for each in seen.submissions}
    assert states == {
        **dict.fromkeys(sessions, SubmissionState.SUBMITTED),
        at_work: SubmissionState.ACTIVE,
        returned: SubmissionState.RETURNED,
        late: SubmissionState.ABANDONED,
    }
    one = next(each for each in seen.submissions if each.state is SubmissionState.SUBMITTED)
    assert one.code == "ABC"
    assert one.submitted_at and one.decided_by_itself_at == one.submitted_at + timedelta(days=21)


def test_places_are_added_once_for_each_token(api: ProlificApi, account: CrowdAccount) -> None:
    wanted = spec()
    study = account.draft(wanted)
    account.publish(study)
    tokens = [uuid4() for _ in range(3)]
    for token in tokens + tokens:
        account.add_places(study, 2, token)
    assert api.studies.study(study)["total_available_places"] == 9
    assert account.draft(wanted) == study


def test_workers_of_earlier_runs_and_blocked_ones_do_not_see_the_study(api: ProlificApi, account: CrowdAccount) -> None:
    old, bad, good = (api.add_participant() for _ in range(3))
    account.block(bad, "Copied answers")
    terms = replace(TERMS, worked_before=frozenset({old}))
    account.prepare(terms)
    open_account().prepare(terms)
    publish(account, terms=terms)
    assert [len(api.open_studies(each)) for each in (old, bad, good)] == [0, 0, 1]
    account.unblock(bad)
    assert len(api.open_studies(bad)) == 1
    assert len(api.ledger.effects("group")) == 2


# --- Decisions


def test_a_submission_is_approved_rejected_and_restored(api: ProlificApi, account: CrowdAccount) -> None:
    study = publish(account)
    good, bad = work(api, study), work(api, study)
    for _ in range(2):
        account.approve(good)
        account.reject(bad, MESSAGE, "LOW_EFFORT")
    assert operations(api, "approve", "reject") == ["approve", "reject"]
    with pytest.raises(PlatformRefusedError):
        account.reject(good, MESSAGE, "LOW_EFFORT")
    with pytest.raises(PlatformRefusedError):
        account.approve(bad)
    for _ in range(2):
        account.approve(bad, was_rejected=True)
    assert {each.state for each in account.look(study).submissions} == {SubmissionState.APPROVED}
    assert operations(api, "approve", "unreject") == ["approve", "unreject", "approve"]


def test_a_short_message_of_rejection_is_refused(api: ProlificApi, account: CrowdAccount) -> None:
    session = work(api, publish(account))
    with pytest.raises(PlatformRefusedError, match="100 chars"):
        account.reject(session, "Bad.", "OTHER")


def test_participants_get_a_message(api: ProlificApi, account: CrowdAccount) -> None:
    study = publish(account)
    session = work(api, study)
    person = api.studies.submission(session)["participant"]
    account.notify([person], "About your HIT", "Thank you.", study)
    (sent,) = api.ledger.effects("message")
    assert (sent.target, sent.data["body"]) == (person, "About your HIT\n\nThank you.")


# --- Bonuses: Prolific pays as often as it is asked


def bonus_of(api: ProlificApi, study: str, session: str, amount: str = "0.75") -> BonusSpec:
    """Return a bonus of a session."""
    participant = api.studies.submission(session)["participant"]
    return BonusSpec(uuid4(), study, session, participant, Decimal(amount), "Well done")


def paid(api: ProlificApi) -> list[int]:
    """Return the bonuses that were paid, in pence."""
    return [each.data["amount"] for each in api.ledger.effects("bonus")]


def test_a_bonus_is_paid_once_by_whoever_drafted_it_and_by_another_process(
    api: ProlificApi, account: CrowdAccount
) -> None:
    study = publish(account)
    bonus = bonus_of(api, study, work(api, study))
    draft = account.draft_bonus(bonus)
    assert paid(api) == []
    account.pay_bonus(bonus, draft)
    account.pay_bonus(bonus, draft)
    open_account().pay_bonus(bonus, draft)
    assert paid(api) == [75]
    second = account.draft_bonus(bonus)
    account.pay_bonus(bonus, second)
    assert paid(api) == [75, 75]


def test_a_bonus_that_may_be_on_its_way_is_not_paid_again(
    api: ProlificApi, account: CrowdAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_module, "_SETTLED_SIMULATED_S", 600.0)
    study = publish(account)
    bonus = bonus_of(api, study, work(api, study))
    draft = account.draft_bonus(bonus)
    api._bonus_delay_s = 300.0
    api.faults.rate, api.faults.kinds = 1.0, (Fault.ERROR_AFTER,)
    with pytest.raises(PlatformUnsureError):
        account.pay_bonus(bonus, draft)
    api.faults.rate = 0.0
    with pytest.raises(PlatformUnsureError) as error:
        open_account().pay_bonus(bonus, draft)
    assert error.value.retry_after_s is not None and 500 < error.value.retry_after_s <= 600
    api._bonus_delay_s = 0.0
    open_account().pay_bonus(bonus, draft)
    assert paid(api) == [75]


def test_a_bonus_that_may_be_paid_is_not_refused_since_it_cannot_be_looked_for(
    api: ProlificApi, account: CrowdAccount
) -> None:
    study = publish(account)
    bonus = bonus_of(api, study, work(api, study))
    draft = account.draft_bonus(bonus)
    account.pay_bonus(bonus, draft)
    with pytest.raises(PlatformUnsureError):
        PLATFORM.open_account(CAMPAIGN, {"token": "a-token-that-is-wrong"}).pay_bonus(bonus, draft)
    open_account().pay_bonus(bonus, draft)
    assert paid(api) == [75]


def test_a_bonus_that_was_never_paid_is_drafted_anew(
    api: ProlificApi, account: CrowdAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = publish(account)
    bonus = bonus_of(api, study, work(api, study))
    lost = account.draft_bonus(bonus)  # and the process dies
    monkeypatch.setattr(account_module, "_SETTLED_SIMULATED_S", 0.0)
    with pytest.raises(DraftLapsedError):
        open_account().pay_bonus(bonus, lost)
    account = open_account()
    account.pay_bonus(bonus, account.draft_bonus(bonus))
    assert paid(api) == [75]


def test_a_second_bonus_of_the_same_amount_is_not_taken_for_the_first(
    api: ProlificApi, account: CrowdAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = publish(account)
    first = bonus_of(api, study, work(api, study))
    api._bonus_delay_s = 300.0  # until Prolific lists it
    account.pay_bonus(first, account.draft_bonus(first))
    second = replace(first, token=uuid4(), given_at=datetime.now(UTC))
    monkeypatch.setattr(account_module, "_SETTLED_SIMULATED_S", 600.0)
    with pytest.raises(PlatformUnsureError) as error:
        account.draft_bonus(second)
    assert error.value.retry_after_s is not None and 500 < error.value.retry_after_s <= 600

    api._bonus_delay_s = 0.0
    monkeypatch.setattr(account_module, "_SETTLED_SIMULATED_S", 0.0)
    lost = account.draft_bonus(second)  # and the process dies
    with pytest.raises(DraftLapsedError):
        open_account().pay_bonus(second, lost)
    account.pay_bonus(second, account.draft_bonus(second))
    assert paid(api) == [75, 75]


def test_every_act_has_its_effect_exactly_once_under_faults(
    api: ProlificApi, account: CrowdAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_module, "_SETTLED_SIMULATED_S", 0.0)
    api.faults = Faults(rate=0.3, seed=11, silence_s=0.0)
    wanted = spec(n_places=12)
    study = insist(lambda: account.draft(wanted))
    insist(lambda: account.publish(study))
    sessions = [work(api, study) for _ in range(12)]
    insist(lambda: account.add_places(study, 1, wanted.token))
    for session in sessions:
        insist(lambda session=session: account.approve(session))
        bonus, drafts = bonus_of(api, study, session), [""]

        def pay(bonus: BonusSpec = bonus, drafts: list[str] = drafts) -> None:
            drafts[0] = drafts[0] or account.draft_bonus(bonus)
            try:
                account.pay_bonus(bonus, drafts[0])
            except DraftLapsedError:
                drafts[0] = ""
                raise

        insist(pay)
    api.faults = Faults()
    assert operations(api, "create", "publish", "places") == ["create", "publish", "places"]
    assert sorted(each.target for each in api.ledger.effects("approve")) == sorted(sessions)
    assert sorted(each.target for each in api.ledger.effects("bonus")) == sorted(sessions)


# --- What the platform asks for


def test_throttling_tells_how_long_to_wait(api: ProlificApi, account: CrowdAccount) -> None:
    api.faults = Faults(rate=1.0, kinds=(Fault.THROTTLED,))
    api._retry_after_s = 7
    with pytest.raises(PlatformUnsureError) as error:
        account.check()
    assert error.value.retry_after_s == 7


def test_nobody_there_is_a_passing_fault(api: ProlificApi, settings: Any) -> None:
    settings.PROLIFIC_URL = "http://127.0.0.1:9"
    with pytest.raises(PlatformUnsureError):
        open_account().check()


# --- Notifications


def test_preparing_subscribes_once_and_what_comes_is_read(api: ProlificApi, account: CrowdAccount) -> None:
    got: list[tuple[dict[str, str], bytes]] = []

    def hook(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        names = {name[5:].lower().replace("_", "-"): value for name, value in environ.items() if name[:5] == "HTTP_"}
        got.append((names, environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))))
        start_response("204 No Content", [("Content-Length", "0")])
        return [b""]

    with Served(hook) as served:
        terms = replace(TERMS, hook_url=f"{served.url}/hook/")
        prepared = account.prepare(terms)
        assert open_account().prepare(terms) == prepared
        study = publish(account)
        session = work(api, study)
        api.deliver_hooks()
    assert prepared.memory["site_url"] == SITE
    assert prepared.memory["jwks"] == api.people.jwks()
    assert len(api.ledger.effects("secret")) == 1
    assert len(api.ledger.effects("subscribe")) == 2
    events = [event for each in got for event in PLATFORM.read_hook(CAMPAIGN, prepared.secrets, *each)]
    assert [each.posting_id for each in events if each.posting_id] == [study]
    assert [each.state for each in events if each.submission_id == session][-1] is SubmissionState.SUBMITTED


@pytest.mark.parametrize("url", ["", "http://evalsite.example/hook/", "https://localhost/hook/", "https://10.0.0.1/h/"])
def test_an_address_that_is_not_public_gets_no_notifications(settings: Any, url: str) -> None:
    settings.PROLIFIC_URL = ""
    assert not account_module.workspace.is_public(url)
    assert account_module.workspace.is_public("https://evalsite.example/hook/")


def test_preparing_does_without_notifications_if_they_fail(
    api: ProlificApi, account: CrowdAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crowd.simulator.prolific.hooks.EVENT_TYPES", ("study.status.change",))
    prepared = account.prepare(replace(TERMS, hook_url="https://evalsite.example/hook/"))
    assert prepared.secrets == {}
    assert prepared.memory["site_url"] == SITE
