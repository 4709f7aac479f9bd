"""Designs for raters and their time, read from what a campaign holds. Callers have fetched it for its user already."""

from dataclasses import dataclass
from statistics import median

from campaigns.building.estimate import BuildEstimate
from campaigns.building.pace import count_turns, seconds_of_fields, seconds_of_output, seconds_to_chat, seconds_to_rate
from campaigns.building.proposals import Proposal, TestRules, certainty_of, propose_design
from campaigns.contracts.protocol import Scope, Screen
from campaigns.design.certainty import Certainty
from campaigns.design.composition import Layout
from campaigns.design.raters import SITUATIONS, Raters, RaterTime
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS
from campaigns.hit_queries import count_alike, read_build_inputs
from campaigns.models import Campaign, Output
from campaigns.protocols import get_protocol
from campaigns.queries import count_tested
from evalsite.lib.errors import DomainError

_SAMPLE, _MOST_MEASURED = 100, 500


@dataclass(frozen=True)
class Pace:
    """Seconds for one item; `n_measured` are the finished assignments that they were measured in, 0 for a guess."""

    seconds: int
    n_measured: int = 0


def pace_of(campaign: Campaign) -> Pace:
    """Return how long an item takes: measured in the campaign that this is a replication of, else by its content.

    Two queries, or three.
    """
    if campaign.replicates:
        # By the name of the relation: work on HITs belongs to an app that this one does not know.
        done = campaign.replicates.assignments.filter(state="finished", ended_at__isnull=False)
        rows = done.order_by("-ended_at").values_list("started_at", "ended_at", "n_items")[:_MOST_MEASURED]
        if seconds := [(ended - started).total_seconds() / n for started, ended, n in rows if ended and n]:
            return Pace(max(1, round(median(seconds))), len(seconds))
    scopes = list(campaign.criteria.values_list("scope", flat=True))
    n_criteria: float = len(scopes)
    if campaign.is_live:
        n_inputs = campaign.chat_rules.min_inputs
        n_asked = sum(n_inputs if scope == Scope.TURN else 1 for scope in scopes)
        return Pace(seconds_to_chat(n_inputs, n_asked))
    # Of one source the fields are read once in a HIT.
    n_alike = get_protocol(campaign.protocol).mix.size if campaign.layout == Layout.BY_SOURCE else 1
    screen = Screen.from_json(campaign.screen)
    outputs = Output.objects.filter(source__campaign=campaign).order_by("pk").values_list("text", "source__fields")
    sample = list(outputs[:_SAMPLE])
    of_sources = [seconds_of_fields(screen, fields) for _, fields in sample]
    reading = seconds_to_rate(of_sources, 0) if any(of_sources) else 0
    n_of_turns = scopes.count(Scope.TURN)
    if n_of_turns:
        n_turns = sum(count_turns(screen, text) for text, _ in sample) / max(len(sample), 1)
        n_criteria += n_of_turns * (n_turns - 1)
    of_outputs = seconds_to_rate([seconds_of_output(screen, text) for text, _ in sample], n_criteria)
    return Pace(max(1, round(of_outputs + reading / n_alike)))


def rules_of(campaign: Campaign) -> TestRules:
    """Return the worker test of a campaign, or its protocol's where it has none that can be used. Two queries."""
    preset, test = get_protocol(campaign.protocol), campaign.worker_test
    if test == NO_TEST or (campaign.is_live and WORKER_TESTS[test].is_paired):
        test = preset.worker_test
    return TestRules(test, campaign.alpha, count_tested(campaign), count_alike(campaign))


def get_proposal(campaign: Campaign, *, raters: Raters, time: RaterTime) -> Proposal:
    """Return the design for these raters; raise DomainError, with the numbers, if none fits. Four queries.

    Raises `given_hits` if the HITs came with a file.
    """
    if campaign.has_given_hits:
        raise DomainError("given_hits", "These HITs came with the file and stay as they are.")
    preset = get_protocol(campaign.protocol).mix
    inputs = read_build_inputs(campaign, with_texts=False, mix=preset)
    return propose_design(inputs, raters=raters, time=time, preset=preset, test=rules_of(campaign))


def expected_of(campaign: Campaign, estimate: BuildEstimate) -> Certainty | None:
    """Return the certainty of the design as it is, as far as it says how many workers there will be. No query.

    Without a limit of HITs per worker each is taken to do one.
    """
    share = SITUATIONS[Raters.CROWD].share_counted if campaign.worker_test != NO_TEST else 1.0
    n_workers = estimate.n_assignments / (campaign.hits_per_worker or 1)
    return certainty_of(estimate, campaign.workers_per_hit, n_workers, share, is_live=campaign.is_live)[1]
