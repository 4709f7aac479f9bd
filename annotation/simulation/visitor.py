"""One simulated worker's visits: opens the pages, reads their forms and sends them, as a browser would, and chats.

All that they do they do over HTTP. They survive a server that goes away: whatever was not answered, they open the page
again and go on from there, as somebody would who reloads.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import urljoin, urlsplit

from django.urls import resolve

from annotation.pages.contents import ANSWER
from annotation.pages.questions import OF_PAGE, AnswerKey, asked_on
from annotation.queries import ShownPage, criteria_of, get_assignment, pages_of, replies_to_rate
from annotation.simulation.crowd import ANSWERING, Item, SimulatedRating, SimulatedWorker
from annotation.simulation.inputs import ChatPlan, plan_chat
from annotation.simulation.pages import Form, Page, read_page
from annotation.simulation.talk import Talk, VisitError
from campaigns.design.composition import Kind
from campaigns.design.seeds import generator
from campaigns.models import Campaign, Criterion, HitItem
from evalsite.lib.http import Client, RefusedError, RequestError, Response

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
# How often a worker finds the same page again before giving up.
PATIENCE_PAGES = 8


@dataclass(frozen=True)
class Task:
    """What the simulator knows of an assignment and no page shows: its items and pages by position, and its criteria.

    Before an item of a live campaign is rated, there is a chat of at least `min_inputs` inputs.
    """

    campaign: Campaign
    assignment_id: int
    items: Mapping[int, Item]
    pages: Mapping[int, ShownPage]
    criteria: Sequence[Criterion]
    min_inputs: int = 0


def look_up_task(path: str) -> Task:
    """Return the task whose page is at a path; raise DomainError `bad_token`. Four queries.

    In a live campaign each chat is a source of its own.
    """
    assignment = get_assignment(resolve(path).kwargs["token"])
    number, campaign = assignment.hit.number, assignment.campaign
    rows = HitItem.objects.filter(hit=assignment.hit_id).values_list(
        "position", "output__source__name", "output__system__name", "kind"
    )
    items = {
        position: Item(
            number,
            position,
            f"{source} {number}.{position}" if campaign.is_live else source or "",
            system or "",
            Kind(kind),
        )
        for position, source, system, kind in rows
    }
    min_inputs = campaign.chat_rules.min_inputs if campaign.is_live else 0
    return Task(campaign, assignment.pk, items, pages_of(assignment), criteria_of(campaign), min_inputs)


def answers_to(
    worker: SimulatedWorker, task: Task, position: int
) -> tuple[list[SimulatedRating], dict[AnswerKey, str | list[str]]]:
    """Return how a worker judges each output of the page at a position, and what they answer, as a form sends it."""
    page = task.pages[position]
    rated = [worker.rate(task.items[item.position]) for item in page.items]
    rng = generator(worker.crowd.seed, ANSWERING, worker.index, task.items[position].hit, position)
    order = {criterion.pk: place for place, criterion in enumerate(task.criteria)}
    answers: dict[AnswerKey, str | list[str]] = {}
    for each in asked_on(page, task.criteria, replies_to_rate(task.campaign, task.assignment_id, page, task.criteria)):
        of_outputs = rated if each.place == OF_PAGE else rated[each.place - 1 : each.place]
        levels = [one.scores[order[each.criterion.pk]] for one in of_outputs]
        if each.turn:
            levels = [worker.level_of_reply(level, rng) for level in levels]
        kind = each.criterion.response_kind
        answers[each.key] = kind.simulate(levels, each.criterion.settings, rng, each.subject)
    return rated, answers


@dataclass(frozen=True)
class Acknowledged:
    """Ratings that the server has answered for: they must be in the database, once.

    `scores` are positions on a slider, which other kinds of responses are made of.
    """

    assignment_id: int
    position: int
    scores: tuple[int, ...]


@dataclass(frozen=True)
class AcknowledgedTurn:
    """A turn of a chat that the server has answered or shown: it must be in the database, once."""

    assignment_id: int
    position: int
    number: int
    text: str

    @property
    def is_input(self) -> bool:
        """Whether the worker said it."""
        return self.number % 2 == 1


@dataclass
class Visitor:
    """A worker at work. After `work` the lists hold the results.

    `arrival` is the address of their link, path and query; after `max_hits` HITs
    they stop; they try again for `patience_s` when the server does not answer.
    """

    client: Client
    worker: SimulatedWorker
    arrival: str
    max_hits: int | None = None
    patience_s: float = 60.0
    on_rated: Callable[[], None] = lambda: None
    sleep: Callable[[float], None] = time.sleep

    acknowledged: list[Acknowledged] = field(default_factory=list)
    turns: list[AcknowledgedTurn] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    n_unanswered: int = 0
    n_requests: int = 0
    n_retries: int = 0
    has_left: bool = False
    farewell: str = ""

    _page: Page = field(init=False, default_factory=Page)
    _address: str = field(init=False, default="")
    _task: Task | None = field(init=False, default=None)
    _task_address: str = field(init=False, default="")

    def work(self) -> None:
        """Arrive, then chat and rate until there is no more to do; raise VisitError if they cannot go on."""
        self._open(self.arrival)
        n_idle = 0
        while True:
            before = self._mark()
            if not self._step():
                return
            if self._mark() != before:
                n_idle = 0
                continue
            n_idle += 1
            if n_idle == PATIENCE_PAGES:
                raise VisitError(f"{self._path}: the same page came {n_idle} times. It says: {self._page.message}")
            self.sleep(_pause(n_idle))

    def _mark(self) -> tuple[str, dict[str, str], str]:
        """Return what distinguishes one page of the way from another."""
        page = self._page
        form = page.item or page.feedback or page.topic or page.chat
        return self._address, form.hidden if form else {}, page.code

    @property
    def _path(self) -> str:
        return urlsplit(self._address).path

    def _step(self) -> bool:
        """Do what the page asks for; return False when there is nothing more to do."""
        page = self._page
        if page.item:
            return self._rate(page.item)
        if page.topic:
            return self._begin(page.topic)
        if page.chat:
            return self._talk(page.chat)
        if page.feedback:
            note = f"Simulated feedback on HIT {self._item(1).hit}." if self._is_talkative() else ""
            self._send(page.feedback, {"feedback": note})
            return True
        if page.code and page.code not in self.codes:
            self.codes.append(page.code)
        if self.max_hits is not None and len(self.codes) >= self.max_hits:
            return False
        if page.onward is None:
            self.farewell = page.message
            return False
        self._send(page.onward, page.onward.boxes)
        return True

    def _rate(self, form: Form) -> bool:
        task = self._current_task()
        position = int(form.hidden["position"])
        if not task.min_inputs and self._leaves_at(position, task):
            self.has_left = True
            return False
        rated, answered = answers_to(self.worker, task, position)
        answers: dict[str, str | list[str]] = {f"{ANSWER}{key.suffix}": answer for key, answer in answered.items()}
        if set(form.answers) != set(answers):
            raise VisitError(f"{self._path}: what can be answered is {sorted(form.answers)}, not {sorted(answers)}.")
        response = rated[0]
        telemetry = {name: str(response.telemetry[name]) for name in form.hidden if name in response.telemetry}
        before = self._mark()
        if self._send_once(form, answers | telemetry) and self._mark() != before:
            scores = tuple(score for one in rated for score in one.scores)
            self.acknowledged.append(Acknowledged(task.assignment_id, position, scores))
            self.on_rated()
        return True

    def _begin(self, form: Form) -> bool:
        """Begin a chat: on a topic, where none is given, and with an opinion of it."""
        plan = self._plan(int(form.hidden["position"]))
        values = {"opinion": plan.opinion} | ({"topic": plan.topic} if "topic" in form.texts else {})
        if set(form.choices) != {"opinion"} or plan.opinion not in form.choices["opinion"]:
            raise VisitError(f"{self._path}: there is no {plan.opinion!r} to choose, only {form.choices}.")
        self._send(form, values)
        return True

    def _plan(self, position: int) -> ChatPlan:
        task = self._current_task()
        return plan_chat(self.worker, task.items[position], task.min_inputs)

    def _talk(self, form: Form) -> bool:
        """Go on with a chat as far as it goes, then read its page again."""
        if "number" not in form.hidden:  # there is no room for more
            self._send(form, {})
            return True
        task, position = self._current_task(), int(form.hidden["position"])
        plan, is_leaving = self._plan(position), self._leaves_at(position, task)
        if is_leaving:
            plan = plan.cut(len(plan.inputs) // 2)
        talk = Talk(
            plan,
            int(form.hidden["number"]),
            lambda verb, values: self._send_as_script(verb, {"position": str(position), **values}),
            lambda number, text, place: self.turns.append(
                AcknowledgedTurn(task.assignment_id, position + place - 1, number, text)
            ),
            self.sleep,
            len(task.pages[position].items),
            is_ended=not is_leaving,
        )
        talk.go_on()
        self.n_unanswered += talk.is_left
        if is_leaving and talk.is_done:
            self.has_left = True
            return False
        self._open(self._address)
        return True

    def _leaves_at(self, position: int, task: Task) -> bool:
        """Return whether the worker leaves before this item, or in its chat: in the middle of their first HIT."""
        share = self.worker.leaves_after
        if share is None or self.codes:
            return False
        return position > 1 + int(share * (len(task.items) - 1))

    def _is_talkative(self) -> bool:
        return (self.worker.index + len(self.codes)) % 4 == 0

    def _item(self, position: int) -> Item:
        return self._current_task().items[position]

    def _current_task(self) -> Task:
        if self._task is None or self._task_address != self._address:
            self._task, self._task_address = look_up_task(self._path), self._address
        return self._task

    # --- Over the wire

    def _open(self, address: str) -> None:
        """Open an address, again and again until the server answers."""
        self._insist("GET", address)

    def _send(self, form: Form, values: Mapping[str, str]) -> None:
        """Send a form again and again until the server answers, as a browser does that reloads what a form gave."""
        self._insist("POST", urljoin(self._address, form.action), form.hidden | dict(values))

    def _send_once(self, form: Form, values: Mapping[str, str | list[str]]) -> bool:
        """Send a form; if no answer comes, open the page again, to see what the server has, and return False."""
        response = self._ask("POST", urljoin(self._address, form.action), form.hidden | dict(values))
        if response is None:
            self._open(self._address)
            return False
        self._show(response)
        return True

    def _send_as_script(self, verb: str, values: Mapping[str, str]) -> dict[str, Any] | None:
        """Send one of a chat's forms as its script does, and return the answer; None if nothing came back."""
        response = self._ask("POST", urljoin(self._address, f"{verb}/"), values, headers={"Accept": "application/json"})
        if response is None or not response.headers.get("Content-Type", "").startswith("application/json"):
            return None
        answer: dict[str, Any] = response.json()
        return answer

    def _insist(self, method: str, address: str, data: Mapping[str, str] | None = None) -> None:
        end = time.monotonic() + self.patience_s
        for n_before in count():
            response = self._ask(method, address, data)
            if response is not None:
                self._show(response)
                return
            if time.monotonic() > end:
                raise VisitError(f"{urlsplit(address).path}: no answer for {self.patience_s:.0f} s.")
            self.sleep(_pause(n_before))

    def _ask(
        self,
        method: str,
        address: str,
        data: Mapping[str, str | list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response | None:
        """Return the answer, or None if there was none worth having: the line was cut or the server at fault."""
        self.n_requests += 1
        try:
            response = self.client.request(method, address, data=data, headers=headers)
        except RefusedError as error:
            raise VisitError(f"{urlsplit(address).path}: {error}") from None
        except RequestError:
            self.n_retries += 1
            return None
        # A paused campaign is unavailable too, and says so on a page of its own.
        if response.status_code >= 500 and "Retry-After" not in response.headers:
            self.n_retries += 1
            return None
        return response

    def _show(self, response: Response) -> None:
        self._page = read_page(response.text)
        if response.request.method == "GET":
            self._address = str(response.url)


def _pause(n_before: int) -> float:
    """Return how long to wait after so many pauses."""
    return min(FIRST_PAUSE_S * 2 ** min(n_before, 10), LONGEST_PAUSE_S)
