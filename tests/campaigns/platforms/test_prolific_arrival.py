"""Who comes from Prolific: its ids and our signature, previews, and arrivals that Prolific has signed."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from campaigns.contracts.platform import Arrival, CampaignRef, Place
from campaigns.platforms.prolific.plugin import Prolific
from evalsite.lib.errors import DomainError
from simulators.prolific import ProlificApi
from tests.simulators.prolific_cast import make_api, study_body

PLATFORM = Prolific()
CAMPAIGN = CampaignRef(uuid4(), {})
SITE = "https://evalsite.example"
ADA, STUDY, SESSION = "a" * 24, "b" * 24, "c" * 24


def params_of(campaign: CampaignRef, **changes: str) -> dict[str, str]:
    """Return what Ada's browser sends when she opens the study."""
    query = PLATFORM.arrival_query(campaign, None)
    for name, value in {"PROLIFIC_PID": ADA, "STUDY_ID": STUDY, "SESSION_ID": SESSION}.items():
        query = query.replace(f"{{{{%{name}%}}}}", value)
    return {**dict(parse_qsl(query)), **changes}


def test_a_participant_comes_with_a_place_of_the_study() -> None:
    arrival = PLATFORM.identify(CAMPAIGN, params_of(CAMPAIGN))
    assert arrival == Arrival(ADA, place=Place(SESSION, data={"posting": STUDY}))


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
@pytest.mark.parametrize("value", ["A" * 24, "a" * 23, "a" * 24 + "\n", "' OR 1=1", "٣" * 24])
def test_an_id_that_is_none_of_prolifics_is_refused(name: str, value: str) -> None:
    with pytest.raises(DomainError) as error:
        PLATFORM.identify(CAMPAIGN, params_of(CAMPAIGN, **{name: value}))
    assert error.value.code == "bad_link"


@pytest.mark.parametrize("key", ["", "forged"])
def test_an_address_that_was_not_published_is_refused(key: str) -> None:
    with pytest.raises(DomainError) as error:
        PLATFORM.identify(CAMPAIGN, params_of(CAMPAIGN, key=key))
    assert error.value.code == "bad_link"


def test_the_address_of_another_campaign_is_refused() -> None:
    with pytest.raises(DomainError) as error:
        PLATFORM.identify(CAMPAIGN, params_of(CampaignRef(uuid4(), {})))
    assert error.value.code == "bad_link"


@pytest.mark.parametrize("value", ["", "{{%PROLIFIC_PID%}}", "{{%25PROLIFIC_PID%25}}"])
def test_names_in_the_place_of_ids_are_a_preview(value: str) -> None:
    assert PLATFORM.identify(CAMPAIGN, params_of(CAMPAIGN, PROLIFIC_PID=value)) == Arrival(is_preview=True)


def test_whoever_has_finished_follows_a_link_with_the_code_of_the_campaign(settings: Any) -> None:
    settings.PROLIFIC_URL = ""
    place = Place(SESSION, data={"posting": STUDY})
    given = PLATFORM.finish(CAMPAIGN, place, "IGNORED")
    assert given.link_url == f"https://app.prolific.com/submissions/complete?cc={given.code}"
    assert PLATFORM.finish(CAMPAIGN, replace(place, platform_id="d" * 24), "OTHER") == given
    assert PLATFORM.finish(CampaignRef(uuid4(), {}), place, "IGNORED").code != given.code
    settings.PROLIFIC_URL = "http://127.0.0.1:8090"
    assert PLATFORM.finish(CAMPAIGN, place, "").link_url.startswith("http://127.0.0.1:8090/submissions/complete?cc=")


# --- Signed by Prolific


