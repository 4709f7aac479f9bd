"""What the addresses of the permission matrix are about: a campaign of each kind, a file of ratings, and who asks."""

import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import numpy as np
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.methods.settings import from_protocol
from analysis.models import AnalysisRun, JudgeAnswer, MetricScores, PowerAnalysis
from analysis.planning.plans import PlanSettings, make_plan
from analysis.stats.designs import PlannedDesign
from analysis.urls import shared
from analysis.web.queries.judges import judged_outputs
from analysis.web.services.judges import add_judge
from analysis.web.services.planning import start_plan
from analysis.web.services.ratings_files import upload_ratings
from analysis.web.services.runs import start_run
from analysis.web.services.sharing import create_share_link
from annotation.access.tokens import token_of
from annotation.models import Assignment, Conversation, Invitation
from campaigns.contracts.protocol import Screen
from campaigns.invitations import link_path
from campaigns.models import Campaign, Chatbot, Delivery, Hit, Upload
from campaigns.queries import BUILD
from campaigns.services.imports import upload_outputs
from campaigns.services.members import invite_member
from campaigns.services.webhooks import add_webhook
from evalsite.accounts.models import Scope, User
from evalsite.accounts.tokens import create_token
from evalsite.jobs.models import Job
from tests.analysis.campaigns import analysed, rated_campaign
from tests.analysis.conftest import finish, ratings_csv
from tests.annotation.cast import make_worker, rate_hit
from tests.annotation.chat.chat_campaigns import open_live_campaign
from tests.annotation.chat.talks import SERIOUS, hold_chat, take_hit
from tests.campaigns.cast import add_member, make_campaign
from tests.campaigns.data.files import LONG
from tests.campaigns.formats.pictures import drawn, file_of, keep
from tests.crowd.rated import decided, submissions_of
from tests.crowd.rated import rated_campaign as rated_on_platform

PEOPLE = ("anonymous", "stranger", "viewer", "editor", "owner", "admin")
Arguments = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class World:
    """Who asks, and for what.

    Attributes
    ----------
    clients : dict
        A browser of each of PEOPLE, signed in. The stranger owns campaigns of their own; the admin is no member.
    tokens : dict
        A token of the owner's for each scope, one of all scopes at "all", and of all but one at "all but" this one.
    arguments : dict
        Of each kind in the table, what the parameters of an address are called there.
    of_stranger : dict
        Of each kind, the `public_id` of a campaign of the stranger's.
    """

    clients: dict[str, Client]
    tokens: dict[str, str]
    arguments: Arguments
    of_stranger: dict[str, Any]


def make_world() -> World:
    """Store it; the files are in MEDIA_ROOT."""
    users = {name: User.objects.create_user(f"{name}@example.org", "a-password") for name in PEOPLE[1:]}
    User.objects.filter(pk=users["admin"].pk).update(is_staff=True, is_superuser=True)
    owner, stranger = users["owner"], users["stranger"]
    rated, live, crowd = rated_campaign(owner), open_live_campaign(owner), rated_on_platform(owner, platform="prolific")
    Campaign.objects.filter(pk=crowd.pk).update(replicates=rated)
    for campaign in (rated, live, crowd):
        for name in ("viewer", "editor"):
            add_member(campaign, users[name], name)
    own = start_run(
        ratings_file=upload_ratings(owner=owner, upload=SimpleUploadedFile("r.csv", ratings_csv()), title="Own"),
        user=owner,
        settings=from_protocol("mrc-adequacy"),
    )
    scopes = {scope: [scope] for scope in Scope.values} | {"all": Scope.values}
    scopes |= {f"all but {scope}": [each for each in Scope.values if each != scope] for scope in Scope.values}
    now = timezone.now()
    tokens = {name: create_token(user=owner, name=name, scopes=scopes[name], now=now)[1] for name in scopes}
    clients = {name: _browser(users.get(name)) for name in PEOPLE}
    for_all = {
        "user_id": users["admin"].pk,
        "token_id": 1,
        "uidb64": "MQ",
        "token": "set-password",
        "rest": "no/such/address",
        "act_id": uuid4(),
    }
    for_all |= {"app_label": "campaigns", "object_id": 1, "content_type_id": 1, "id": owner.pk}
    for_all |= {"url": "no-such", "group": "work"}
    for_all |= {"help:guide": {"name": "glossary"}, "help:example": {"name": "results.ipynb"}}
    for_all["?"] = {"admin:autocomplete": "?app_label=campaigns&model_name=membership&field_name=user&term="}
    return World(
        clients,
        tokens,
        {
            "": for_all,
            "own": _of_run(finish(own)) | _of_plan(owner) | {"token_id": owner.tokens.first().pk},
            "rated": _of_rated(rated, owner, clients["owner"]),
            "live": _of_live(live),
            "crowd": _of_crowd(crowd),
        },
        {
            "rated": make_campaign(stranger).public_id,
            "live": make_campaign(stranger, "dialogue-free").public_id,
            "crowd": rated_on_platform(stranger, n_hits=1, platform="prolific").public_id,
        },
    )


def _browser(user: User | None) -> Client:
    """Return a browser whose session no answer can end."""
    client = Client()
    if user:
        client.force_login(user)
        client.defaults["HTTP_COOKIE"] = f"sessionid={client.cookies['sessionid'].value}"
    return client


def _of_run(run: AnalysisRun) -> dict[str, Any]:
    file = run.ratings_file
    own = {"campaign": file.campaign} if file.campaign else {"ratings_file": file}
    scores = MetricScores.objects.create(created_by=file.owner, name="scores.csv", finished_at=timezone.now(), **own)
    return {
        "scores_id": scores.pk,
        "run_id": run.pk,
        "ratings_file_id": run.ratings_file_id,
        "job_id": run.job_id,
        "name": "report.json",
        "section": "boxes",
    }


