"""What a researcher sets for Prolific, what it costs, and notifications that are not Prolific's."""

import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from campaigns.contracts.account import Event, SubmissionState
from campaigns.contracts.platform import CampaignRef
from campaigns.platforms.prolific.plugin import Prolific
from evalsite.lib.errors import DomainError
from simulators.prolific.hooks import sign

PLATFORM = Prolific()


@pytest.mark.parametrize(
    "options",
    [
        {"fee_percent": "a third"},
        {"fee_percent": "-1"},
        {"fee_percent": "NaN"},
        {"vat_percent": "101"},
        {"min_approval_percent": 101},
        {"maximum_minutes": 0},
    ],
)
def test_an_option_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DomainError) as error:
        PLATFORM.check(options)
    assert error.value.code == "bad_option"


def test_the_options_of_a_new_campaign_are_good() -> None:
    assert PLATFORM.check({}) == {}
    assert PLATFORM.check(PLATFORM.options.defaults())


@pytest.mark.parametrize(
    ("options", "fee"),
    [
        ({}, "3.33"),
        ({"fee_percent": "42,8 %"}, "4.28"),
        ({"fee_percent": "33.3", "vat_percent": "20"}, "4.00"),
        ({"fee_percent": "0"}, "0.00"),
    ],
)
@pytest.mark.parametrize("is_bonus", [False, True])
def test_the_fee_is_a_share_of_rewards_and_of_bonuses(options: dict[str, str], fee: str, is_bonus: bool) -> None:
    campaign = CampaignRef(uuid4(), options)
    assert str(PLATFORM.fee(campaign, Decimal("10.00"), n_places=30, is_bonus=is_bonus)) == fee


def test_without_a_token_there_is_no_account(settings: Any) -> None:
    settings.PROLIFIC_TOKEN = ""
    with pytest.raises(DomainError) as error:
        PLATFORM.open_account(CampaignRef(uuid4(), {}), {})
    assert error.value.code == "no_keys"


# --- Notifications

CAMPAIGN = CampaignRef(uuid4(), {})
SECRETS = {"hook_secret": "of the workspace"}
SUBMITTED = b'{"event_type": "submission.status.change", "resource_id": "s1", "status": "AWAITING REVIEW"}'


def headers_of(body: bytes, *, age_s: float = 0, secret: str = "of the workspace") -> dict[str, str]:
    """Return the headers with which Prolific sends a body."""
    at = str(int(time.time() - age_s))
    return {"x-prolific-request-timestamp": at, "x-prolific-request-signature": sign(secret, at, body)}


def test_a_signed_notification_tells_the_state_of_a_submission() -> None:
    events = PLATFORM.read_hook(CAMPAIGN, SECRETS, headers_of(SUBMITTED), SUBMITTED)
    assert events == [Event("", "s1", SubmissionState.SUBMITTED)]


def test_a_signed_notification_names_a_study() -> None:
    body = b'{"event_type": "study.status.change", "resource_id": "b1", "status": "COMPLETED", "metadata": {}}'
    assert PLATFORM.read_hook(CAMPAIGN, SECRETS, headers_of(body), body) == [Event("b1")]


def test_a_notification_that_is_sent_again_a_day_later_is_taken_and_known_again() -> None:
    late = headers_of(SUBMITTED, age_s=24 * 3600)
    assert PLATFORM.read_hook(CAMPAIGN, SECRETS, late, SUBMITTED)
    first = PLATFORM.hook_fingerprint(late, SUBMITTED)
    assert first == PLATFORM.hook_fingerprint(late | {"x-event-id": "another"}, SUBMITTED)
    assert first != PLATFORM.hook_fingerprint(headers_of(SUBMITTED), SUBMITTED)


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b'{"event_type": "workspace.change", "resource_id": "w1"}'])
def test_a_notification_of_another_kind_tells_nothing(body: bytes) -> None:
    assert PLATFORM.read_hook(CAMPAIGN, SECRETS, headers_of(body), body) == []


@pytest.mark.parametrize(
    ("sign_it", "secrets"),
    [
        (dict, SECRETS),
        (lambda: headers_of(SUBMITTED, secret="another"), SECRETS),
        (lambda: headers_of(SUBMITTED + b" "), SECRETS),
        (lambda: headers_of(SUBMITTED, secret=""), {}),
        (lambda: headers_of(SUBMITTED) | {"x-prolific-request-timestamp": "now"}, SECRETS),
        (lambda: headers_of(SUBMITTED) | {"x-prolific-request-timestamp": "9" * 400}, SECRETS),
        (lambda: headers_of(SUBMITTED) | {"x-prolific-request-timestamp": "9" * 5000}, SECRETS),
        (lambda: headers_of(SUBMITTED) | {"x-prolific-request-signature": "é"}, SECRETS),
        (lambda: headers_of(SUBMITTED, age_s=3 * 24 * 3600 + 60), SECRETS),
        (lambda: headers_of(SUBMITTED, age_s=-400), SECRETS),
    ],
)
def test_a_notification_that_prolific_has_not_signed_or_long_ago_is_refused(
    sign_it: Callable[[], dict[str, str]], secrets: dict[str, str]
) -> None:
    """Signed when the test runs: the ages are those of that moment."""
    with pytest.raises(DomainError) as error:
        PLATFORM.read_hook(CAMPAIGN, secrets, sign_it(), SUBMITTED)
    assert error.value.code == "bad_signature"
