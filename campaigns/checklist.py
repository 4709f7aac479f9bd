"""What a campaign still lacks before it can be launched."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.db.models.functions import Length

from campaigns.connectors import get_connector
from campaigns.contracts.chat import ChatRules
from campaigns.contracts.format import FileFormat
from campaigns.contracts.protocol import Scope, find_blanks
from campaigns.design.paging import PageKind
from campaigns.design.stopping import StoppingRule
from campaigns.design.worker_test import NO_TEST, WORKER_TESTS, Compared, smallest_p_value
from campaigns.hit_queries import compared_in_hit
from campaigns.methods import methods, options_for, reads, why_undecided
from campaigns.models import Campaign, Chatbot, Criterion, Output
from campaigns.protocols import get_protocol
from campaigns.queries import Contents, contents_of, find_tested, list_chatbots, proposed_settings
from evalsite.lib.addresses import AllowList
from evalsite.lib.env import ask_to_set
from evalsite.lib.errors import DomainError
from evalsite.lib.words import counted

_MOST_NAMES = 5

_MOST_TRIED = 1000
_MOST_OF_REPLIES = 300
_LOOKED_AT = 100

State = Literal["ok", "todo", "error", "optional"]


@dataclass(frozen=True)
class Step:
    """One thing to be set.

    `todo`: the launch waits for it; `error`: as it is, the campaign has no results, so the launch needs a
    confirmation; `optional`: it may stay as it is.
    """

    key: str
    title: str
    page: str  # name of its address
    state: State
    text: str


def checklist(campaign: Campaign, contents: Contents | None = None) -> list[Step]:
    """Return the steps of setting a campaign up, in the order of the pages."""
    contents = contents or contents_of(campaign)
    criteria = list(campaign.criteria.all())
    steps = [
        _name(campaign),
        *(_live(campaign) if campaign.is_live else (_outputs(contents), _human(campaign, contents))),
        _criteria(campaign, criteria),
        _instructions(campaign),
        _study(campaign),
        _hits(campaign, contents, len(find_tested(campaign, criteria))),
        _payment(campaign),
        _stopping(campaign, criteria),
        _platform(campaign, contents),
    ]
    return [step for step in steps if step]


def missing(steps: list[Step]) -> list[Step]:
    """Return the steps that the launch waits for."""
    return [step for step in steps if step.state == "todo"]


def to_confirm(steps: list[Step]) -> list[Step]:
    """Return the steps with which a campaign is only launched on confirmation."""
    return [step for step in steps if step.state == "error"]


def _name(campaign: Campaign) -> Step:
    if campaign.name == get_protocol(campaign.protocol).title:
        return Step(
            "name",
            "Name",
            "campaigns:settings",
            "optional",
            "The campaign has the name of its protocol. Give it a name of its own.",
        )
    return Step("name", "Name", "campaigns:settings", "ok", campaign.name)


def _outputs(contents: Contents) -> Step:
    outputs, systems = counted(contents.n_outputs, "output"), counted(contents.n_systems, "system")
    text = f"{outputs} of {systems}, for {counted(contents.n_sources, 'source')}."
    if not contents.n_outputs:
        return Step("outputs", "Outputs", "campaigns:data", "todo", "Upload sources and the systems' outputs.")
    return Step("outputs", "Outputs", "campaigns:data", "ok", text)


def _human(campaign: Campaign, contents: Contents) -> Step | None:
    if not campaign.has_anchor or campaign.has_given_hits:
        return None
    human = campaign.systems.filter(is_human=True).first() if contents.n_systems else None
    if human:
        return Step("human", "Human system", "campaigns:systems", "ok", human.name)
    text = "Each HIT holds the human system, its degraded copy and its repeat: mark which system it is."
    return Step("human", "Human system", "campaigns:systems", "todo", text)


def _live(campaign: Campaign) -> list[Step | None]:
    """Return the steps of a campaign with live chats. One query."""
    chatbots = list(list_chatbots(campaign))
    ordinary = [chatbot for chatbot in chatbots if not chatbot.system.is_degraded]
    wanted = chatbots if campaign.n_degraded else ordinary
    return [
        _chatbots(campaign, ordinary),
        _degraded(campaign, has_degraded=len(ordinary) < len(chatbots)),
        _hosts(wanted),
        _tests(wanted),
        _chat(campaign, ordinary),
        _topic(campaign, ordinary),
    ]


def count_families(chatbots: Sequence[Chatbot]) -> int:
    """Return how many families there are; a chatbot without one is one of its own."""
    names = [chatbot.system.family for chatbot in chatbots]
    return len(set(filter(None, names))) + names.count("")


def _chatbots(campaign: Campaign, ordinary: Sequence[Chatbot]) -> Step:
    if campaign.compares_chats:
        return _pairs(campaign, len(ordinary))
    n_families = count_families(ordinary)
    text = f"{counted(len(ordinary), 'chatbot')}, of {n_families} different families."
    if n_families < campaign.n_ordinary:
        more = "Add chatbots." if len(ordinary) == n_families else "Add chatbots, or change the family of some."
        text = f"A HIT needs {campaign.n_ordinary} of different families; there are {n_families}. {more}"
        return Step("chatbots", "Chatbots", "campaigns:chatbots", "todo", text)
    return Step("chatbots", "Chatbots", "campaigns:chatbots", "ok", text)


def _pairs(campaign: Campaign, n_chatbots: int) -> Step:
    n_pairs = n_chatbots * (n_chatbots - 1) // 2
    text = f"{counted(n_chatbots, 'chatbot')}, which make {counted(n_pairs, 'pair')}."
    if n_pairs < campaign.n_ordinary:
        text = f"A HIT needs {counted(campaign.n_ordinary, 'pair')} of chatbots; there are {n_pairs}. Add chatbots."
        return Step("chatbots", "Chatbots", "campaigns:chatbots", "todo", text)
    return Step("chatbots", "Chatbots", "campaigns:chatbots", "ok", text)


def _degraded(campaign: Campaign, *, has_degraded: bool) -> Step | None:
    if not campaign.n_degraded or has_degraded:
        return None
    text = "Each HIT needs it, because the worker test compares with it. Add it."
    return Step("degraded", "Degraded chatbot", "campaigns:chatbots", "todo", text)


def _hosts(chatbots: Sequence[Chatbot]) -> Step | None:
    """Return the step of chatbots that this site may not or cannot ask; None if there are none."""
    allowed = AllowList(settings.CHATBOT_HOSTS)
    problems, missing = [], []
    for chatbot in chatbots:
        try:
            hosts = get_connector(chatbot.connector).hosts_of(chatbot.settings)
        except DomainError:
            problems.append(f"{chatbot}: its connector “{chatbot.connector}” is not installed.")
            continue
        refused = sorted({(host, port) for _, host, port in hosts if allowed.reach_of(host, port) == "none"})
        problems += [f"{chatbot}: the host “{host}” is not allowed." for host, _ in refused]
        missing += refused
    advice = f" {ask_to_set('CHATBOT_HOSTS', allowed.with_hosts(missing))}" if missing else ""
    return Step("hosts", "Connections", "campaigns:chatbots", "todo", _some(problems) + advice) if problems else None


def _tests(chatbots: Sequence[Chatbot]) -> Step | None:
    failing = [str(each) for each in chatbots if each.tested and not each.tested["ok"]]
    untested = [str(each) for each in chatbots if not each.tested or each.tested.get("is_outdated")]
    untested = [name for name in untested if name not in failing]
    words = [f"Failed: {_some(failing, ', ')}."] if failing else []
    words += [f"Not tested with these settings: {_some(untested, ', ')}."] if untested else []
    if not chatbots:
        return None
    if words:
        return Step("tests", "Tests", "campaigns:chatbots", "optional", " ".join(words))
    return Step("tests", "Tests", "campaigns:chatbots", "ok", "Every chatbot has answered.")


def _some(texts: Sequence[str], separator: str = " ") -> str:
    n_more = len(texts) - _MOST_NAMES
    return separator.join([*texts[:_MOST_NAMES], *([f"and {n_more} more"] if n_more > 0 else [])])


def _chat(campaign: Campaign, ordinary: Sequence[Chatbot]) -> Step:
    rules = campaign.chat_rules
    n_inputs = f"at least {counted(rules.min_inputs, 'message')} a chat"
    if rules.opening == "free":
        text = f"On a topic of the worker's, {n_inputs}. {topic_words(rules)}"
        return Step("chat", "Chat rules", "campaigns:chat", "ok", text)
    if not any(chatbot.persona for chatbot in ordinary):
        text = "Chats begin with a statement of a persona, and no chatbot has one. Add statements to a chatbot."
        return Step("chat", "Chat rules", "campaigns:chatbots", "todo", text)
    text = f"From a statement of the chatbot's persona, {n_inputs}. {topic_words(rules)}"
    return Step("chat", "Chat rules", "campaigns:chat", "ok", text)


def topic_words(rules: ChatRules) -> str:
    """Return what chat rules say of the topic, as a sentence."""
    if rules.sends_topic:
        return "The current topic is sent to the chatbots."
    return "The topic is not sent to the chatbots."


def _topic(campaign: Campaign, ordinary: Sequence[Chatbot]) -> Step | None:
    """Return the step of chatbots whose settings and the chat rules differ about the topic; None if there are none."""
    is_sent = campaign.chat_rules.sends_topic
    odd = [chatbot for chatbot in ordinary if _has_place_for_topic(chatbot) == (not is_sent)]
    if not odd:
        return None
    names = _some([str(chatbot) for chatbot in odd], ", ")
    placeholder = " or ".join(sorted({get_connector(chatbot.connector).topic_placeholder for chatbot in odd}))
    if is_sent:
        text = f"The chat rules send the topic, but the settings of {names} have no place for it ({placeholder})."
        return Step("topic", "Topic", "campaigns:chatbots", "optional", text)
    text = (
        f"The settings of {names} have {placeholder}, and the chat rules do not send the topic: its place would stay "
        f"empty. Remove {placeholder} from the settings, or have the chat rules send the topic."
    )
    return Step("topic", "Topic", "campaigns:chat", "todo", text)


def _has_place_for_topic(chatbot: Chatbot) -> bool | None:
    """Return whether a chatbot's settings have a place for the topic; None if they need none, or are not known."""
    try:
        connector = get_connector(chatbot.connector)
    except DomainError:
        return None
    return connector.takes_topic(chatbot.settings) if connector.topic_placeholder else None


