"""Whatever is sent to the API: no answer but those that the schema tells of, and nothing of others' campaigns.

FUZZ_REQUESTS says how many requests are sent, FUZZ_SEED which ones.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

import pytest
from django.shortcuts import get_object_or_404
from django.test import override_settings
from django.utils import timezone

from analysis.models import AnalysisRun, RatingsFile
from api import operations
from api.resources import campaigns as resources
from campaigns.checklist import Step
from campaigns.models import Campaign, Upload
from campaigns.queries import Role
from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.jobs.models import Job
from tests.api.fuzz import Fuzz
from tests.permission_world import make_world

N_REQUESTS, SEED = int(os.environ.get("FUZZ_REQUESTS") or 5000), int(os.environ.get("FUZZ_SEED") or 20)
PEOPLE = ("owner", "viewer", "stranger")


@pytest.fixture(scope="module")
def fuzz(module_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzz]:
    with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("media"), API_REQUESTS_PER_MINUTE=10**9):
        world, now = make_world(), timezone.now()
        people = {name: User.objects.get(email=f"{name}@example.org") for name in PEOPLE}
        tokens = {
            name: create_token(user=user, name="fuzz", scopes=Scope.values, now=now)[1] for name, user in people.items()
        }
        places = [*world.arguments.values(), *({"public_id": each} for each in world.of_stranger.values())]
        campaigns = Campaign.objects.filter(memberships__user=people["owner"])
        hidden = [*campaigns.values_list("public_id", flat=True), people["owner"].email, people["viewer"].email]
        for rows in (AnalysisRun.objects, RatingsFile.objects, Upload.objects, Job.objects):  # the stranger has none
            hidden += rows.values_list("pk", flat=True)
        secret = re.compile("|".join(map(str, hidden)))
        yield Fuzz(tokens, [{k: v for k, v in each.items() if not isinstance(v, dict)} for each in places], secret)


def test_every_answer_is_one_that_the_schema_tells_of(fuzz: Fuzz) -> None:
    fuzz.run(N_REQUESTS, at=SEED)
    print(dict(fuzz.statuses), f"{len(+fuzz.answered)} operations were answered")  # noqa: T201
    for (operation, kind), text in fuzz.failures.items():
        print(f"--- {operation}: {kind}\n{text}")  # noqa: T201
    assert not [*fuzz.failures]


def test_a_fault_another_shape_and_a_campaign_that_is_shown_to_everybody_are_found(
    fuzz: Fuzz, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get_for_anybody(user: User, public_id: UUID, role: str) -> Campaign:
        campaign = get_object_or_404(Campaign, public_id=public_id)
        campaign.my_role = Role.OWNER
        return campaign

    seeded = replace(fuzz, statuses=Counter(), answered=Counter(), failures={})
    monkeypatch.setattr(operations, "get_campaign_for", get_for_anybody)
    monkeypatch.setattr(resources, "contents_of", None)
    monkeypatch.setattr(resources, "checklist", lambda campaign: [Step("outputs", "Outputs", "data", "lost", "")])
    seeded.run(60, at=SEED, only=r"/campaigns/{public_id}/(contents/|checklist/|members/)$")
    root = "GET /api/v1/campaigns/{public_id}/"
    assert seeded.failures.keys() == {
        (f"{root}members/", "shows a stranger"),
        (f"{root}checklist/", "JsonSchemaError"),
        (f"{root}contents/", "ServerError"),
    }
