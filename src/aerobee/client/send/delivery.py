"""`Delivery` sends a draft to a queue of a broker, with all tries within one deadline.

    draft ─▶ route ─▶ queue ─▶ broker ─▶ stored
                        ▲         │
                        └─────────┘ another queue, while time and tries are left

D1. When `deliver` returns, the message is stored. When it raises, SendFailed.stored says whether it
    may be.
D2. A message that must go to one queue, for its key or by name, is never sent to another.

Imports more than 15 modules because it joins what is decided, kept and written elsewhere.
"""

import asyncio
import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from aerobee.client.api.receipt import DURABILITIES, Durability
from aerobee.client.connection.session import Session
from aerobee.client.core.namespace import with_namespace
from aerobee.client.core.routes import ClientRoute
from aerobee.client.core.send.latency_faults import LatencyFaults
from aerobee.client.core.send.outgoing import Draft, use_delay_level
from aerobee.client.core.send.queue_choice import (
    QueueRound,
    find_queue,
    queue_for_key,
    queue_for_priority,
)
from aerobee.client.core.send.send_tries import SendTries
from aerobee.client.core.trace_records import DEFAULT_REGION
from aerobee.client.send.fast_send import SendWaiter
from aerobee.errors import (
    AerobeeError,
    NoAnswer,
    Refused,
    RemoteAnswer,
    SendFailed,
    Stored,
    Unreachable,
)
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.properties import MESSAGE_REGION, TRACE_SWITCH
from aerobee.net.line import Line
from aerobee.protocol.headers.sending import SendV2Header, SentHeader
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.declared_header import read_header, write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode, error_for

_log = logging.getLogger(__name__)

RETRIES = 2
MASTER_PAUSE_SECONDS = 0.1
"""Between two questions whether there is a master again: an election takes about a second."""
_TIMER_VERSION = 413  # RocketMQ 5.0.0: the first that delivers at any time
_ROUTE_CODES = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_PERMISSION,
        # A broker that is a slave now: another one of its name is the master.
        ResponseCode.SERVICE_NOT_AVAILABLE,
        # A logical queue that was moved.
        ResponseCode.NOT_LEADER_FOR_QUEUE,
    }
)


@dataclass(frozen=True, slots=True)
class Sent:
    """The broker's answer to a send: ids, queue and offset."""

    said: SentHeader
    queue: MessageQueue
    durability: Durability
    region: str = DEFAULT_REGION
    is_traced: bool = True
    """Whether the broker wants its messages traced."""


class Watcher(Protocol):
    """An observer of every send, such as the trace."""

    def sent(self, draft: Draft, group: str, sent: Sent | None, cost_ms: int) -> None:
        """A send has ended; `sent` is None if it failed."""