def _criteria(campaign: Campaign, criteria: list[Criterion]) -> Step:
    is_tested = [each in find_tested(campaign, criteria) for each in criteria]
    if not criteria:
        return Step("criteria", "Criteria", "campaigns:criteria", "todo", "Add at least one statement to rate.")
    if problem := next(filter(None, (_unfit(campaign, each) for each in criteria)), "") or _long(campaign, criteria):
        return Step("criteria", "Criteria", "campaigns:criteria", "todo", problem)
    method = methods[campaign.method]
    try:
        options_for(
            method, campaign.method_options, [each for each in criteria if each.scope in campaign.scopes_of_systems]
        )
    except DomainError as error:
        text = f"The options of the response method do not fit them. {error.message}"
        return Step("criteria", "Criteria", "campaigns:settings", "error", text)
    if campaign.worker_test == NO_TEST and not any(reads(method, each) for each in criteria):
        text = (
            f"{method.title}, the response method, cannot read the answers on any of them: they are among the "
            "downloads, and there are no results. Choose another method in the settings if one fits."
        )
        return Step("criteria", "Criteria", "campaigns:criteria", "optional", text)
    if campaign.worker_test == NO_TEST:
        text = f"Workers rate {counted(len(is_tested), 'statement')}. There is no worker test: every worker counts."
        return Step("criteria", "Criteria", "campaigns:criteria", "ok", text)
    if not any(is_tested):
        text = (
            "The worker test uses none. Choose at least one with scores that careful workers rate lower when degraded, "
            "or with marked errors, or no worker test in the settings."
        )
        return Step("criteria", "Criteria", "campaigns:criteria", "todo", text)
    n_used, n = sum(is_tested), len(is_tested)
    used = f"{n_used} of them" if n_used < n else "it" if n == 1 else "all of them"
    text = f"Workers rate {counted(n, 'statement')}. The worker test uses {used}."
    return Step("criteria", "Criteria", "campaigns:criteria", "ok", text)


