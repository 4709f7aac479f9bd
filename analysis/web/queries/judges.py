"""Reading judges: which outputs they judge, what they are asked, what has come of it.

Access is checked with the campaign.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256
from json import dumps
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, DecimalField, Max, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce, Round
from django.shortcuts import get_object_or_404

from analysis.metrics.judges.costs import BYTES_PER_TOKEN, Estimate, Prices, estimate
from analysis.metrics.judges.prompt import Statement, make_prompt
from analysis.models import Judge, JudgeAnswer
from campaigns.blocks import blocks_of
from campaigns.connectors import find_connector, list_connectors
from campaigns.contracts.connector import Connector
from campaigns.contracts.format import Block
from campaigns.contracts.protocol import Screen
from campaigns.design.composition import Kind
from campaigns.formats import get_file_format, has_file_format
from campaigns.models import Campaign, Chatbot, Criterion, HitItem, Membership, Output
from campaigns.queries import Role
from evalsite.accounts.models import User
from evalsite.lib.errors import DomainError

MOST_UNPARSABLE = 2
"""Answers to one output that cannot be read, after which it stays without a score."""
_MOST_SAMPLED = 500
_State = JudgeAnswer.State


def list_judge_connectors() -> list[type[Connector]]:
    """Return the connectors that can ask a judge."""
    return [each for each in list_connectors() if each.judge_settings is not None]


def find_judge_connector(slug: str) -> type[Connector] | None:
    """Return the connector of this name, if it can ask a judge."""
    found = find_connector(slug)
    return found if found and found.judge_settings is not None else None


@dataclass(frozen=True)
class KnownModel:
    """A chatbot or judge that a user has set up before, whose settings and keys a new judge may have.

    `secrets` are encrypted.
    """

    value: str
    label: str
    connector: str
    settings: Mapping[str, Any]
    secrets: str = field(repr=False)


def list_known_models(user: User, connector: str) -> list[KnownModel]:
    """Return the chatbots and judges with this connector of all campaigns that a user may edit. Two queries."""
    may = {"user": user, "role__in": [Role.EDITOR, Role.OWNER]}
    campaigns = Membership.objects.filter(**may).values("campaign")
    chatbots = Chatbot.objects.filter(connector=connector, system__campaign__in=campaigns, system__is_degraded=False)
    judges = Judge.objects.filter(connector=connector, campaign__in=campaigns)
    rows = [
        (f"chatbot:{each.pk}", each, each.system.campaign)
        for each in chatbots.select_related("system__campaign").order_by("-pk")
    ] + [
        (f"judge:{each.pk}", each, each.campaign) for each in judges.select_related("campaign").order_by("-created_at")
    ]
    return [
        KnownModel(value, f"{each} ({campaign})", each.connector, each.settings, each.secrets)
        for value, each, campaign in rows
    ]


def list_judges(campaign: Campaign) -> QuerySet[Judge]:
    """Return the judges of a campaign, the oldest first, with their jobs and what they have spent (`spent`)."""
    found = campaign.judges.select_related("job", "scores", "campaign").order_by("created_at", "pk")
    return found.annotate(spent=sum_of("answers__price"))


def sum_of(prices: str) -> Round:
    """Return the sum of prices in a query, 0 of none; SQLite adds them as floats, so they are rounded again."""
    zero = Value(Decimal(0), DecimalField(max_digits=16, decimal_places=6))
    return Round(Coalesce(Sum(prices), zero), precision=6)


def get_judge_of(campaign: Campaign, judge_id: UUID) -> Judge:
    """Return a judge of the campaign; raise Http404 for any other."""
    return get_object_or_404(list_judges(campaign), pk=judge_id)


def is_running(judge: Judge) -> bool:
    """Tell whether a job of the judge runs, or waits to."""
    return judge.job is not None and not judge.job.is_finished


def prices_of(judge: Judge) -> Prices:
    """Return what a judge's calls cost."""
    return Prices(judge.price_per_call, judge.price_in, judge.price_out)


def why_not_judged(campaign: Campaign) -> str:
    """Return why the outputs of a campaign cannot be judged; empty if they can."""
    if campaign.is_live:
        return "Workers chat with these systems, so there are no outputs that a judge could read."
    if not campaign.is_launched:
        return "Launch the campaign first: until then, what is rated may still change."
    return ""


def judged_outputs(campaign: Campaign) -> QuerySet[Output]:
    """Return the outputs that workers are given as ordinary items, each once; no quality-control item is among them."""
    ordinary = HitItem.objects.filter(hit__campaign=campaign, kind=Kind.ORDINARY)
    return Output.objects.filter(pk__in=ordinary.values("output"), system__is_degraded=False).order_by()