class Delivery:
    """Delivers drafts for one client."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rounds: dict[str, QueueRound] = {}
        self._versions: dict[str, int] = {}
        table = session.options.latency_table
        self._faults = LatencyFaults(table) if table else None
        self.watcher: Watcher | None = None

    async def deliver(
        self,
        draft: Draft,
        *,
        group: str | None = None,
        queue: MessageQueue | None = None,
        timeout: float | None = None,
        retries: int = RETRIES,
        tries: SendTries | None = None,
    ) -> Sent:
        """Have a draft stored. SendFailed, or TopicNotFound if no broker has or creates the topic.

        `tries` are those of a send that began elsewhere, instead of a timeout and retries.
        """
        watcher, started_ms = self.watcher, self._session.clock.monotonic_ms()
        sent = None
        try:
            sent = await self._deliver(draft, group, queue, timeout, retries, tries)
            return sent
        finally:
            if watcher is not None:
                took_ms = self._session.clock.monotonic_ms() - started_ms
                watcher.sent(draft, group or self._session.options.group, sent, took_ms)

    async def _deliver(
        self,
        draft: Draft,
        group: str | None,
        queue: MessageQueue | None,
        timeout: float | None,
        retries: int,
        tries: SendTries | None,
    ) -> Sent:
        self._session.check()
        now = asyncio.get_running_loop().time
        if tries is None:
            deadline = now() + (self._session.options.timeout if timeout is None else timeout)
            tries = SendTries(draft.topic, retries=retries, deadline=deadline)
        while True:
            broker_name, has_replicas = "", False
            try:
                route = await self._route(draft.topic, tries.seconds_left(now()))
                chosen = self._choose(route, draft, queue, tries.failed_broker)
                broker_name = chosen.broker_name
                has_replicas = route.has_replicas(route.holder(chosen))
                if draft.order_by is not None:
                    queue = chosen  # also when the queues have become others by the next try
                pause = tries.pause(broker_name, now())
                if pause:
                    await asyncio.sleep(pause)
                if draft.is_timed:
                    await self._suit_delay(draft, route, chosen, tries.seconds_left(now()))
                command = self.command(draft, chosen, group)
                return await self._try(route, chosen, command, tries.seconds_left(now()))
            except (NoAnswer, RemoteAnswer) as error:
                if not tries.note(broker_name, error, now(), has_replicas=has_replicas):
                    raise tries.failure() from error
                self._look_again(draft.topic, error)

    def first_failed(
        self, topic: str, waiter: SendWaiter, error: NoAnswer | RemoteAnswer, retries: int
    ) -> SendTries:
        """The tries of a send whose first try failed on the fast path; SendFailed if no other is
        allowed. `topic` is as on the wire.
        """
        now = asyncio.get_running_loop().time()
        tries = SendTries(topic, retries=retries, deadline=waiter.deadline)
        if not tries.note(waiter.queue.broker_name, error, now):
            raise tries.failure() from error
        self._look_again(topic, error)
        return tries

    async def queue_for(
        self, draft: Draft, *, queue: MessageQueue | None = None, seconds: float
    ) -> MessageQueue:
        """The queue that a draft would go to now, for senders that need it beforehand."""
        route = await self._route(draft.topic, seconds)
        return self._choose(route, draft, queue, "")

    async def tell(
        self, draft: Draft, *, group: str | None = None, queue: MessageQueue | None = None
    ) -> None:
        """Send a draft one-way: no broker answers, and a loss is not noticed."""
        self._session.check()
        route = await self._session.routes.of(draft.topic, may_be_new=True)
        chosen = self._choose(route, draft, queue, "")
        command = self.command(draft, chosen, group)
        command.flag = ONEWAY_FLAG
        line = await self._line(self._master(route, chosen), self._session.options.timeout)
        self._session.connections.dress(command, line)
        line.tell(command)

    async def _try(
        self, route: ClientRoute, queue: MessageQueue, command: RemotingCommand, seconds: float
    ) -> Sent:
        started_ms = self._session.clock.monotonic_ms()
        try:
            line = await self._line(self._master(route, queue), seconds)
            self._session.connections.dress(command, line)
            answer = await line.ask(command, seconds)
        except NoAnswer:
            self._note_fault(queue, started_ms, is_isolated=True)
            raise
        durability = DURABILITIES.get(answer.code)
        if durability is None:
            self._note_fault(queue, started_ms, is_isolated=True, is_reachable=False)
            raise error_for(answer.code, answer.remark) or Refused(
                f"{answer.code} is no answer to a send", code=answer.code
            )
        self._note_fault(queue, started_ms)
        fields = answer.ext_fields
        said = read_header(SentHeader, fields)
        if said.queue_id != queue.queue_id:  # a priority, by a route that was out of date
            queue = replace(queue, queue_id=QueueId(said.queue_id))
        return Sent(
            said,
            queue,
            durability,
            fields.get(MESSAGE_REGION, DEFAULT_REGION),
            fields.get(TRACE_SWITCH) != "false",
        )

    async def _suit_delay(
        self, draft: Draft, route: ClientRoute, queue: MessageQueue, seconds: float
    ) -> None:
        """Write a delay so that the broker understands it: every answer has its version."""
        address = self._master(route, queue)
        version = self._versions.get(address)
        if version is None:
            line = await self._line(address, seconds)
            fields = {"topic": draft.topic, "queueId": str(queue.queue_id)}
            command = RemotingCommand(int(RequestCode.GET_MAX_OFFSET), ext_fields=fields)
            self._session.connections.dress(command, line)
            try:
                version = (await line.ask(command, seconds)).version
            except NoAnswer as error:
                # Of the question, not of the message: nothing of it was sent.
                raise Unreachable(error.message, address=address) from None
            self._versions[address] = version
        if version < _TIMER_VERSION:
            use_delay_level(draft.properties)

    async def _route(self, topic: str, seconds: float) -> ClientRoute:
        """The route of a topic. While its master is lost, another one is waited for."""
        route = self._session.routes.find(topic)
        if route is not None and route.writable:
            return route
        try:
            async with asyncio.timeout(seconds):
                while True:
                    route = await self._session.routes.refresh(topic, may_be_new=True)
                    if not route.waits_for_master:
                        return route
                    await asyncio.sleep(MASTER_PAUSE_SECONDS)
        except TimeoutError:
            raise self._no_route(topic, route) from None

    def _no_route(self, topic: str, route: ClientRoute | None) -> Unreachable:
        if route is not None and route.waits_for_master:
            return Unreachable(
                f"{topic} has no queue that can be written to: no broker of it has a master",
                address=";".join(route.brokers),
                hint="is a master running? A new one takes some seconds: raise timeout",
            )
        servers = ";".join(self._session.name_servers.addresses)
        return Unreachable(f"no name server told in time where {topic} is", address=servers)

    async def _line(self, address: str, seconds: float) -> Line:
        line = self._session.connections.find(address)
        if line is not None and not line.is_full:
            return line
        try:
            async with asyncio.timeout(seconds):
                line = await self._session.connections.to(address)
                await line.drained()
        except TimeoutError:
            raise Unreachable(
                f"nothing could be sent to {address} in time", address=address
            ) from None
        except Unreachable as error:
            raise self._session.with_advertiser(error) from None
        return line

    def _choose(
        self, route: ClientRoute, draft: Draft, wanted: MessageQueue | None, avoid: str
    ) -> MessageQueue:
        queues = route.writable
        if not queues:
            raise SendFailed(
                f"{draft.topic} has no queue that can be written to",
                stored=Stored.NO,
                hint="is the topic's permission 6?",
            )
        if wanted is not None:
            found = find_queue(queues, wanted)
            if found is None:
                raise Unreachable(
                    f"{wanted} is no queue that can be written to now",
                    address=wanted.broker_name,
                    hint=f"there are {len(queues)}: {', '.join(map(str, queues[:8]))}",
                )
            return found
        if draft.order_by is not None:
            return queue_for_key(queues, draft.order_by)
        taken = self._next_queue(draft.topic, queues, avoid)
        if draft.priority is None:
            return taken
        return queue_for_priority(queues, taken.broker_name, draft.priority)

    def _next_queue(self, topic: str, queues: Sequence[MessageQueue], avoid: str) -> MessageQueue:
        turn = self._rounds.get(topic)
        if turn is None:
            turn = self._rounds[topic] = QueueRound(random.randrange(1 << 16))
        if self._faults is None:
            return turn.take(queues, avoid=avoid)
        return turn.take_fast(queues, self._faults, self._session.clock.monotonic_ms(), avoid=avoid)

    def command(
        self, draft: Draft, queue: MessageQueue, group: str | None = None
    ) -> RemotingCommand:
        """The request that sends a draft to a queue."""
        options = self._session.options
        header = SendV2Header(
            producer_group=with_namespace(options.namespace, group or options.group),
            topic=draft.topic,
            queue_id=queue.queue_id,
            sys_flag=draft.sys_flag,
            born_timestamp=self._session.clock.now().wall_ms,
            properties=draft.properties_text().decode(),
            is_batch=draft.is_batch,
            broker_name=queue.broker_name,
        )
        code = RequestCode.SEND_BATCH_MESSAGE if draft.is_batch else RequestCode.SEND_MESSAGE_V2
        said = {**write_header(header), **(draft.fields or {})}
        return RemotingCommand(draft.code or int(code), ext_fields=said, body=draft.body)

    def _master(self, route: ClientRoute, queue: MessageQueue) -> str:
        address = route.master_of(queue)
        if address is None:
            raise Unreachable(
                f"no master of {queue.broker_name} is known", address=queue.broker_name
            )
        return address

    def _note_fault(
        self,
        queue: MessageQueue,
        started_ms: int,
        *,
        is_isolated: bool = False,
        is_reachable: bool = True,
    ) -> None:
        if self._faults is not None:
            now_ms = self._session.clock.monotonic_ms()
            self._faults.note(
                queue.broker_name,
                now_ms - started_ms,
                now_ms,
                is_isolated=is_isolated,
                is_reachable=is_reachable,
            )

    def _look_again(self, topic: str, error: AerobeeError) -> None:
        """Refresh the route of the topic, beside the next try."""
        if isinstance(error, RemoteAnswer) and error.code not in _ROUTE_CODES:
            return

        async def refresh() -> None:
            try:
                await self._session.routes.refresh(topic, may_be_new=True)
            except AerobeeError as no_route:  # the send says it, should it fail in the end
                _log.debug("the route of %s stays as it was: %s", topic, no_route)

        self._session.spawn(refresh(), f"asking for the route of {topic}")
