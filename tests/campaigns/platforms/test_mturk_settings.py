"""What researchers set for Mechanical Turk: who may work, and what it costs."""

from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from campaigns.platforms.mturk.plugin import MTurk
from campaigns.platforms.mturk.qualifications import requirements
from evalsite.lib.errors import DomainError
from tests.campaigns.platforms.mturk import KEYS, ref

TYPE = "3EXAMPLETYPE"
GUARDED = {"ActionsGuarded": "DiscoverPreviewAndAccept"}


def test_without_a_wish_everybody_may_work() -> None:
    assert requirements({}) == []


def test_countries_and_approval_are_amazons_own_qualifications() -> None:
    wishes = {"countries": "us, GB; us", "min_approval_percent": 98, "min_approved": 500}
    assert requirements(wishes) == [
        {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": "US"}, {"Country": "GB"}],
            **GUARDED,
        },
        {
            "QualificationTypeId": "000000000000000000L0",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [98],
            **GUARDED,
        },
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [500],
            **GUARDED,
        },
    ]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (f"{TYPE} Exists", {"Comparator": "Exists"}),
        (f"{TYPE} doesnotexist", {"Comparator": "DoesNotExist"}),
        (f"{TYPE} >= 80", {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [80]}),
        (f"{TYPE}  NotIn  1, 2 3", {"Comparator": "NotIn", "IntegerValues": [1, 2, 3]}),
    ],
)
def test_a_line_is_a_qualification(line: str, wanted: dict[str, Any]) -> None:
    assert requirements({"qualifications": f"\n  {line}\n"}) == [{"QualificationTypeId": TYPE, **wanted, **GUARDED}]


def test_parts_of_countries_can_be_named() -> None:
    found = requirements({"qualifications": "00000000000000000071 In us-ca, GB"})
    assert found[0]["LocaleValues"] == [{"Country": "US", "Subdivision": "CA"}, {"Country": "GB"}]


@pytest.mark.parametrize(
    ("wishes", "named"),
    [
        ({"qualifications": f"{TYPE} Exists\n{TYPE}"}, "line 2"),
        ({"qualifications": f"{TYPE} about 3"}, "about"),
        ({"qualifications": f"{TYPE} >= many"}, "many"),
        ({"qualifications": f"{TYPE} >= "}, "value"),
        ({"qualifications": f"{TYPE} Exists 3"}, "Exists"),
        ({"qualifications": f"{TYPE} = 3 4"}, "one value"),
        ({"qualifications": f"{TYPE} In {' '.join(map(str, range(16)))}"}, "15"),
        ({"qualifications": "small Exists"}, "small"),
        ({"qualifications": "00000000000000000071 > US"}, "countries"),
        ({"qualifications": "00000000000000000071 = America"}, "America"),
        ({"qualifications": "\n".join([f"{TYPE} Exists"] * 10)}, "10"),
        ({"countries": "US, USA"}, "USA"),
        ({"min_approval_percent": 101}, "101"),
        ({"lifetime_days": 0}, "Days on offer"),
        ({"auto_approval_days": 31}, "31"),
        ({"title": "x" * 129}, "Title"),
        ({"sqs_queue_url": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"}, "us-east-1"),
    ],
)
def test_what_amazon_would_refuse_is_named_at_once(wishes: dict[str, Any], named: str) -> None:
    with pytest.raises(DomainError) as error:
        MTurk.check(wishes)
    assert error.value.code == "bad_option"
    assert named in error.value.message


def test_the_defaults_and_a_queue_of_amazons_are_fine() -> None:
    MTurk.check(MTurk.options.defaults())
    MTurk.check({"sqs_queue_url": "https://sqs.us-east-1.amazonaws.com/123456789012/q"})


def test_a_queue_may_be_the_simulators(settings: Settings) -> None:
    settings.MTURK_SANDBOX_URL = "http://127.0.0.1:8003"
    MTurk.check({"sqs_queue_url": "http://127.0.0.1:8003/000000000000/q"})


@pytest.mark.parametrize(
    ("amount", "n_places", "is_bonus", "fee"),
    [
        ("10.00", 1, False, "2.00"),
        ("10.00", 9, False, "2.00"),
        ("10.00", 10, False, "4.00"),
        ("10.00", 10, True, "2.00"),
        ("0.02", 1, False, "0.01"),
        ("0.02", 1, True, "0.01"),
        ("0.13", 1, False, "0.03"),
        ("0.00", 1, False, "0.00"),
    ],
)
def test_amazon_asks_a_fifth_or_two_for_many_places_and_at_least_a_cent(
    amount: str, n_places: int, is_bonus: bool, fee: str
) -> None:
    assert MTurk().fee(ref(), Decimal(amount), n_places=n_places, is_bonus=is_bonus) == Decimal(fee)


def test_masters_cost_more() -> None:
    masters = ref({"qualifications": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH Exists"})
    assert MTurk().fee(masters, Decimal(10), n_places=1) == Decimal("2.50")
    assert MTurk().fee(masters, Decimal(10), n_places=1, is_bonus=True) == Decimal("2.00")


# --- Keys


def test_without_keys_there_is_no_account(settings: Settings) -> None:
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = "AKIASITE", "secret"
    with pytest.raises(DomainError) as error:  # half of a pair is not completed by the other half of another
        MTurk().open_account(ref(), {"access_key_id": KEYS.access_key_id})
    assert error.value.code == "no_keys"
    settings.MTURK_ACCESS_KEY_ID = ""
    with pytest.raises(DomainError) as error:
        MTurk().open_account(ref(), {})
    assert error.value.code == "no_keys"


def test_the_keys_of_the_site_serve_campaigns_without_their_own(settings: Settings) -> None:
    settings.MTURK_ACCESS_KEY_ID, settings.MTURK_SECRET_ACCESS_KEY = "AKIASITE", "secret"
    assert MTurk().open_account(ref(), {}) is not None


def test_what_no_key_has_is_refused() -> None:
    with pytest.raises(DomainError) as error:
        MTurk().open_account(ref(), {"access_key_id": "AKIÄ", "secret_access_key": "secret"})
    assert error.value.code == "bad_keys"
    assert "AKIÄ" not in error.value.message


def test_keys_are_secrets_that_may_change_after_the_launch() -> None:
    secrets = {name: option.is_operational for name, option in MTurk.options.secrets().items()}
    assert secrets == {"access_key_id": True, "secret_access_key": True}