class Secure:
    """A published secure study, and a campaign that knows Prolific's keys."""

    def __init__(self) -> None:
        self.api: ProlificApi = make_api()
        self.campaign = CampaignRef(uuid4(), {"secure_url": "yes"}, {"jwks": self.api.people.jwks(), "site_url": SITE})
        url = f"{SITE}/rate/c/{self.campaign.public_id}/?{PLATFORM.arrival_query(self.campaign, None)}"
        study = self.api.studies.create(
            study_body(external_study_url=url, is_external_study_url_secure=True, internal_name="secure")
        )
        self.api.studies.move(study["id"], "PUBLISH")
        self.study = study["id"]
        self.ada = self.api.add_participant()
        self.session = self.api.reserve(self.study, self.ada)

    def arrive(self) -> dict[str, str]:
        """Return what the participant's browser sends."""
        return dict(parse_qsl(urlsplit(self.api.external_url(self.study, self.session)).query))

    def sign(self, key: Any = None, **changes: Any) -> str:
        """Return a token such as Prolific's, with other claims; signed with its own key unless with another."""
        token = self.arrive()["prolific_token"]
        claims = jwt.decode(token, options={"verify_signature": False})
        return jwt.encode({**claims, **changes}, key or self.api.people._key(), "RS256", headers={"kid": "simulated"})


@pytest.fixture(scope="module")
def secure() -> Secure:
    return Secure()


def test_a_signed_arrival_is_let_in(secure: Secure) -> None:
    arrival = PLATFORM.identify(secure.campaign, secure.arrive())
    assert arrival == Arrival(secure.ada, place=Place(secure.session, data={"posting": secure.study}))


def test_a_token_lasts_while_the_first_page_is_read(secure: Secure) -> None:
    token = secure.sign(exp=int(time.time()) - 20 * 60)
    assert PLATFORM.identify(secure.campaign, {**secure.arrive(), "prolific_token": token}).worker_key == secure.ada


def refused(secure: Secure, params: Mapping[str, str], campaign: CampaignRef | None = None) -> str:
    """Return what is said to somebody who is not let in."""
    with pytest.raises(DomainError) as error:
        PLATFORM.identify(campaign or secure.campaign, params)
    assert error.value.code == "bad_link"
    return error.value.message


def test_an_expired_token_is_refused(secure: Secure) -> None:
    token = secure.sign(exp=int(time.time()) - 31 * 60)
    assert "expired" in refused(secure, {**secure.arrive(), "prolific_token": token})


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
def test_a_token_that_is_replayed_with_other_ids_is_refused(secure: Secure, name: str) -> None:
    assert "somebody else" in refused(secure, {**secure.arrive(), name: "d" * 24})


def test_a_token_of_another_key_is_refused(secure: Secure) -> None:
    forged = secure.sign(rsa.generate_private_key(public_exponent=65537, key_size=2048))
    refused(secure, {**secure.arrive(), "prolific_token": forged})


@pytest.mark.parametrize("token", ["", "x.y.z", "not a token"])
def test_no_token_is_refused(secure: Secure, token: str) -> None:
    refused(secure, {**secure.arrive(), "prolific_token": token})


def test_an_unsigned_token_is_refused(secure: Secure) -> None:
    claims = jwt.decode(secure.arrive()["prolific_token"], options={"verify_signature": False})
    for headers in ({"kid": "simulated"}, {}):
        unsigned = jwt.encode(claims, None, algorithm="none", headers=headers)
        refused(secure, {**secure.arrive(), "prolific_token": unsigned})


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://elsewhere.example"},
        {"sub": "d" * 24},
        {"aud": "https://elsewhere.example/rate/"},
        {"aud": f"{SITE}/rate/c/{uuid4()}/"},
        {"aud": [SITE]},
        {"prolific": "PROLIFIC_PID"},
    ],
)
def test_a_token_with_another_claim_is_refused(secure: Secure, changes: dict[str, Any]) -> None:
    refused(secure, {**secure.arrive(), "prolific_token": secure.sign(**changes)})


def test_without_prolifics_keys_nobody_is_let_in(secure: Secure) -> None:
    refused(secure, secure.arrive(), replace(secure.campaign, stored={}))
