"""Transactional batch write: tasks stage their rows, the driver publishes all of them or none.

    task      rows ─▶ STAGE_BATCH ─▶ places ─▶ its message to the driver
    driver    places of the attempts that count ─▶ PUBLISH_STAGED

Rows that were staged by an attempt that does not count are never published, and are deleted with
the log's retention. So there is nothing to undo, and a write may be repeated with other rows in
another order: a round is published once, and until then none of its rows is visible.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from aerobee.client.connection.remote_call import ask_well
from aerobee.client.connection.session import Session
from aerobee.client.core.send.outgoing import Draft
from aerobee.errors import Misuse, NoAnswer, Refused, RemoteAnswer, Retriable
from aerobee.model.message_queue import MessageQueue
from aerobee.pipeline.sink.outbox import Send
from aerobee.pipeline.sink.queue_plan import QueuePlan, plan_for
from aerobee.pipeline.sink.write_round import Succeeded
from aerobee.protocol.bodies.staged_places import encode_places
from aerobee.protocol.headers.staging import (
    PublishStagedHeader,
    StageBatchHeader,
    StagedBatchHeader,
)
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

V = TypeVar("V")

_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class StagedRows:
    """The places that a task has staged rows at: plain values, because they are sent to the
    driver."""

    write_id: str
    round_id: int
    partition: int
    topic: str
    """One of those that were written: where it is, the broker is."""
    broker_name: str
    places: tuple[int, ...]


async def staging_plan(session: Session, topic: str, broker_name: str) -> QueuePlan:
    """Return a plan with the queues of one broker: a round is published by one broker."""
    queues = (await session.routes.refresh(topic)).physical("Spark").writable
    names = sorted({queue.broker_name for queue in queues})
    if not broker_name and len(names) == 1:
        broker_name = names[0]
    if broker_name not in names:
        raise Misuse(
            f"{topic} is on {', '.join(names) or 'no broker'}: a transactional write goes to one",
            hint="name it: the option broker",
        )
    return plan_for([queue for queue in queues if queue.broker_name == broker_name])


def staging(session: Session, write_id: str, round_id: int, seconds: float) -> Send[int]:
    """Return the function that stages batches; its result is the place of the batch in the log."""

    async def send(draft: Draft, queue: MessageQueue) -> int:
        header = StageBatchHeader(write_id, round_id, queue.topic, queue.queue_id)

        async def stage(address: str) -> int:
            answer = await ask_well(
                session, address, RequestCode.STAGE_BATCH, header, body=draft.body
            )
            return read_header(StagedBatchHeader, answer.ext_fields).place

        return await _insisting(session, queue.topic, queue.broker_name, stage, seconds)

    return send


async def publish(session: Session, written: Iterable[StagedRows], seconds: float) -> None:
    """Publish everything that these tasks have staged, at once. A repeat has no effect."""
    tasks = sorted(written, key=lambda one: one.partition)
    tasks = [one for one in tasks if one.places]
    if not tasks:
        return
    first = tasks[0]
    if {(one.write_id, one.round_id, one.broker_name) for one in tasks} != {
        (first.write_id, first.round_id, first.broker_name)
    }:
        raise Misuse("tasks of one write have staged their rows at different brokers")
    body = encode_places([place for one in tasks for place in one.places])
    header = PublishStagedHeader(first.write_id, first.round_id)

    async def ask(address: str) -> None:
        await ask_well(
            session, address, RequestCode.PUBLISH_STAGED, header, body=body, seconds=seconds
        )

    try:
        await _insisting(session, first.topic, first.broker_name, ask, seconds)
    except RemoteAnswer as error:
        if error.code == ResponseCode.PRODUCER_FENCED:
            raise Succeeded(f"a later batch is published already: {error.message}") from error
        if error.code == ResponseCode.TOO_MANY_PRODUCERS:
            # Nothing of it is seen: it may be cut in another way when it is done again.
            hint = "fewer tasks: coalesce(N) before the write; or fewer queues"
            raise Refused(error.message, code=error.code, hint=hint) from error
        raise


async def _insisting(
    session: Session,
    topic: str,
    broker_name: str,
    ask: Callable[[str], Awaitable[V]],
    seconds: float,
) -> V:
    """Ask a broker again and again until it answers, for at most so many seconds."""
    now = asyncio.get_running_loop().time
    deadline = now() + seconds
    while True:
        try:
            route = await session.routes.of(topic)
            address = route.master(broker_name)
            if address is None:
                await session.routes.refresh(topic)
                raise Retriable(
                    f"no master of {broker_name} is known", code=ResponseCode.SYSTEM_BUSY
                )
            return await ask(address)
        except (NoAnswer, Retriable):
            if now() + _PAUSE_SECONDS > deadline:
                raise
            await asyncio.sleep(_PAUSE_SECONDS)