def _unfit(campaign: Campaign, criterion: Criterion) -> str:
    """Return why a criterion cannot be asked on the campaign's pages, "" if it can."""
    kind, format = criterion.response_kind, campaign.format_of_outputs
    if criterion.scope == Scope.TURN and not (campaign.is_live or format.turn):
        return (
            f"“{criterion.name}” is asked of each reply or step, and there are none: outputs are texts. Have it asked "
            "otherwise, or choose another format under Layout."
        )
    if criterion.scope == Scope.TURN and (campaign.compares_chats or campaign.page_kind != PageKind.OUTPUT):
        return f"“{criterion.name}” is asked of each reply, and a page shows several outputs. Have it asked otherwise."
    if kind.needs_turns and (campaign.page_kind != PageKind.OUTPUT or campaign.is_live or not format.turn):
        return f"“{criterion.name}” needs pages with one output that has replies or steps. Have it answered otherwise."
    if kind.marks_text and issubclass(format, FileFormat):
        return f"“{criterion.name}” is about the text of outputs, and these are pictures. Have it answered otherwise."
    if (kind.marks_text or kind.is_of_text) and not kind.needs_turns and not _has_texts(campaign):
        return f"“{criterion.name}” is about a text, and outputs have several. Have it answered otherwise."
    if kind.needs_turns and criterion.scope == Scope.TURN:
        return f"“{criterion.name}” is about all replies or steps of an output: have it asked of each output."
    if kind.is_of_text and campaign.is_live:
        return f"“{criterion.name}” is about the text of an output, and chats have none. Have it answered otherwise."
    if kind.is_of_text and criterion.scope != Scope.OUTPUT and campaign.page_kind != PageKind.OUTPUT:
        return f"“{criterion.name}” is about the text of one output: have it asked of each output."
    if not (compared := kind.compares):
        return ""
    fewest, most = compared
    n = campaign.outputs_per_page if campaign.page_kind == PageKind.COMPARISON else 1
    if criterion.scope != Scope.PAGE:
        return f"“{criterion.name}” compares outputs: have it asked of all that is shown at once."
    if not fewest <= n <= most:
        wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
        return f"“{criterion.name}” compares {wanted} outputs, and a page shows {n}. Change that under HITs."
    return ""


