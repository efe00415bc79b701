"""A round is opened: every broker that gets rows of it knows who sends, and all by the same plan.

    plan proposed ─▶ first broker ─▶ second ─▶ … ─▶ rows may be sent
                        │
                        └─ has another plan: that one is proposed, from the beginning

O1. A row is sent once all brokers of the plan hold it. So whoever comes later finds it at the first
    broker that they have in common.
O2. Brokers are asked in the order of their names: of two that begin at once with different plans
    one finds the other's.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from aerobee.client.asking import ask
from aerobee.client.session import Session
from aerobee.errors import AerobeeError, NoAnswer, Refused, Retriable, TopicNotFound
from aerobee.pipeline.sink_plan import SinkPlan, plan_for, read_plan
from aerobee.protocol.declared_header import read_header
from aerobee.protocol.headers.producing_once import OpenedProducerHeader, OpenProducerHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

PLANS_MAX = 8
"""So many different plans are met at most: each is of another state of the topic."""
_TOO_MANY_HINT = (
    "of a new write, fewer tasks: coalesce(N) before it, or fewer queues; a batch of which tasks "
    "have written already is finished with deliveryGuarantee=atLeastOnce, which repeats their rows"
)
_PAUSE_SECONDS = 0.2


class Succeeded(AerobeeError):
    """Another attempt writes these rows by now, or has written them."""


@dataclass(slots=True)
class OpenedRound:
    """What one task sends with."""

    producer: str
    round_id: int
    epochs: dict[str, int] = field(default_factory=dict)
    """By broker."""


async def agree(session: Session, opened: OpenedRound, topic: str, seconds: float) -> SinkPlan:
    """Have all brokers of a topic know the round; the plan that holds. Brokers that do not answer
    are asked for so long."""
    # Asked for now: a worker may have slept for hours, and what is planned now holds for the round.
    plan = plan_for((await session.routes.refresh(topic, may_be_new=True)).writable)
    if not plan.brokers:
        raise TopicNotFound(
            f"{topic} has no queue that can be written to",
            topic=topic,
            hint="is a master of its brokers running, and is its permission 6?",
        )
    deadline = asyncio.get_running_loop().time() + seconds
    for _ in range(PLANS_MAX):
        other = await _propose(session, opened, topic, plan, deadline)
        if other is None:
            return plan
        plan = other
    raise Refused(
        f"{topic} has changed more than {PLANS_MAX} times while round {opened.round_id} of "
        f"{opened.producer} was being written",
        code=ResponseCode.PRODUCER_FENCED,
    )


async def _propose(
    session: Session, opened: OpenedRound, topic: str, plan: SinkPlan, deadline: float
) -> SinkPlan | None:
    """Tell every broker of a plan; the first other plan that one of them has."""
    text = plan.text()
    for broker_name, _ in plan.brokers:

        async def open_there(broker_name: str = broker_name) -> OpenedProducerHeader:
            return await _open(session, opened, topic, broker_name, text)

        answer = await _patiently(open_there, deadline)
        opened.epochs[broker_name] = answer.epoch
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
    if answer.code == ResponseCode.TOO_MANY_PRODUCERS:
        raise Refused(answer.remark, code=answer.code, hint=_TOO_MANY_HINT)
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
        except (NoAnswer, Retriable):
            if asyncio.get_running_loop().time() + _PAUSE_SECONDS > deadline:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)
