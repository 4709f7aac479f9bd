"""A chat as a simulated worker has it, over the addresses of its page, as the page's script would."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotation.simulation.inputs import ChatPlan

Answer = Mapping[str, Any]
Send = Callable[[str, Mapping[str, str]], Answer | None]

LONGEST_WAIT_S = 600.0
_MS_PER_S = 1000


class VisitError(Exception):
    """A worker could not go on; the message says where and why."""


@dataclass
class Talk:
    """Goes on with a chat from what its page shows: `number` is that of the next turn, odd where it is the worker's.

    With several chatbots at once each message goes to all, and they are asked for their replies one after the other.

    `send` sends one of the chat's forms, by name, and returns the server's answer, or None if nothing came back.
    `on_turn` hears the number and text of every turn that the server has answered for, and in the chat with which
    chatbot, by its place from 1. `is_ended`: whether the worker
    says that the chat is over once the plan is, or just goes. `is_left` is for a chatbot that did not answer.
    """

    plan: ChatPlan
    number: int
    send: Send
    on_turn: Callable[[int, str, int], None]
    sleep: Callable[[float], None] = time.sleep
    n_chatbots: int = 1
    is_ended: bool = True
    is_left: bool = field(init=False, default=False)

    _status: str = field(init=False, default="replied")
    _place: int = field(init=False, default=1)
    _n_failed: int = field(init=False, default=0)
    _has_noted: bool = field(init=False, default=False)
    _waits_since: float = field(init=False, default_factory=time.monotonic)

    def go_on(self) -> None:
        """Chat until the plan is carried out; raise VisitError if no reply comes for ten minutes.

        Where an answer does not come, or says no, stop: the page, opened again, shows the state of the chat.
        """
        while self.is_ended or not self.is_done:
            verb, values = self._choose()
            answer = self.send(verb, values)
            if answer is None or answer["status"] == "refused":
                return
            if verb in ("end", "leave"):
                self.is_left = verb == "leave"
                return
            if verb == "say":
                for place in range(1, self.n_chatbots + 1):
                    self.on_turn(self.number, values["text"], place)
            self._hear(answer)

    @property
    def is_done(self) -> bool:
        """Whether all that was planned is said, and answered."""
        return self._is_mine and self._n_inputs >= len(self.plan.inputs)

    @property
    def _is_mine(self) -> bool:
        return self.number % 2 == 1

    @property
    def _n_inputs(self) -> int:
        return self.number // 2

    def _choose(self) -> tuple[str, dict[str, str]]:
        """Return what to send next, and the values that go with it."""
        number = {"number": str(self.number)}
        if not self._is_mine:
            if self.n_chatbots > 1:
                number["place"] = str(self._place)
            if self._status != "failed":
                return "reply", number
            return ("leave", {}) if self._n_failed > self.plan.n_agains else ("reply", number | {"again": "1"})
        if self.is_done:
            return "end", {}
        change = self.plan.change
        if self.n_chatbots == 1 and change and change.n_inputs == self._n_inputs and not self._has_noted:
            self._has_noted = True
            return "change", {"by": change.by, "topic": change.topic, "attitude": change.attitude}
        answer = {name: str(value) for name, value in self.plan.telemetry[self._n_inputs].items()}
        return "say", number | answer | {"text": self.plan.inputs[self._n_inputs]}

    def _hear(self, answer: Answer) -> None:
        """Take in the server's answer, and wait where it says so."""
        if answer["number"] != self.number:
            self._n_failed, self._waits_since = 0, time.monotonic()
        for turn in answer["turns"]:
            self.on_turn(turn["number"], turn["text"], self._place)
        if not self._is_mine and answer["number"] > self.number and self._place < self.n_chatbots:
            self._place, self._status = self._place + 1, "waiting"
            return
        self.number, self._status = answer["number"], answer["status"]
        if self._is_mine:
            self._place = 1
        if answer["is_full"] and self._is_mine:
            self.plan = self.plan.cut(self._n_inputs)
        if self._status == "failed":
            self._n_failed += 1
        if self._status == "waiting":
            if time.monotonic() - self._waits_since > LONGEST_WAIT_S:
                raise VisitError(f"The reply to turn {self.number - 1} of a chat did not come.")
            self.sleep(answer["wait_ms"] / _MS_PER_S)
