"""PULL_MESSAGE on the general path: reads a queue from an offset on, as slices of the log.

    checks ─▶ filter ─▶ read ─▶ found: answer
                              ├ nothing yet, may be held: wait for a message or a deadline
                              └ cold: a disk thread reads and checks the messages first

A held pull is run again when its queue gets a message and is answered then, unless its filter
rejects every message of the read: then it waits on. No message is copied here.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.ports.service import ChannelId
from aerobee.protocol.headers.pulling import (
    COMMIT_OFFSET,
    SUSPEND,
    PullAnswerHeader,
    PullHeader,
)
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.cold_reads import ColdReads
from aerobee.service.broker.pull.held_pulls import HeldPull, HeldPulls, PullPlan, QueueKey
from aerobee.service.broker.pull.pull_checks import PullChecks
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.live_config import LiveConfig
from aerobee.service.request import Answer, ConsumerRefusal, Request
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.store import Store

BULK_BYTES_MAX = 1 << 20  # of a bulk reader: larger answers would delay other clients
HOLD_MS_MAX = 30_000  # clients give a pull up after that

_CODES = {
    ReadStatus.FOUND: ResponseCode.SUCCESS,
    ReadStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    ReadStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    ReadStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
    ReadStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    ReadStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    ReadStatus.NO_MESSAGE_IN_QUEUE: ResponseCode.PULL_NOT_FOUND,
    ReadStatus.NO_MATCHED_LOGIC_QUEUE: ResponseCode.PULL_NOT_FOUND,
}


Found: TypeAlias = Callable[[ChannelId, PullHeader, PullPlan], None]
CountOut: TypeAlias = Callable[[str, str, int, int], None]
"""Called for messages that were handed out: (group, topic, messages, bytes)."""


class Suggestion(Protocol):
    """Where readers are sent."""

    @property
    def moves_readers(self) -> bool:
        """Whether a reader whose offset is outside the queue is told where to go on. A slave may
        only be behind: it has the reader come again."""

    def after(self, read: QueueRead, group: str) -> int:
        """The id of the broker that the group should pull from next."""


class PullOutlets(NamedTuple):
    """Callbacks of pulls."""

    found: Found
    """Called for every pull that found messages at once, and that may be repeated here: a grant can
    be made of it."""
    count_out: CountOut
    suggestion: Suggestion


class PullHandlers:
    def __init__(
        self,
        store: Store,
        checks: PullChecks,
        offsets: ConsumerOffsets,
        held: HeldPulls,
        cold_reads: ColdReads,
        config: LiveConfig[BrokerConfig],
        outlets: PullOutlets,
    ) -> None:
        self._found = outlets.found
        self._suggestion = outlets.suggestion
        self._store = store
        self._checks = checks
        self._offsets = offsets
        self._held = held
        self._cold_reads = cold_reads
        self._config = config
        # Whether the last answer suggested the master, as answers of the fast path do.
        self._stays = True
        self._count_out = outlets.count_out

    def rows(self) -> list[Row]:
        return [
            row(code, PullHeader, self._pull, Lane.PULL)
            for code in (RequestCode.PULL_MESSAGE, RequestCode.LITE_PULL_MESSAGE)
        ]

    # First time.

    def _pull(self, request: Request, header: PullHeader) -> Answer | None:
        plan = self._checks.plan(header, request.now)
        if isinstance(plan, Answer):
            return plan
        moved = self._offsets.take_reset(header.consumer_group, header.topic, header.queue_id)
        if moved is None:
            self._commit(header)
        elif moved != header.queue_offset:
            return self._moved(plan, moved)
        answer = self._answered(request, plan, self._hold_ms(header))
        is_found = answer is not None and answer.code is ResponseCode.SUCCESS
        if is_found and not plan.is_bulk and not request.command.is_oneway and self._stays:
            self._found(request.channel, header, plan)
        return answer

    def _commit(self, header: PullHeader) -> None:
        if header.sys_flag & COMMIT_OFFSET:
            queue = self._store.queue(header.topic.encode(), header.queue_id)
            self._offsets.commit(
                header.consumer_group,
                header.topic,
                header.queue_id,
                header.commit_offset,
                queue.max_offset if queue is not None else 0,
            )

    def _hold_ms(self, header: PullHeader) -> int:
        """The time for which the pull may be held; 0: answer it at once."""
        if not header.sys_flag & SUSPEND:
            return 0
        config = self._config.current
        longest = HOLD_MS_MAX if config.holds_pulls else config.short_hold_ms
        return min(header.suspend_timeout_millis, longest)

    # Reading and answering.

    def _answered(self, request: Request, plan: PullPlan, hold_ms: int) -> Answer | None:
        read = self._read(plan)
        if read.is_cold:
            return self._read_cold(request, plan, read)
        if hold_ms > 0 and _found_nothing(read, plan.offset):
            refusal = self._held.owners.refuse(request, plan.group, self._config.current.waiting)
            if refusal is not None:
                return refusal
            pull = HeldPull(request, plan, request.now.monotonic_ms + hold_ms)
            if self._held.hold(pull):
                request.is_held = True
                return None
        return self._shown(plan, read)

    def _read(self, plan: PullPlan) -> QueueRead:
        topic, queue_id = plan.queue
        return self._store.read(
            topic,
            queue_id,
            plan.offset,
            plan.count_max,
            self._bytes_max(plan),
            plan.tag_codes,
            plan.chosen,
        )

    def _bytes_max(self, plan: PullPlan) -> int:
        return BULK_BYTES_MAX if plan.is_bulk else self._config.current.pull_bytes_max

    def _shown(self, plan: PullPlan, read: QueueRead) -> Answer:
        status = ReadStatus(read.status)
        code = _CODES[status]
        topic, queue_id = plan.queue
        name = topic.decode()
        if read.count:
            self._count_out(plan.group, name, read.count, sum(map(len, read.slices)))
        next_offset = read.next_offset
        if code is ResponseCode.PULL_NOT_FOUND and status is not ReadStatus.OFFSET_OVERFLOW_ONE:
            # An empty queue begins at 0: a client with another offset is moved there.
            next_offset = 0
            if plan.offset != 0:
                code = ResponseCode.PULL_OFFSET_MOVED
        if code is ResponseCode.PULL_OFFSET_MOVED and not self._suggestion.moves_readers:
            code, next_offset = ResponseCode.PULL_RETRY_IMMEDIATELY, plan.offset
        self._offsets.note_pulled(plan.group, name, queue_id, next_offset)
        broker_id = self._suggestion.after(read, plan.group)
        self._stays = broker_id == 0
        return Answer(
            code,
            status.name,
            write_header(
                PullAnswerHeader(
                    broker_id,
                    next_offset,
                    read.min_offset,
                    read.max_offset,
                    plan.topic_sys_flag,
                    plan.group_sys_flag,
                )
            ),
            parts=read.slices,
        )

    def _moved(self, plan: PullPlan, offset: int) -> Answer:
        """An operator reset the group's offset: tell the client the new one."""
        topic, queue_id = plan.queue
        queue = self._store.queue(topic, queue_id)
        low, high = 0, 0
        if queue is not None:
            low, high = self._store.first_offset(queue), queue.max_offset
        return Answer(
            ResponseCode.PULL_OFFSET_MOVED,
            "OFFSET_RESET",
            write_header(PullAnswerHeader(0, offset, low, high)),
        )

    def _read_cold(self, request: Request, plan: PullPlan, read: QueueRead) -> Answer | None:
        def shown() -> Answer:
            if plan.chosen is not None:
                read.choose(plan.chosen, plan.count_max, self._bytes_max(plan))
            return self._shown(plan, read)

        return self._cold_reads.answer(request, read, shown)

    # Held pulls.

    def arrived(self, queue: QueueKey) -> None:
        """A queue got a message: run the pulls that wait for it."""
        for pull in self._held.take_for(queue):
            read = self._read(pull.plan)
            if read.status == ReadStatus.NO_MATCHED_MESSAGE:
                # Continue behind the messages that the filter rejected.
                on = pull._replace(plan=pull.plan._replace(offset=read.next_offset))
                if self._held.hold(on):
                    continue
            self._finish(pull, read)

    def refuse_waiting(self, refusal: ConsumerRefusal) -> None:
        """Rights have changed: refuse the pulls that wait and may not go on."""
        answers: list[Answer] = []

        def is_refused(pull: HeldPull) -> bool:
            answer = refusal(pull.request, pull.plan.queue[0].decode(), pull.plan.group)
            if answer is not None:
                answers.append(answer)
            return answer is not None

        for pull, answer in zip(self._held.take_if(is_refused), answers, strict=True):
            pull.request.answer(answer)

    def expire(self, monotonic_ms: int) -> None:
        """Answer the pulls whose long-poll time is over."""
        for pull in self._held.take_due(monotonic_ms):
            self._finish(pull, self._read(pull.plan))

    def _finish(self, pull: HeldPull, read: QueueRead) -> None:
        topic, queue_id = pull.plan.queue
        moved = self._offsets.take_reset(pull.plan.group, topic.decode(), queue_id)
        if moved is not None and moved != pull.plan.offset:
            answer: Answer | None = self._moved(pull.plan, moved)
        elif read.is_cold:
            answer = self._read_cold(pull.request, pull.plan, read)
        else:
            answer = self._shown(pull.plan, read)
        if answer is not None:
            pull.request.answer(answer)


def _found_nothing(read: QueueRead, offset: int) -> bool:
    """Whether the offset is the queue's end, so that a message may arrive there soon."""
    if read.status == ReadStatus.OFFSET_OVERFLOW_ONE:
        return True
    return offset == 0 and read.status in (
        ReadStatus.NO_MESSAGE_IN_QUEUE,
        ReadStatus.NO_MATCHED_LOGIC_QUEUE,
    )