def shows_files(campaign: Campaign) -> bool:
    """Tell whether workers see more than texts, such as pictures. No query."""
    screen = Screen.from_json(campaign.screen)
    shown = [screen.output_format, *(each.format for each in screen.fields if each.is_shown)]
    return has_file_format(shown)


def hosts_of(judge: Judge) -> list[str]:
    """Return the hosts that a judge's texts are sent to; none for one that runs on this server."""
    connector = find_connector(judge.connector)
    return [host for _, host, _ in connector.hosts_of(judge.settings)] if connector else []


# --- What a judge is asked


class Prompt(NamedTuple):
    """The prompt for an output; `files`: what is attached, as blocks with a file."""

    text: str
    files: Sequence[Block] = ()


@dataclass(frozen=True)
class Prompter:
    """What is the same in all prompts of a judge. `criteria` are those that it judges, in order."""

    instructions: str
    screen: Screen
    criteria: Sequence[Criterion]
    n_bytes_around: int

    def prompt(self, fields: Mapping[str, str], text: str) -> Prompt:
        """Return the prompt for an output and the fields of its source."""
        statements = [Statement(each.statement, *each.ends) for each in self.criteria if each.ends]
        blocks = blocks_of(self.screen, fields, text)
        return Prompt(make_prompt(self.instructions, statements, blocks), [block for block in blocks if block.file])

    def n_bytes(self, prompt: Prompt) -> int:
        """Return the bytes of the request for a prompt, at most; a file counts as a prompt of as many tokens."""
        n_tokens = sum(get_file_format(each.format).n_tokens(each.file) for each in prompt.files if each.file)
        return len(prompt.text.encode("utf-8", "surrogatepass")) + self.n_bytes_around + BYTES_PER_TOKEN * n_tokens


def list_judged_criteria(campaign: Campaign) -> list[Criterion]:
    """Return the criteria that a judge can rate: those whose scores lie between two ends. One query."""
    return [criterion for criterion in campaign.criteria.all() if criterion.ends]


def prompter_of(judge: Judge) -> Prompter:
    """Return what makes the prompts of a judge. One query; raises DomainError `no_criteria` if none of them is left."""
    campaign = judge.campaign
    criteria = [each for each in list_judged_criteria(campaign) if each.pk in judge.criteria]
    if not criteria:
        raise DomainError("no_criteria", "The criteria of this judge are not there any more. Add another judge.")
    around = len(dumps(judge.settings).encode())
    return Prompter(campaign.instructions, Screen.from_json(campaign.screen), criteria, around)


@dataclass(frozen=True)
class Pending:
    """An output that a judge is still to be asked for: how often it was, and how many answers could not be read."""

    output_id: int
    n_asked: int = 0
    n_unparsable: int = 0


def list_pending(judge: Judge) -> list[Pending]:
    """Return the outputs without a score, but for those whose answers could not be read twice. Two queries.

    All outputs of one source follow one another, and sources are ordered by a hash of their keys, so that a judge that
    is stopped has judged about as many outputs of one system as of another.
    """
    answers = judge.answers.order_by().values_list("output")
    asked = {
        output: (n, n_unparsable, n_scored)
        for output, n, n_unparsable, n_scored in answers.annotate(
            n=Max("attempt"),
            n_unparsable=Count("pk", filter=Q(state=_State.UNPARSABLE)),
            n_scored=Count("pk", filter=Q(state=_State.SCORED)),
        )
    }
    found = []
    for output, source in judged_outputs(judge.campaign).values_list("pk", "source_id"):
        n_asked, n_unparsable, n_scored = asked.get(output, (0, 0, 0))
        if not n_scored and n_unparsable < MOST_UNPARSABLE:
            place = sha256(f"{judge.pk}-{source}".encode()).digest()
            found.append((place, output, Pending(output, n_asked, n_unparsable)))
    return [pending for _, _, pending in sorted(found, key=lambda row: row[:2])]


@dataclass(frozen=True)
class JudgeState:
    """How far a judge is.

    Outputs: all, those with a score, those whose answers cannot be read, those still to be judged. `n_calls`: made so
    far, the failed ones too; `spent`: what they cost, or may have cost where that is not known; `is_spent_known`:
    whether the server said of each how many tokens it took. `estimate`: of the calls that are left. `n_criteria`: how
    many each call is about. `prompt`: that of the first output; empty if there is none.
    """

    n_outputs: int
    n_scored: int
    n_missing: int
    n_left: int
    n_calls: int
    spent: Decimal
    is_spent_known: bool
    estimate: Estimate
    n_criteria: int
    prompt: str