def _has_texts(campaign: Campaign) -> bool:
    """Return whether outputs are texts, or a dialogue written as one: what is kept of others is not what is read."""
    format = campaign.format_of_outputs
    return format.is_one_text or format.is_drawable or campaign.is_live


def _long(campaign: Campaign, criteria: Sequence[Criterion]) -> str:
    """Return that the longest chat has more questions about its replies than a form should, "" if it has not.

    Where outputs are rated, the longest of them are looked at. One query, if anything is asked of replies.
    """
    n_asked = sum(each.scope == Scope.TURN for each in criteria)
    if n_asked and not campaign.is_live:
        return _long_output(campaign, n_asked)
    most = campaign.chat_rules.max_inputs
    if n_asked * most <= _MOST_OF_REPLIES:
        return ""
    return (
        f"A chat may have {counted(most, 'message')}, and each reply {counted(n_asked, 'question')}: "
        f"{n_asked * most:,} on one page. At most {_MOST_OF_REPLIES} can be: have the chat rules allow "
        f"{_MOST_OF_REPLIES // n_asked} messages or fewer, or ask less of each reply."
    )


def _long_output(campaign: Campaign, n_asked: int) -> str:
    format = campaign.format_of_outputs
    outputs = Output.objects.filter(source__campaign=campaign).order_by(Length("text").desc()).values_list("text")
    most = max((len(format.turns(text)) for (text,) in outputs[:_LOOKED_AT]), default=0)
    if n_asked * most <= _MOST_OF_REPLIES:
        return ""
    return (
        f"An output has {counted(most, format.turn.lower())}, and each {counted(n_asked, 'question')}: "
        f"{n_asked * most:,} on one page. At most {_MOST_OF_REPLIES} can be: leave out outputs with more than "
        f"{_MOST_OF_REPLIES // n_asked}, or ask less of each."
    )