def _of_plan(owner: User, campaign: Campaign | None = None) -> dict[str, Any]:
    """A finished plan of the smallest size."""
    settings = PlanSettings(PlannedDesign(2, 6, 10, 8), 30, n_simulations=1)
    plan = start_plan(user=owner, settings=settings, campaign=campaign)
    PowerAnalysis.objects.filter(pk=plan.pk).update(plan=make_plan(settings))
    return {"plan_id": plan.pk, "analysis:plan_file": {"name": "plan.json"}}


def _image_on(url: str, browser: Client) -> str:
    """Return the name of the first image of a page."""
    found = re.search(r"(\w+)\.img", browser.get(url).text)
    assert found
    return found[1]


def _of_rated(campaign: Campaign, owner: User, browser: Client) -> dict[str, Any]:
    """Everything that a campaign whose outputs are rated has; in its last HIT somebody is at work."""
    Hit.objects.filter(pk=campaign.hits.last().pk).update(n_places_left=1)
    worker, rng = make_worker(campaign, "at-work"), np.random.default_rng(5)
    assignment = rate_hit(campaign.hits.last(), worker, rng, n_rated=1, state=Assignment.State.ACTIVE)
    file = SimpleUploadedFile("outputs.csv", LONG.encode())
    upload = upload_outputs(campaign=make_campaign(owner), user=owner, upload=file)  # only a draft takes one
    Upload.objects.update(campaign=campaign)
    webhook, _ = add_webhook(campaign=campaign, url="https://hooks.example.org/", events=["job.failed"])
    delivery = Delivery.objects.create(
        webhook=webhook, event_id=uuid4(), event="job.failed", data={}, state=Delivery.State.FAILED
    )
    field = Screen.from_json(campaign.screen).field_names[0]
    run = analysed(campaign, owner)
    link = create_share_link(campaign=campaign, user=owner)
    invitation = invite_member(
        campaign=campaign, email="invited@example.org", role="viewer", by=owner, now=timezone.now()
    )
    return (
        _of_run(run)
        | _of_plan(owner, campaign)
        | {f"shared:{page.name}": {"token": link.token} for page in shared[0]}
        | {
            "link_id": link.pk,
            "public_id": campaign.public_id,
            "system_id": campaign.systems.first().pk,
            "criterion_id": campaign.criteria.first().pk,
            "membership_id": campaign.memberships.get(role="viewer").pk,
            "member_invitation_id": invitation.pk,
            "campaigns:join": {"token": link_path(invitation).split("/")[-2]},
            "upload_id": upload.pk,
            "digest": keep(campaign, file_of(drawn(1), "WEBP")),
            "webhook_id": webhook.pk,
            "delivery_id": delivery.pk,
            "assignment_id": assignment.pk,
            "worker_id": worker.pk,
            "invitation_id": Invitation.objects.create(campaign=campaign, worker=worker).pk,
            "token": token_of(assignment),
            "judge_id": _judge_of(campaign, owner),
            "analysis:judge_add": {"connector": "openai-chat"},
            "number": 1,
            "hit": 1,
            "position": 1,
            "shape": "long",
            "api:field": {"name": field},
            "api:field_place": {"name": field},
            "campaigns:job": {"job_id": Job.objects.create(kind=BUILD, args={"campaign": campaign.pk}).pk},
            "analysis:campaign_datasheet_file": {"suffix": "json"},
            "monitoring:export_file": {"name": "ratings.csv"},
            "api:export": {"name": "ratings.csv"},
            "api:preview_image": {"name": _image_on(reverse("api:preview", args=[campaign.public_id, 1]), browser)},
            "rate:image": {"name": _image_on(reverse("rate:hit", args=[token_of(assignment)]), Client())},
            "monitoring:preview_image": {
                "name": _image_on(reverse("monitoring:preview_item", args=[campaign.public_id, 1, 1]), browser)
            },
        }
    )


def _judge_of(campaign: Campaign, owner: User) -> UUID:
    """A judge that has answered once."""
    settings = {"base_url": "https://models.example.org/v1", "model": "m"}
    judge = add_judge(campaign=campaign, user=owner, name="m", connector="openai-chat", settings=settings)
    output = judged_outputs(campaign).first()
    JudgeAnswer.objects.create(judge=judge, output=output, attempt=1, state=JudgeAnswer.State.FAILED)
    return judge.pk


def _of_live(campaign: Campaign) -> dict[str, Any]:
    """Everything that a live campaign has; one worker has finished, another is in a chat."""
    done = take_hit(campaign, "done", state=Assignment.State.FINISHED)
    for _ in range(done.n_items):
        hold_chat(done, inputs=SERIOUS[:3], score=60)
    active = take_hit(campaign, "at-work")
    chat = hold_chat(active, inputs=SERIOUS[:2], state=Conversation.State.OPEN)
    return {
        "public_id": campaign.public_id,
        "chatbot_id": Chatbot.objects.get(system__campaign=campaign, system__name="Amber").pk,
        "connector": "retrieval",
        "chat_id": chat.pk,
        "token": token_of(active),
        "hit": 1,
        "position": 1,
        "run_id": analysed(campaign).pk,
        "shared:chats": {
            "token": create_share_link(campaign=campaign, user=campaign.memberships.get(role="owner").user).token
        },
    }


def _of_crowd(campaign: Campaign) -> dict[str, Any]:
    """Everything that a campaign on a crowd platform has."""
    analysed(campaign)
    submission = submissions_of(campaign)[0]
    return {
        "public_id": campaign.public_id,
        "wave_id": submission.posting.wave_id,
        "submission_id": submission.pk,
        "order_id": decided(submission, "approve", "refused").pk,
    }