def state_of(judge: Judge) -> JudgeState:
    """Return how far a judge is, what the rest will take, and an example of its prompts. Eight queries."""
    prompter, pending, outputs = prompter_of(judge), list_pending(judge), judged_outputs(judge.campaign)
    rows = judge.answers.order_by()
    counted = rows.aggregate(
        n=Count("pk"),
        n_scored=Count("output", filter=Q(state=_State.SCORED), distinct=True),
        n_unknown=Count("pk", filter=Q(is_price_known=False)),
        spent=sum_of("price"),
    )
    unreadable = rows.filter(state=_State.UNPARSABLE).values("output").annotate(n=Count("pk"))
    n_missing = unreadable.filter(n__gte=MOST_UNPARSABLE).exclude(
        output__in=rows.filter(state=_State.SCORED).values("output")
    )
    sampled = pending[:: max(-(-len(pending) // _MOST_SAMPLED), 1)]
    texts = texts_of([each.output_id for each in sampled])
    sizes = [prompter.n_bytes(prompter.prompt(*each)) for each in texts.values()]
    first = outputs.order_by("pk").values_list("source__fields", "text").first()
    return JudgeState(
        n_outputs=outputs.count(),
        n_scored=counted["n_scored"],
        n_missing=n_missing.count(),
        n_left=len(pending),
        n_calls=counted["n"],
        spent=counted["spent"],
        is_spent_known=not counted["n_unknown"],
        estimate=estimate(
            len(pending),
            sizes,
            prices_of(judge),
            n_statements=len(prompter.criteria),
            max_tokens=judge.max_tokens,
        ),
        n_criteria=len(prompter.criteria),
        prompt=prompter.prompt(*first).text if first else "",
    )


def texts_of(output_ids: Iterable[int]) -> dict[int, tuple[Mapping[str, str], str]]:
    """Return the fields of the source and the text of each output, by its key. One query."""
    rows = Output.objects.filter(pk__in=list(output_ids)).order_by().values_list("pk", "source__fields", "text")
    return {pk: (fields, text) for pk, fields, text in rows}


# --- What came of it


def list_answers(judge: Judge) -> QuerySet[JudgeAnswer]:
    """Return the calls of a judge in their order, with system and source of the output."""
    return judge.answers.select_related("output__system", "output__source").order_by("pk")


ANSWER_COLUMNS = (
    *("system", "source", "attempt", "state", "message", "tokens_in", "tokens_out", "price", "price_known"),
    *("asked_at", "answered_at", "prompt_sha256", "answer"),
)


def answer_columns(judge: Judge) -> list[str]:
    """Return the columns of `answer_rows`: those of each criterion, called by its name, come last. One query."""
    return [*ANSWER_COLUMNS, *(f"score: {each.name}" for each in prompter_of(judge).criteria)]


def answer_rows(judge: Judge) -> Iterator[Sequence[Any]]:
    """Yield a row for each call, with the ratings as they were given (not turned round where agreement is bad)."""
    criteria = [str(each.pk) for each in prompter_of(judge).criteria]
    for each in list_answers(judge).iterator(chunk_size=1000):
        scores = each.scores or {}
        yield (
            *(each.output.system.name, each.output.source.name, each.attempt, each.state, each.message),
            *(each.n_tokens_in, each.n_tokens_out, each.price, "yes" if each.is_price_known else "no"),
            *(each.asked_at.isoformat(), each.answered_at.isoformat() if each.answered_at else ""),
            *(each.prompt_sha256, each.text, *(scores.get(key) for key in criteria)),
        )


def score_rows(judge: Judge) -> list[tuple[str, str, str, float]]:
    """Return what a judge says as scores of metrics: of each criterion, higher is better, and their mean if several.

    Rows are (metric, system, source, score), by metric, then as the answers came. Two queries.
    """
    criteria = prompter_of(judge).criteria
    found: dict[str, list[tuple[str, str, str, float]]] = {name: [] for name in metric_names(judge.name, criteria)}
    names = list(found)
    for each in list_answers(judge).filter(state=_State.SCORED).iterator(chunk_size=1000):
        given = [each.scores[str(criterion.pk)] for criterion in criteria]
        scores = [100 - score if c.is_negative else score for c, score in zip(criteria, given, strict=True)]
        if len(scores) > 1:
            scores.append(sum(scores) / len(scores))
        for name, score in zip(names, scores, strict=True):
            found[name].append((name, each.output.system.name, each.output.source.name, score))
    return [row for rows in found.values() for row in rows]


def metric_names(name: str, criteria: Sequence[Criterion]) -> list[str]:
    """Return what the metrics of a judge are called: one for each criterion and, if there are several, their mean."""
    if len(criteria) == 1:
        return [name]
    named = [f"{name}: {each.name}" for each in criteria]
    mean = f"{name}: mean"
    return [*named, mean if mean not in named else f"{name}: mean of criteria"]
