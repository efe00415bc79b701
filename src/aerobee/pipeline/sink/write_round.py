"""Opens and finishes a round: tells brokers its producer, its plan, and when it is over.

    plan proposed ─▶ first broker ─▶ second ─▶ … ─▶ rows may be sent
                        │
                        └─ has another plan: that one is proposed, from the beginning

O1. Rows are sent once all brokers of the plan hold the plan. So a later attempt finds it at the
    first broker that both have in common.
O2. Brokers are asked in the order of their names: of two attempts that begin at once with different
    plans one finds the other's.
O3. A round that one broker knows as finished is finished: brokers are told once all is stored.

FINISH_ROUND lets brokers drop the marks of every task and queue of a round. A task sends it to
those brokers that have asked for it, because they hold many marks. The driver sends it to all, once
for a whole write. Correctness does not depend on it: a broker that is not reached drops the marks
after a time, and a repeat has no effect. So its errors are not errors of the write.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from aerobee.client.connection.remote_call import ask, ask_well
from aerobee.client.connection.session import Session
from aerobee.errors import AerobeeError, NoAnswer, Refused, Retriable, TopicNotFound
from aerobee.pipeline.sink.queue_plan import QueuePlan, plan_for, read_plan
from aerobee.protocol.headers.producing_once import (
    FinishedRoundHeader,
    FinishRoundHeader,
    NoRoomHeader,
    OpenedProducerHeader,
    OpenProducerHeader,
)
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_log = logging.getLogger(__name__)

PLANS_MAX = 8
"""So many different plans are met at most: each is of another state of the topic."""
_TOO_MANY_HINT = (
    "fewer tasks at the same time: coalesce(N) before the write; fewer queues, or a longer "
    "sendTimeout; a batch of which tasks have written already is finished with "
    "deliveryGuarantee=atLeastOnce, which repeats their rows"
)
_PAUSE_SECONDS = 0.2
FINISH_SECONDS = 5.0
"""A write that is done does not wait longer for a broker that does not answer."""


class Succeeded(AerobeeError):
    """Another attempt is writing these rows, or has written them."""


class _Finished(Refused):
    """All rows of the round are stored already."""


class _NoRoomYet(Refused):
    """The broker has no room for the marks until other tasks of the round have finished."""


@dataclass(slots=True)
class OpenedRound:
    """The producer id, round and epochs that one task sends with."""

    producer: str
    round_id: int
    epochs: dict[str, int] = field(default_factory=dict)
    """By broker."""
    places: set[tuple[str, str]] = field(default_factory=set)
    """Topics, and brokers that know of rows for them."""
    crowded: set[str] = field(default_factory=set)
    """Brokers that want to hear when this task is through."""


async def agree(
    session: Session, opened: OpenedRound, topic: str, seconds: float
) -> QueuePlan | None:
    """Open the round at all brokers of a topic; returns the agreed plan. None: all rows are
    stored already. Brokers that do not answer, or have no room yet, are asked again for so many
    seconds."""
    # Asked for now: a worker may have slept for hours, and what is planned now holds for the round.
    plan = plan_for(
        (await session.routes.refresh(topic, may_be_new=True)).physical("Spark").writable
    )
    if not plan.brokers:
        raise TopicNotFound(
            f"{topic} has no queue that can be written to",
            topic=topic,
            hint="is a master of its brokers running, and is its permission 6?",
        )
    deadline = asyncio.get_running_loop().time() + seconds
    for _ in range(PLANS_MAX):
        opened.places |= {(topic, broker_name) for broker_name, _ in plan.brokers}
        try:
            other = await _propose(session, opened, topic, plan, deadline)
        except _Finished:
            return None
        if other is None:
            return plan
        plan = other
    raise Refused(
        f"{topic} has changed more than {PLANS_MAX} times while round {opened.round_id} of "
        f"{opened.producer} was being written",
        code=ResponseCode.PRODUCER_FENCED,
    )


async def _propose(
    session: Session, opened: OpenedRound, topic: str, plan: QueuePlan, deadline: float
) -> QueuePlan | None:
    """Propose a plan to each of its brokers; returns the first other plan that one of them
    holds."""
    text = plan.text()
    for broker_name, _ in plan.brokers:

        async def open_there(broker_name: str = broker_name) -> OpenedProducerHeader:
            return await _open(session, opened, topic, broker_name, text)

        answer = await _patiently(open_there, deadline)
        opened.epochs[broker_name] = answer.epoch
        if answer.finish:
            opened.crowded.add(broker_name)
        if answer.plan != text:
            return read_plan(answer.plan or "")
    return None


async def _open(
    session: Session, opened: OpenedRound, topic: str, broker_name: str, plan: str
) -> OpenedProducerHeader:
    route = await session.routes.of(topic, may_be_new=True)
    address = route.master(broker_name)
    if address is None:
        await session.routes.refresh(topic, may_be_new=True)
        raise Retriable(
            f"no master of {broker_name} is known, which has rows of this batch",
            code=ResponseCode.SYSTEM_BUSY,
        )
    epoch = opened.epochs.get(broker_name, -1)
    header = OpenProducerHeader(opened.producer, topic, epoch, opened.round_id, plan)
    answer = await ask(session, address, RequestCode.OPEN_PRODUCER, header)
    if answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
        raise Refused(
            f"the broker {broker_name} at {address} remembers no producers",
            code=answer.code,
            hint="deliveryGuarantee=atLeastOnce works with any broker",
        )
    if answer.code == ResponseCode.PRODUCER_FENCED:
        raise Succeeded(
            f"round {opened.round_id} of {opened.producer} is over: {answer.remark}",
            hint="a later batch, or another attempt of this one, has begun; if no other query "
            "runs from the same checkpoint there is nothing to do",
        )
    if answer.code == ResponseCode.ROUND_FINISHED:
        raise _Finished(answer.remark, code=answer.code)
    if answer.code == ResponseCode.TOO_MANY_PRODUCERS:
        may_wait = read_header(NoRoomHeader, answer.ext_fields).wait
        kind = _NoRoomYet if may_wait else Refused
        raise kind(answer.remark, code=answer.code, hint=_TOO_MANY_HINT)
    error = error_for(answer.code, answer.remark)
    if error is not None:
        raise error
    return read_header(OpenedProducerHeader, answer.ext_fields)


async def _patiently(
    do: Callable[[], Awaitable[OpenedProducerHeader]], deadline: float
) -> OpenedProducerHeader:
    while True:
        try:
            return await do()
        except (NoAnswer, Retriable, _NoRoomYet):
            if asyncio.get_running_loop().time() + _PAUSE_SECONDS > deadline:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)


async def finish_task(session: Session, opened: OpenedRound) -> None:
    """Tell brokers that have asked for it that a task has finished."""
    write_id, _, task = opened.producer.rpartition("/")
    for topic, broker_name in sorted(opened.places):
        if broker_name in opened.crowded:
            epoch = opened.epochs[broker_name]
            header = FinishRoundHeader(write_id, topic, opened.round_id, int(task), epoch)
            answer = await _tell(session, broker_name, header)
            if answer is not None and answer.epoch is not None:
                opened.epochs[broker_name] = answer.epoch


async def finish_write(
    session: Session, write_id: str, round_id: int, places: Iterable[tuple[str, str]]
) -> None:
    """Tell brokers, each for a topic, that all tasks of a write have finished."""
    await asyncio.gather(
        *(
            _tell(session, broker_name, FinishRoundHeader(write_id, topic, round_id))
            for topic, broker_name in sorted(places)
        )
    )


async def _tell(
    session: Session, broker_name: str, header: FinishRoundHeader
) -> FinishedRoundHeader | None:
    try:
        # New: a name server may not have heard yet of a topic that this write has made.
        route = await session.routes.of(header.topic, may_be_new=True)
        address = route.master(broker_name)
        if address is None:
            return None
        answer = await ask_well(
            session, address, RequestCode.FINISH_ROUND, header, seconds=FINISH_SECONDS
        )
        return read_header(FinishedRoundHeader, answer.ext_fields)
    except AerobeeError as error:
        _log.info("%s keeps the marks of %s: %s", broker_name, header.write_id, error)
        return None
