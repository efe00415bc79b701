"""POP_MESSAGE, PEEK_MESSAGE, NOTIFICATION and POLLING_INFO on the general path.

    checks ─▶ pop ─▶ found: answer
                   ├ nothing yet, and the pop may be held: wait for a message or a deadline
                   └ cold: a disk thread reads and checks the messages, then the pop runs again

A message wakes one waiting pop of each group, and that one the next if it leaves messages. A pop
whose long-poll time is over is run once more and answered whatever it finds.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aerobee.errors import AerobeeError
from aerobee.ports.clock import Now
from aerobee.protocol.consume.pop_receipt import counts_text, offsets_text, start_offsets_text
from aerobee.protocol.headers.popping import (
    NotificationAnswerHeader,
    NotificationHeader,
    PeekHeader,
    PollingInfoAnswerHeader,
    PollingInfoHeader,
    PopAnswerHeader,
    PopHeader,
)
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.cold_reads import ColdReads
from aerobee.service.broker.log_access.store_refusals import refused_by_store
from aerobee.service.broker.pop.take.handout import ColdRun, Popped
from aerobee.service.broker.pop.take.held_pops import (
    LATE_MS_MAX,
    HeldPop,
    HeldPops,
    PopPlan,
    WaitKey,
)
from aerobee.service.broker.pop.take.pop_checks import COUNT_MAX, PopChecks
from aerobee.service.broker.pop.take.pop_walk import PopWalk
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.request import Answer, ConsumerRefusal, Request, answer_with

HOLD_MS_MAX = 300_000

Learn: TypeAlias = Callable[[Request, PopHeader, PopPlan], None]
"""Called with (the request, its header, its plan), to make a grant."""

_FULL = Answer(
    ResponseCode.POLLING_FULL, "too many pops wait: try again in a second", {"restNum": "0"}
)


class _Outcome(NamedTuple):
    """The result of running a pop."""

    answer: Answer | None
    """None: no message was found, or a disk job reads it."""
    is_more: bool = False
    """Whether messages are left for other pops."""
    is_fetched: bool = False
    """A disk job reads the messages; the pop is answered after that."""
    revive_queue: int = 0


class PopHandlers:
    def __init__(
        self,
        checks: PopChecks,
        pop_walk: PopWalk,
        held: HeldPops,
        cold_reads: ColdReads,
        learn: Learn,
    ) -> None:
        """`learn` is called for pops that the fast path may take next time."""
        self._checks = checks
        self._learn = learn
        self._pop_walk = pop_walk
        self._held = held
        self._cold_reads = cold_reads
        self._now = Now(0, 0)

    def rows(self) -> list[Row]:
        code, lane = RequestCode, Lane.PULL
        return [
            row(code.POP_MESSAGE, PopHeader, self._pop, lane),
            row(code.PEEK_MESSAGE, PeekHeader, self._peek, lane),
            row(code.NOTIFICATION, NotificationHeader, self._ask, lane),
            row(code.POLLING_INFO, PollingInfoHeader, self._count, lane),
        ]

    # First time.

    def _pop(self, request: Request, header: PopHeader) -> Answer | None:
        self._now = request.now
        hold_ms = _hold_ms(header.poll_time, header.born_time, request.now.wall_ms)
        if hold_ms is None:
            return Answer(
                ResponseCode.POLLING_TIMEOUT,
                "the pop comes after the time that it may wait until",
                {"restNum": "0"},
            )
        plan = self._checks.plan(header, request.now)
        if isinstance(plan, Answer):
            return plan
        self._learn(request, header, plan)
        return self._run(HeldPop(request, plan, request.now.monotonic_ms + hold_ms), request.now)

    def _ask(self, request: Request, header: NotificationHeader) -> Answer | None:
        self._now = request.now
        topic, group, queue_id = header.topic, header.consumer_group, header.queue_id
        fault = self._checks.find_fault(topic, group, queue_id, request.now)
        if fault is not None:
            return fault
        hold_ms = _hold_ms(header.poll_time, header.born_time, request.now.wall_ms)
        plan = PopPlan(
            topic, group, queue_id, 1, 1, is_orderly=header.order, attempt_id=header.attempt_id
        )
        deadline_ms = request.now.monotonic_ms + (hold_ms or 0)
        return self._run(HeldPop(request, plan, deadline_ms, True), request.now)

    def _peek(self, request: Request, header: PeekHeader) -> Answer:
        topic, group, queue_id = header.topic, header.consumer_group, header.queue_id
        fault = self._checks.find_fault(topic, group, queue_id, request.now)
        if fault is not None:
            return fault
        plan = PopPlan(topic, group, queue_id, max(1, min(header.max_msg_nums, COUNT_MAX)), 1)
        parts, rest = self._pop_walk.peek(plan, self._checks.orders.of(plan))
        fields = {"restNum": str(rest)}
        if not parts:
            return Answer(ResponseCode.PULL_NOT_FOUND, "NO_MESSAGE_IN_QUEUE", fields)
        return Answer(remark="FOUND", fields=fields, parts=parts)

    def _count(self, request: Request, header: PollingInfoHeader) -> Answer:
        topic, group, queue_id = header.topic, header.consumer_group, header.queue_id
        fault = self._checks.find_fault(topic, group, queue_id, request.now)
        if fault is not None:
            return fault
        waiting = self._held.waiting((topic, group, queue_id))
        return Answer(fields=write_header(PollingInfoAnswerHeader(waiting)))

    # Running.

    def _run(self, pop: HeldPop, now: Now, fetched: ColdRun | None = None) -> Answer | None:
        """Answer the pop, hold it, or have its messages read from the disk."""
        outcome = self._served(pop, now, fetched)
        if outcome.answer is not None or outcome.is_fetched:
            return outcome.answer
        if now.monotonic_ms >= pop.deadline_ms:
            return _nothing(pop.plan, pop.is_question, outcome.revive_queue, now)
        refusal = self._held.owners.refuse(pop.request, pop.plan.group, self._checks.waiting)
        if refusal is not None:
            return refusal
        if self._held.hold(pop):
            return None
        if pop.is_question:
            return Answer(fields=write_header(NotificationAnswerHeader(False, True)))
        return _FULL

    def _served(self, pop: HeldPop, now: Now, fetched: ColdRun | None = None) -> _Outcome:
        order = self._checks.orders.of(pop.plan)
        if pop.is_question:
            if self._pop_walk.has_any(pop.plan, order, now):
                return _Outcome(Answer(fields=write_header(NotificationAnswerHeader(True))), True)
            return _Outcome(None)
        popped = self._pop_walk.pop(pop.plan, order, now, fetched)
        if popped.count:
            return _Outcome(_shown(pop.plan, popped), popped.rest > 0)
        if popped.error is not None:
            return _Outcome(refused_by_store(popped.error))
        cold = popped.cold
        if cold is not None:
            busy = self._cold_reads.answer(
                pop.request, cold.read, lambda: self._run(pop, self._now, cold)
            )
            return _Outcome(busy, is_fetched=True)
        return _Outcome(None, revive_queue=popped.revive_queue)

    # Held pops.

    def arrived(self, topic: bytes, queue_id: int, now: Now) -> None:
        """A queue got a message: run the pops that wait for it."""
        for key in self._held.keys_for(topic, queue_id):
            self.wake(key, now)

    def wake(self, key: WaitKey, now: Now) -> None:
        self._now = now
        while True:
            pop = self._held.take_first(key)
            if pop is None:
                return
            try:
                outcome = self._served(pop, now)
            except AerobeeError as error:
                outcome = _Outcome(Answer(ResponseCode.SYSTEM_ERROR, str(error)))
            if outcome.answer is not None:
                pop.request.answer(outcome.answer)
            elif not outcome.is_fetched:
                self._held.hold(pop)
                return
            if not outcome.is_more:
                return

    def refuse_waiting(self, refusal: ConsumerRefusal) -> None:
        """Rights have changed: refuse the pops that wait and may not go on."""
        answers: list[Answer] = []

        def is_refused(pop: HeldPop) -> bool:
            answer = refusal(pop.request, pop.plan.topic, pop.plan.group)
            if answer is not None:
                answers.append(answer)
            return answer is not None

        for pop, answer in zip(self._held.take_if(is_refused), answers, strict=True):
            pop.request.answer(answer)

    def expire(self, now: Now) -> None:
        """Answer the pops whose long-poll time is over."""
        self._now = now
        for pop in self._held.take_due(now.monotonic_ms):
            self._answer_now(pop, now)

    def _answer_now(self, pop: HeldPop, now: Now) -> None:
        answer_with(lambda request: self._run(pop, now), pop.request)


def _hold_ms(poll_ms: int, born_ms: int, wall_ms: int) -> int | None:
    """The time for which a pop may be held; None: its client has given up."""
    born_ms = born_ms or wall_ms
    left_ms = born_ms + poll_ms - wall_ms
    if left_ms < -LATE_MS_MAX and poll_ms > 0:
        return None
    return max(0, min(left_ms, poll_ms, HOLD_MS_MAX))


def _nothing(plan: PopPlan, is_question: bool, revive_queue: int, now: Now) -> Answer:
    if is_question:
        return Answer(fields=write_header(NotificationAnswerHeader(False)))
    header = PopAnswerHeader(now.wall_ms, plan.invisible_ms, revive_queue, 0)
    return Answer(ResponseCode.POLLING_TIMEOUT, "NO_MESSAGE_IN_QUEUE", write_header(header))


def _shown(plan: PopPlan, popped: Popped) -> Answer:
    counts = [counts_text(run, counts) for run, counts in popped.counts]
    header = PopAnswerHeader(
        popped.pop_time,
        plan.invisible_ms,
        popped.revive_queue,
        popped.rest,
        start_offsets_text(popped.runs),
        offsets_text(popped.runs),
        ";".join(counts) if plan.is_orderly else None,
    )
    return Answer(remark="FOUND", fields=write_header(header), parts=popped.parts)