def _stopping(campaign: Campaign, criteria: list[Criterion]) -> Step | None:
    """Return the step of a campaign that looks at its ratings while they come and has none that decide anything."""
    is_watched = campaign.stopping_rule != StoppingRule.OFF or campaign.is_adaptive
    why = why_undecided(methods[campaign.method], campaign.method_options, criteria) if is_watched else ""
    if not why:
        return None
    text = (
        f"The campaign is to close by itself, or to give out HITs of undecided pairs first. {why} Turn that off in the "
        "settings."
    )
    return Step("stopping", "When it closes", "campaigns:settings", "todo", text)


def blanks_of(campaign: Campaign) -> list[str]:
    """Return what is still to be filled in, in the texts that workers read before they begin."""
    return find_blanks(f"{campaign.instructions}\n{campaign.consent}")


def _instructions(campaign: Campaign) -> Step:
    if not campaign.instructions.strip():
        text = "Write what workers have to do. The protocol has a text to begin with."
        return Step("instructions", "Instructions", "campaigns:instructions", "todo", text)
    if blanks := blanks_of(campaign):
        return Step("instructions", "Instructions", "campaigns:instructions", "todo", f"Fill in {', '.join(blanks)}.")
    n_inputs = campaign.chat_rules.min_inputs if campaign.is_live else None
    numbers = {int(number) for number in re.findall(r"\d{1,9}", campaign.instructions)}
    if numbers and n_inputs and n_inputs not in numbers:
        text = f"A chat needs {counted(n_inputs, 'message')}, and the instructions name another number."
        return Step("instructions", "Instructions", "campaigns:instructions", "optional", text)
    text = f"Workers {'agree to a consent text' if campaign.consent.strip() else 'are asked for no consent'}."
    return Step("instructions", "Instructions", "campaigns:instructions", "ok", text)


def _study(campaign: Campaign) -> Step:
    given = {"study name": campaign.study_name, "contact": campaign.contact}
    if lacking := [f"no {name}" for name, value in given.items() if not value]:
        text = f"Workers see {' and '.join(lacking)}."
        return Step("study", "Study and contact", "campaigns:instructions", "optional", text)
    return Step("study", "Study and contact", "campaigns:instructions", "ok", ", ".join(given.values()))


def _hits(campaign: Campaign, contents: Contents, n_tested: int) -> Step:
    if not contents.n_hits:
        return Step("hits", "HITs", "campaigns:design", "todo", "Set their design and build them.")
    if campaign.status == Campaign.Status.DRAFT:
        what = "Chatbots" if campaign.is_live else "Outputs, systems"
        text = f"{what} or the design have changed since they were built. Build them again."
        return Step("hits", "HITs", "campaigns:design", "todo", text)
    passing = passing_of(campaign, n_hits=contents.n_hits, n_tested=n_tested)
    if passing.problem and n_tested:
        return Step("hits", "HITs", "campaigns:design", "error", passing.problem)
    if passing.n_hits > 1:
        text = (
            f"A worker needs {passing.n_hits} HITs or more to pass the worker test; workers who do fewer do not count. "
            "If you expect such workers, add degraded items."
        )
        return Step("hits", "HITs", "campaigns:design", "optional", text)
    items = counted(campaign.hit_size, "chat" if campaign.is_live else "item")
    text = f"{counted(contents.n_hits, 'HIT')} of {items}, for {counted(campaign.workers_per_hit, 'worker')} each."
    return Step("hits", "HITs", "campaigns:design", "ok", text)


