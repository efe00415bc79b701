"""Promises of static topics, as programs for three brokers of any make over real sockets: broker-a,
broker-b and broker-c of one name server.

PROGRAMS      each takes a `Topic` that nobody else uses
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

import pytest

from aerobee.client.admin.admin import Admin, admin
from aerobee.client.api.client_options import options_for
from aerobee.client.client import Client
from aerobee.errors import Misuse
from aerobee.model.group import GroupConfig
from aerobee.model.mapping_plan import BLOCK_OFFSETS, MappingPlan, StaticTopic
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.queue_mapping import UNDECIDED
from aerobee.protocol.bodies.queue_mapping import encode_mapping
from aerobee.protocol.headers.topics import CreateStaticTopicHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.broker_kit import pull_fields
from tests.hostile.server import send_fields
from tests.wire_client import WireClient

LOGICAL = "__syslo__global__"
QUEUES = 4
EACH = 20
"""Messages that a queue gets before and after each move."""
SECONDS_MAX = 120
PULL, QUERY, MAKE_STATIC, SEND = 11, 14, 513, 310
DONE, NOTHING_NEW, MOVED, NO_OFFSET, NOT_LEADER = 0, 19, 21, 22, 501


class Topic(NamedTuple):
    """A static topic, and the name server of its brokers."""

    name_server: str
    name: str

    def queue(self, number: int) -> MessageQueue:
        return MessageQueue(self.name, LOGICAL, QueueId(number))

    def client(self) -> Client:
        return Client(options_for(self.name_server, timeout=20))

    def admin(self) -> contextlib.AbstractAsyncContextManager[Admin]:
        return admin(self.name_server, timeout=20)


class Brokers:
    """Requests of the wire about a topic, each to a broker by its name."""

    def __init__(self, topic: str, addresses: Mapping[str, str]) -> None:
        self._topic = topic
        self._ports = {name: int(one.rpartition(":")[2]) for name, one in addresses.items()}

    def _ask(
        self, name: str, code: int, fields: Mapping[str, str], body: bytes = b""
    ) -> RemotingCommand:
        with WireClient(self._ports[name]) as broker:
            return broker.ask(code, fields, body)

    def own_offset(self, name: str, group: str, queue_id: int) -> int | None:
        """The offset of a group in a physical queue."""
        said = {"consumerGroup": group, "topic": self._topic, "queueId": str(queue_id)}
        answer = self._ask(name, QUERY, {**said, "setZeroIfNotFound": "false", "lo": "false"})
        return None if answer.code == NO_OFFSET else int(answer.ext_fields["offset"])

    def send(self, name: str, number: int) -> RemotingCommand:
        return self._ask(name, SEND, send_fields(self._topic, e=number), b"x")

    def pull(self, name: str, number: int, offset: int) -> tuple[int, int]:
        """The code of the answer, and the offset to go on at."""
        fields = pull_fields(topic=self._topic, queueId=number, queueOffset=offset)
        answer = self._ask(name, PULL, fields)
        return answer.code, int(answer.ext_fields["nextBeginOffset"])

    def put(self, name: str, one: StaticTopic) -> int:
        """Tell a broker what it has of the topic; the code of its answer."""
        header = CreateStaticTopicHeader(
            self._topic, one.config.read_queues, one.config.write_queues, one.config.permission
        )
        return self._ask(name, MAKE_STATIC, write_header(header), encode_mapping(one.mapping)).code


@contextlib.asynccontextmanager
async def at_work(topic: Topic) -> AsyncIterator[tuple[Admin, Client, Brokers]]:
    async with topic.admin() as tool, topic.client() as client:
        addresses = {one.name: one.addresses[0] for one in (await tool.cluster()).brokers}
        yield tool, client, Brokers(topic.name, addresses)


class Traffic:
    """A producer for each queue, and a consumer of them all."""

    def __init__(self, topic: Topic) -> None:
        self._topic = topic
        self.sent: dict[int, list[bytes]] = {number: [] for number in range(QUEUES)}
        self.got: dict[int, list[tuple[int, bytes]]] = {number: [] for number in range(QUEUES)}
        self._news = asyncio.Condition()
        self._is_over = asyncio.Event()

    async def _tell(self) -> None:
        async with self._news:
            self._news.notify_all()

    async def _wait_for(self, is_enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS_MAX), self._news:
            await self._news.wait_for(is_enough)

    async def _produce(self, number: int) -> None:
        async with self._topic.client() as client:
            while not self._is_over.is_set():
                body = b"%d %d" % (number, len(self.sent[number]))
                queue = self._topic.queue(number)
                await client.send(self._topic.name, body, queue=queue, retries=20)
                self.sent[number].append(body)
                await self._tell()

    async def _consume(self) -> None:
        async with (
            self._topic.client() as client,
            client.consumer(
                self._topic.name, group=self._topic.name, start="earliest", order="queue"
            ) as consumer,
        ):
            async for message in consumer:
                self.got[message.queue.queue_id].append((message.offset, message.body))
                await message.ack()
                await self._tell()

    def _has_more(self, counts: Sequence[int]) -> bool:
        return all(len(self.sent[n]) > EACH + count for n, count in enumerate(counts))

    async def goes_on(self) -> None:
        """Wait until each queue has got some more messages."""
        counts = [len(bodies) for bodies in self.sent.values()]
        await self._wait_for(partial(self._has_more, counts))

    def _is_consumed(self) -> bool:
        return all({body for _, body in self.got[n]} >= set(self.sent[n]) for n in self.sent)

    async def while_it_runs(self, do: Callable[[], Awaitable[None]]) -> None:
        """Do something; then end, once everything is consumed."""
        async with asyncio.TaskGroup() as tasks:
            consuming = tasks.create_task(self._consume())
            producing = [tasks.create_task(self._produce(number)) for number in range(QUEUES)]
            await do()
            self._is_over.set()
            await asyncio.gather(*producing)
            await self._wait_for(self._is_consumed)
            consuming.cancel()


async def all_is_there_and_in_order_after_moves_under_traffic(topic: Topic) -> None:
    traffic = Traffic(topic)

    async def move() -> None:
        for on in (("broker-b",), ("broker-a", "broker-c"), ("broker-b", "broker-c")):
            await traffic.goes_on()
            await tool.topics.static.move(topic.name, on=on)
        await traffic.goes_on()

    async with topic.admin() as tool:
        await tool.topics.static.create(topic.name, queues=QUEUES, on="broker-a")
        await traffic.while_it_runs(move)
    for number, bodies in traffic.sent.items():
        offsets = [offset for offset, _ in traffic.got[number]]
        assert offsets == sorted(set(offsets))
        # A send that was tried again may be stored twice, as always.
        assert list(dict.fromkeys(body for _, body in traffic.got[number])) == bodies
        assert offsets[-1] > BLOCK_OFFSETS


async def offsets_are_looked_for_on_the_brokers_that_had_the_queue(topic: Topic) -> None:
    queue = topic.queue(0)
    async with at_work(topic) as (tool, client, brokers):

        async def offsets(group: str) -> tuple[int | None, list[int | None]]:
            """That of the logical queue, and what each broker has."""
            known = [brokers.own_offset(name, group, 0) for name in ("broker-a", "broker-b")]
            return await tool.offsets.committed(group, queue), known

        async def send(count: int) -> None:
            for _ in range(count):
                await client.send(topic.name, b"x", queue=queue)

        await tool.topics.static.create(topic.name, queues=1, on="broker-a")
        await send(4)
        for group, offset in (("early", 3), ("late", 1)):
            await tool.groups.put(GroupConfig(group))
            await tool.offsets.commit(group, queue, offset)
        await tool.topics.static.move(topic.name, on="broker-b")
        await send(2)
        # Nothing was copied: broker-b asks broker-a.
        assert await offsets("early") == (3, [3, None])
        assert await offsets("nobody") == (None, [None, None])
        # A commit goes to the part that it is of, and the newest part with an offset is believed.
        await tool.offsets.commit("late", queue, 4)
        assert await offsets("late") == (4, [4, None])
        await tool.offsets.commit("late", queue, BLOCK_OFFSETS + 1)
        assert await offsets("late") == (BLOCK_OFFSETS + 1, [4, 1])
        await tool.topics.static.move(topic.name, on="broker-c")
        assert await offsets("early") == (3, [3, None])
        assert await offsets("late") == (BLOCK_OFFSETS + 1, [4, 1])
        assert await offsets("nobody") == (None, [None, None])


async def a_queue_that_is_half_moved_is_written_and_not_read(topic: Topic) -> None:
    queue = topic.queue(0)
    async with at_work(topic) as (tool, client, brokers):
        await tool.topics.static.create(topic.name, queues=1, on="broker-a")
        for _ in range(3):
            await client.send(topic.name, b"x", queue=queue)
        plan = await tool.topics.static.plan_move(topic.name, on="broker-b")
        for name in ("broker-b", "broker-a"):  # and then the tool dies
            assert brokers.put(name, plan.brokers[name]) == DONE
        sent = brokers.send("broker-b", 0)
        assert (sent.code, sent.ext_fields["queueOffset"]) == (DONE, str(UNDECIDED))
        assert brokers.send("broker-a", 0).code == NOT_LEADER
        assert brokers.pull("broker-b", 0, 2) == (DONE, 3)
        assert brokers.pull("broker-b", 0, 3) == (NOTHING_NEW, 3)
        await tool.topics.static.apply(plan)
        assert await tool.offsets.bounds(queue) == (0, BLOCK_OFFSETS + 1)
        assert brokers.pull("broker-b", 0, BLOCK_OFFSETS) == (DONE, BLOCK_OFFSETS + 1)


async def negative_offsets_are_refused(topic: Topic) -> None:
    async with at_work(topic) as (tool, client, brokers):
        await tool.topics.static.create(topic.name, queues=1, on="broker-a")
        await client.send(topic.name, b"x", queue=topic.queue(0))
        await tool.topics.static.move(topic.name, on="broker-b")
        for offset in (-1, -7):
            assert brokers.pull("broker-b", 0, offset) == (MOVED, 0)
        known = await tool.topics.static.mappings(topic.name)
        plan = await tool.topics.static.plan_move(topic.name, on="broker-c")
        with pytest.raises(Misuse, match="has negative logic offset"):
            await tool.topics.static.apply(without_first_offsets(plan))
        assert await tool.topics.static.mappings(topic.name) == known


def without_first_offsets(plan: MappingPlan) -> MappingPlan:
    """A plan whose oldest parts have no logical offset."""

    def changed(one: StaticTopic) -> StaticTopic:
        chains = {
            number: (replace(chain[0], logic_offset=UNDECIDED), *chain[1:])
            for number, chain in one.mapping.hosted.items()
        }
        return replace(one, mapping=replace(one.mapping, hosted=chains))

    return replace(plan, brokers={name: changed(one) for name, one in plan.brokers.items()})


Program: TypeAlias = Callable[[Topic], Coroutine[None, None, None]]
PROGRAMS: tuple[Program, ...] = (
    all_is_there_and_in_order_after_moves_under_traffic,
    offsets_are_looked_for_on_the_brokers_that_had_the_queue,
    a_queue_that_is_half_moved_is_written_and_not_read,
    negative_offsets_are_refused,
)


def run(program: Program, name_server: str) -> None:
    asyncio.run(program(Topic(name_server, program.__name__)))
