"""The list of campaigns, the choice of a protocol, and the overview of one campaign."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.http import HttpRequest

from campaigns.checklist import checklist, missing, to_confirm
from campaigns.contracts.protocol import Protocol
from campaigns.design.composition import Kind, Layout, Mix
from campaigns.models import Campaign, Membership
from campaigns.navigation import campaign_context, url_of
from campaigns.platforms import get_platform
from campaigns.protocols import get_protocol, list_protocols
from campaigns.queries import contents_of, list_related_runs, places_of
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError


def campaigns_listed(memberships: Iterable[Membership]) -> list[dict[str, Any]]:
    """Return each campaign with what the list shows of it. One query."""
    memberships = list(memberships)
    places = places_of([membership.campaign for membership in memberships])
    rows = []
    for membership in memberships:
        campaign = membership.campaign
        n_hits, n_left = places[campaign.pk]
        n_places = n_hits * campaign.workers_per_hit
        rows.append(
            {
                "campaign": campaign,
                "role": membership.get_role_display(),
                "protocol": get_protocol(campaign.protocol).title,
                "n_hits": n_hits,
                "n_places": n_places,
                "n_taken": n_places - n_left,
            }
        )
    return rows


def protocols_offered() -> list[dict[str, Any]]:
    """Return what a new campaign may be."""
    return [_offered(protocol) for protocol in list_protocols()]


def _offered(protocol: type[Protocol]) -> dict[str, Any]:
    return {
        "slug": protocol.slug,
        "title": protocol.title,
        "summary": protocol.summary,
        "shown": shown_words(protocol),
        "criteria": [criterion.statement for criterion in protocol.criteria],
        "mix": mix_words(protocol.mix),
    }


def shown_words(protocol: type[Protocol]) -> str:
    """Return what a worker is shown, in words: the fields, then the output; or a live chat."""
    screen, chat = protocol.screen, protocol.chat
    if chat:
        about = "a topic of the worker's choice" if chat.opening == "free" else "a statement of a persona"
        return f"live chat with a chatbot about {about}, at least {chat.min_inputs} messages"
    return ", ".join([*(field.label for field in screen.fields if field.is_shown), screen.output_label])


def mix_words(mix: Mix) -> str:
    """Return what a HIT consists of, in words."""
    if mix.layout == Layout.BY_SYSTEM:
        degraded = " and the degraded one" if mix.n_degraded else ""
        return f"{mix.size} chats: {mix.n_ordinary} different chatbots{degraded}"
    names = {Kind.DEGRADED: "degraded", Kind.REPEAT: "repeat", Kind.REFERENCE: "reference item"}
    plural = {kind: name if kind == Kind.DEGRADED else f"{name}s" for kind, name in names.items()}
    copies = ", ".join(f"{n} {(names if n == 1 else plural)[kind]}" for kind, n in mix.copies if n)
    return f"{mix.size} items: {mix.n_ordinary} ordinary" + (f", {copies}" if copies else "")


def overview(request: HttpRequest, user: User, campaign: Campaign) -> dict[str, Any]:
    """Return what the overview of a campaign shows."""
    contents = contents_of(campaign)
    parent, replications = list_related_runs(user, campaign)
    context = campaign_context(campaign, "overview") | {
        "contents": contents,
        "stats": _stats(campaign, contents.n_systems, contents.n_outputs, contents.n_hits, contents.n_places_taken),
        "protocol": get_protocol(campaign.protocol).title,
        "parent": parent,
        "replications": replications,
        "copy_id": uuid4(),
    }
    if campaign.is_launched:
        return context | {"link": worker_link(request, campaign)}
    steps = checklist(campaign, contents)
    return context | {
        "steps": [{"step": step, "url": url_of(campaign, step.page)} for step in steps],
        "n_missing": len(missing(steps)),
        "to_confirm": to_confirm(steps),
        "cost": cost_of(campaign, contents.n_places),
    }


def _stats(campaign: Campaign, n_systems: int, n_outputs: int, n_hits: int, n_taken: int) -> list[dict[str, str]]:
    places = n_hits * campaign.workers_per_hit
    if campaign.is_live:
        note = "and the degraded one" if campaign.n_degraded else ""
        rated = [{"label": "Chatbots", "value": f"{n_systems:,}", "note": note}]
    else:
        rated = [{"label": "Systems", "value": f"{n_systems:,}"}, {"label": "Outputs", "value": f"{n_outputs:,}"}]
    note = f"of {campaign.hit_size} {'chats' if campaign.is_live else 'items'}"
    stats = [*rated, {"label": "HITs", "value": f"{n_hits:,}", "note": note}]
    if campaign.is_launched:
        stats.append({"label": "Places taken", "value": f"{n_taken:,}", "note": f"of {places:,}"})
    else:
        note = f"{campaign.workers_per_hit} per HIT"
        stats.append({"label": "Assignments wanted", "value": f"{places:,}", "note": note})
    return stats


def worker_link(request: HttpRequest, campaign: Campaign) -> dict[str, Any] | None:
    """Return the address that workers open and, in `refused`, why it alone is not enough.

    None where a platform brings its workers, or this site has no such pages.
    """
    path = url_of(campaign, "rate:welcome")
    if path is None:
        return None
    platform = get_platform(campaign.platform)
    if platform.has_account:
        return None
    try:
        platform.identify(campaign.ref, {})
        refused = ""
    except DomainError as error:
        refused = error.message
    return {
        "url": request.build_absolute_uri(path),
        "refused": refused,
        "raters": url_of(campaign, "monitoring:raters"),
    }


def cost_of(campaign: Campaign, n_places: int) -> dict[str, Any]:
    """Return what the reward comes to per hour (None if not known) and, with all HITs built, in all."""
    hourly = None
    if campaign.minutes_per_hit:
        hourly = (campaign.reward * 60 / campaign.minutes_per_hit).quantize(Decimal("0.01"))
    return {"hourly": hourly, "n_places": n_places, "total": campaign.reward * n_places}