@dataclass(frozen=True)
class Passing:
    """How many HITs a worker needs to pass the worker test at best, 0 for any; `problem`: why none can, else ""."""

    n_hits: int
    problem: str = ""


def passing_of(campaign: Campaign, *, n_hits: int, n_tested: int) -> Passing:
    """Return whether a worker can pass the worker test, with so many HITs and tested criteria. One query at most."""
    if campaign.worker_test == NO_TEST:
        return Passing(0)
    compared = compared_in_hit(campaign).times(n_tested)
    most = max(1, min(campaign.hits_per_worker or n_hits, n_hits))
    for n in range(1, min(most, _MOST_TRIED) + 1):
        if smallest_p_value(campaign.worker_test, compared.times(n)) < campaign.alpha:
            return Passing(n)
    return Passing(0, _why_nobody(campaign, compared, most))


def _why_nobody(campaign: Campaign, compared: Compared, most: int) -> str:
    """Return why no worker can pass, and what to do."""
    way_out = "or choose no worker test in the settings: every worker counts"
    item = "degraded chatbot" if campaign.is_live else "degraded item"
    if not compared.n_degraded:
        return (
            f"A HIT has no {item}, so no worker can pass the worker test and no rating would count. Add "
            f"{'it' if campaign.is_live else 'degraded items'}, {way_out}."
        )
    if campaign.is_live and not compared.n_pairs and WORKER_TESTS[campaign.worker_test].is_paired:
        return (
            "The degraded chatbot has no twin for a paired worker test, so no worker can pass it and no rating would "
            f"count. Choose the unpaired test in the settings, {way_out.removeprefix('or ')}."
        )
    p = smallest_p_value(campaign.worker_test, compared.times(most))
    hits = "one HIT" if most == 1 else f"all {most:,} HITs that they may do"
    return (
        f"The smallest p that a worker can reach with {hits} is {p:.2g}, not below α = {campaign.alpha:g}. So no "
        "worker can pass the worker test and no rating would count. "
        f"{'L' if campaign.is_live else 'Add degraded items, l'}et workers do more HITs, {way_out}."
    )


def _payment(campaign: Campaign) -> Step:
    if not campaign.reward:
        return Step(
            "payment", "Payment", "campaigns:payment", "optional", "There is no reward: workers are unpaid volunteers."
        )
    if not campaign.minutes_per_hit:
        text = "Set how many minutes a HIT takes, to see the reward per hour."
        return Step("payment", "Payment", "campaigns:payment", "optional", text)
    return Step(
        "payment", "Payment", "campaigns:payment", "ok", f"The reward is {campaign.reward} {campaign.currency} per HIT."
    )


def _platform(campaign: Campaign, contents: Contents) -> Step:
    platform = campaign.crowd_platform
    if platform.has_account:
        return Step("platform", platform.title, "crowd:platform", "ok", "Publish HITs there once all steps are done.")
    proposed = proposed_settings(campaign, contents)
    settings = {**campaign.platform_settings, **proposed}
    remark = platform.remark(settings) if contents.n_hits else ""  # before, nothing could be proposed
    note = "The limit is proposed: change it as you like." if proposed else remark
    text = f"{platform.describe(settings)} {note}".strip()
    return Step("platform", platform.title, "crowd:platform", "optional" if remark else "ok", text)
