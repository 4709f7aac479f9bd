"""What a campaign is, read from the database for its paper."""

from analysis.results.paper.facts import CampaignFacts, StatementFacts
from campaigns.contracts.protocol import Scope, Screen
from campaigns.models import Campaign
from campaigns.queries import contents_of


def get_facts(campaign: Campaign) -> CampaignFacts:
    """Return what a paper says of a campaign's design. Five queries."""
    contents, screen, rules = contents_of(campaign), Screen.from_json(campaign.screen), campaign.chat_rules
    turn = "reply of the chatbot" if campaign.is_live else campaign.format_of_outputs.turn.lower()
    platform = campaign.crowd_platform
    known = platform.for_known_raters()
    return CampaignFacts(
        name=campaign.name,
        n_systems=contents.n_systems,
        n_sources=contents.n_sources,
        n_outputs=contents.n_outputs,
        n_hits=contents.n_hits,
        n_ordinary=campaign.n_ordinary,
        n_copies=(campaign.n_degraded, campaign.n_repeat, campaign.n_reference),
        workers_per_hit=campaign.workers_per_hit,
        hits_per_worker=campaign.hits_per_worker,
        has_given_hits=campaign.has_given_hits,
        criteria=[
            StatementFacts(
                key=str(row.pk),
                name=row.name,
                statement=row.statement,
                is_negative=row.is_negative,
                answered_by=row.response_kind.describe(row.settings)
                + (f" for each {turn}" if row.scope == Scope.TURN else ""),
                instrument=row.response_kind.instrument,
                elicitation=row.response_kind.elicitation,
                n_values=row.response_kind.values(row.settings)[0],
                values=row.response_kind.values(row.settings)[1],
            )
            for row in campaign.criteria.all()
        ],
        instructions=campaign.instructions,
        has_consent=bool(campaign.consent_version),
        contact=campaign.contact,
        is_accessible=campaign.is_accessible,
        shown=[field.label for field in screen.fields if field.is_shown],
        output_label=screen.output_label,
        is_live=campaign.is_live,
        min_inputs=rules.min_inputs,
        opening=rules.opening,
        platform=platform.title if platform.has_account else "",
        is_invited=bool(known) and known.items() <= campaign.platform_settings.items(),
        reward=campaign.reward,
        currency=campaign.currency,
        minutes_per_hit=campaign.minutes_per_hit,
        hourly_reward=campaign.hourly_reward,
        lease_minutes=campaign.lease_minutes,
        started=campaign.launched_at.date() if campaign.launched_at else None,
        ended=campaign.closed_at.date() if campaign.closed_at else None,
    )
