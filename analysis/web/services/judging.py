"""Asking a judge about the outputs that it has not judged yet, several at once, and never beyond its caps.

Each call is stored, at the highest price that it may have, before it is made: so calls that are under way count, and
those that a crash interrupted count, too. The pool's threads only wait for the network; the job's own thread does
everything else.
"""

import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from django.db.models import Count
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from analysis.metrics.judges.answers import UnparsableError, parse_answer
from analysis.metrics.judges.prompt import hash_of
from analysis.models import AnalysisRun, Judge, JudgeAnswer, MetricScores
from analysis.web.queries.judges import (
    MOST_UNPARSABLE,
    Pending,
    list_pending,
    prices_of,
    prompter_of,
    score_rows,
    sum_of,
    texts_of,
)
from analysis.web.queries.ratings_files import newest
from analysis.web.services.judges import check_metric_names
from analysis.web.services.metrics import remove_scores, write_scores
from analysis.web.services.runs import change_run
from campaigns.chatbots import ask_connector, make_connector
from campaigns.contracts.chat import Utterance
from campaigns.contracts.connector import Attachment, ConnectorError, Reply, Request
from campaigns.contracts.format import Block
from campaigns.formats import get_file_format
from campaigns.models import Campaign
from campaigns.stored_files import read_file
from evalsite.lib.errors import DomainError

OnProgress = Callable[[int, int, str], None]
Saving = Callable[[], AbstractContextManager[None]]
_State = JudgeAnswer.State

# Of an answer; longer ones cannot be what was asked for.
_MAX_CHARS = 20_000
_N_TRIES, _MOST_FAILURES_IN_A_ROW = 3, 5
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _LOOK_S = 1.0, 60.0, 1.0
# The server has refused these calls, or never got them: they cost nothing. What others cost is unknown.
_UNPAID = frozenset({"unreachable", "rate_limited", "server_error", "refused", "host_refused", "misconfigured"})
# These concern one call; every other lasting error concerns all.
_OF_ONE_CALL = frozenset({"refused"})


@dataclass(frozen=True)
class _Work:
    """An output to be judged; `n_failures` are its calls in this job that got no answer, `due` when it is next."""

    pending: Pending
    n_failures: int = 0
    due: float = 0.0


@dataclass(frozen=True)
class _Call:
    """A call that is being made: what for, and its row."""

    work: _Work
    answer_id: int
    most: Decimal


class _Judging:
    """The calls that one job makes. `sleep` waits for so many seconds; tests pass another one."""

    def __init__(self, judge: Judge, saving: Saving, sleep: Callable[[float], None]) -> None:
        self.judge, self.saving, self.sleep = judge, saving, sleep
        self.prompter, self.prices = prompter_of(judge), prices_of(judge)
        self.work = deque(_Work(each) for each in list_pending(judge))
        self.n_all = len(self.work)
        counted = judge.answers.aggregate(n=Count("pk"), spent=sum_of("price"))
        self.n_calls, self.spent = counted["n"], counted["spent"]
        self.running: dict[Future[Reply], _Call] = {}
        self.is_stopped = False  # by hand, or by a cap
        self.error: ConnectorError | None = None
        self.n_failed_in_a_row, self.pause_until = 0, 0.0

    @property
    def n_done(self) -> int:
        """Outputs that need nothing more in this job."""
        return self.n_all - len(self.work) - len(self.running)

    def run(self, on_progress: OnProgress) -> None:
        """Ask until every output is done, or something stops it; what is being asked then is waited for."""
        with ThreadPoolExecutor(self.judge.max_parallel, "judge") as pool:
            while True:
                self.is_stopped = self.is_stopped or self._is_cancelled()
                while self._may_ask() and (work := self._next_due()) and self._ask(work, pool):
                    pass
                on_progress(self.n_done, self.n_all, "Asking the judge")
                if self.running:
                    done, _ = wait(self.running, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                    for future in done:
                        self._keep(future, self.running.pop(future))
                elif self._may_ask() and self.work:
                    self.sleep(_LOOK_S / 4)
                else:
                    return

    def _may_ask(self) -> bool:
        return not self.is_stopped and self.error is None and len(self.running) < self.judge.max_parallel

    def _next_due(self) -> _Work | None:
        """Take the first output whose pause is over; None if there is none."""
        now = time.monotonic()
        if now < self.pause_until:
            return None
        for place, work in enumerate(self.work):
            if work.due <= now:
                del self.work[place]
                return work
        return None

    def _is_cancelled(self) -> bool:
        return Judge.objects.filter(pk=self.judge.pk, is_cancelled=True).exists()

    def _ask(self, work: _Work, pool: ThreadPoolExecutor) -> bool:
        """Write a call down and have it made, if the caps allow it; return whether it is made.

        Calls that are being made often cost less than they may at most: what a cap then allows is seen when they end.
        """
        fields, text = texts_of([work.pending.output_id])[work.pending.output_id]
        prompt = self.prompter.prompt(fields, text)
        attachments = tuple(_attachment(self.judge.campaign, each) for each in prompt.files)
        most = self.prices.at_most(self.prompter.n_bytes(prompt), self.judge.max_tokens)
        with self.saving():
            if self._is_over(most) or self._is_cancelled():
                self.is_stopped = not self.running
                self.work.appendleft(work)
                return False
            row = JudgeAnswer.objects.create(
                judge=self.judge,
                output_id=work.pending.output_id,
                attempt=work.pending.n_asked + 1,
                prompt_sha256=hash_of(prompt.text),
                price=most,
            )
        self.n_calls, self.spent = self.n_calls + 1, self.spent + most
        work = replace(work, pending=replace(work.pending, n_asked=row.attempt))
        self.running[pool.submit(_call, self.judge, row.pk, prompt.text, attachments)] = _Call(work, row.pk, most)
        return True

    def _is_over(self, most: Decimal) -> bool:
        judge = self.judge
        return (judge.max_cost is not None and self.spent + most > judge.max_cost) or (
            judge.max_calls is not None and self.n_calls >= judge.max_calls
        )

    # --- What came of a call

    def _keep(self, future: "Future[Reply]", call: _Call) -> None:
        try:
            reply = future.result()
        except ConnectorError as error:
            if error.code == "empty_reply":
                self._keep_unparsable(call, error.reply or Reply(""), error.message)
            else:
                self._keep_failure(call, error)
            return
        self.n_failed_in_a_row = 0
        try:
            if reply.is_cut:
                raise UnparsableError("The answer is too long.")
            ratings = parse_answer(reply.text, len(self.prompter.criteria))
        except UnparsableError as error:
            self._keep_unparsable(call, reply, str(error))
            return
        keys = [str(each.pk) for each in self.prompter.criteria]
        self._store(call, reply, state=_State.SCORED, scores=dict(zip(keys, ratings, strict=True)))

    def _keep_unparsable(self, call: _Call, reply: Reply, why: str) -> None:
        self._store(call, reply, state=_State.UNPARSABLE, message=why)
        pending = replace(call.work.pending, n_unparsable=call.work.pending.n_unparsable + 1)
        if pending.n_unparsable < MOST_UNPARSABLE:
            self.work.appendleft(replace(call.work, pending=pending))

    def _keep_failure(self, call: _Call, error: ConnectorError) -> None:
        """Note a call without an answer; ask again later, or not in this job, or nothing more at all."""
        self._store(call, error.reply, is_unpaid=error.code in _UNPAID, state=_State.FAILED, message=error.message)
        if not error.is_passing and error.code not in _OF_ONE_CALL:
            self.error = error
            return
        n_failures = call.work.n_failures + 1
        pause_s = max(error.retry_after_s, _FIRST_PAUSE_S * 2 ** (n_failures - 1))
        if error.is_passing and n_failures < _N_TRIES and pause_s <= _LONGEST_PAUSE_S:
            due = time.monotonic() + pause_s
            if error.code in ("rate_limited", "server_error"):  # which the next call would meet, too
                self.pause_until = max(self.pause_until, due)
            self.work.append(replace(call.work, n_failures=n_failures, due=due))
            return
        self.n_failed_in_a_row += 1
        if self.n_failed_in_a_row >= _MOST_FAILURES_IN_A_ROW:
            self.error = error

    def _store(self, call: _Call, reply: Reply | None, *, is_unpaid: bool = False, **fields: object) -> None:
        """Store what came of a call, and what it cost as far as that is known."""
        n_in, n_out = (reply.n_tokens_in, reply.n_tokens_out) if reply else (0, 0)
        is_known = is_unpaid or bool(n_in or n_out) or (reply is not None and not self.prices.has_tokens)
        price = call.most
        if is_known:
            price = Decimal(0) if is_unpaid else self.prices.of(n_in, n_out)
        self.spent += price - call.most
        with self.saving():
            JudgeAnswer.objects.filter(pk=call.answer_id).update(
                text=reply.text if reply else "",
                n_tokens_in=n_in,
                n_tokens_out=n_out,
                price=price,
                is_price_known=is_known,
                answered_at=timezone.now(),
                **fields,
            )


def _attachment(campaign: Campaign, block: Block) -> Attachment:
    """Return a block's file as it is sent. One query; raises DomainError `no_file` if the campaign has lost it."""
    assert block.file
    try:
        return Attachment(*get_file_format(block.format).attached(read_file(campaign, block.file.digest)))
    except FileNotFoundError:
        raise DomainError(
            "no_file", f"A file of the field “{block.label}” is gone. Restore it from a backup."
        ) from None


@sensitive_variables()
def _call(judge: Judge, answer_id: int, prompt: str, attachments: tuple[Attachment, ...]) -> Reply:
    """Ask the judge, in a thread of its own; no query."""
    request = Request(
        chat=f"judge-{answer_id}",
        turns=(Utterance("worker", prompt),),
        timeout_s=judge.timeout_s,
        max_chars=_MAX_CHARS,
        max_tokens=judge.max_tokens,
        attachments=attachments,
    )
    return ask_connector(
        partial(make_connector, judge.connector, judge.settings, judge.secrets), request, name=f"judge {judge.pk}"
    )


def judge_outputs(
    *, judge: Judge, on_progress: OnProgress, saving: Saving, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Ask a judge about the outputs that it has no score for, and compare its scores with people.

    `saving` opens a transaction that commits only while the job is ours. Calls that an earlier job did not finish count
    at their highest price. Raises DomainError `no_criteria`, `metric_twice`, or `judge_failed` if the judge gives no
    answers: what it answered before is kept, and a retry asks for the rest.
    """
    with saving():
        lost = judge.answers.filter(state=_State.ASKED)
        lost.update(state=_State.FAILED, message="The server stopped before the answer came.")
    judging = _Judging(judge, saving, sleep)
    judging.run(on_progress)
    on_progress(judging.n_done, judging.n_all, "Comparing with people")
    publish_scores(judge=judge, saving=saving)
    if judging.error:
        raise DomainError(
            "judge_failed",
            f"The judge gives no answers: {judging.error.message} What it answered is kept; a retry goes on from it.",
        )


def publish_scores(*, judge: Judge, saving: Saving) -> None:
    """Replace a judge's scores by those of all its answers so far, and analyse the ratings again.

    Without new answers nothing changes. `saving` is that of `judge_outputs`. Raises DomainError `metric_twice` if there
    are scores by these names.
    """
    rows = score_rows(judge)
    metrics = _counted(rows)
    before = judge.scores
    if not rows or (before and before.metrics == metrics):
        return
    scores = MetricScores(campaign=judge.campaign, created_by=judge.created_by, name=f"Judge {judge.name}")
    scores.metrics, scores.finished_at = metrics, timezone.now()
    check_metric_names(judge.campaign, [each["name"] for each in metrics], before)
    write_scores(scores, rows)
    try:
        with saving():
            scores.save(force_insert=True)
            Judge.objects.filter(pk=judge.pk).update(scores=scores)
            if before:
                remove_scores(scores=before)
            runs = AnalysisRun.objects.filter(ratings_file__campaign=judge.campaign, report__isnull=False)
            if base := newest(runs.select_related("ratings_file__campaign")):
                change_run(run=base, user=judge.created_by)
    except BaseException:
        scores.file.delete(save=False)
        raise
    judge.scores = scores


def _counted(rows: Sequence[tuple[str, str, str, float]]) -> list[dict[str, Any]]:
    """Return the name of each metric, and how many outputs and systems it has scores of."""
    systems: dict[str, list[str]] = {}
    for metric, system, _, _ in rows:
        systems.setdefault(metric, []).append(system)
    return [
        {"name": metric, "n_outputs": len(of_outputs), "n_systems": len(set(of_outputs))}
        for metric, of_outputs in systems.items()
    ]
