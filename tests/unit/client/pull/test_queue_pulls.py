import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.api.client_options import options_for
from aerobee.client.client import Client
from aerobee.client.core.consume.silent_brokers import AVOID_MS
from aerobee.client.group.group_requests import GroupRequests
from aerobee.client.pull.queue_pulls import ANSWER_SECONDS, PullOutcome, QueuePulls
from aerobee.errors import NoAnswer, RequestTimeout, Retriable
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.testing import Cluster
from aerobee.testing.movable_clock import MovableClock
from tests.admin_kit import with_admin
from tests.client_kit import LocalCluster, with_cluster
from tests.consume_kit import Wire
from tests.pull_server import PullServer

QUEUE = MessageQueue("orders", "broker-a", QueueId(0))
WANTED = make_subscription("orders", "a")


def test_an_answer_is_messages_or_nothing_or_another_place(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire, session = Wire(client), client._session
            await wire.make_topic("orders", 1)
            await wire.send("orders", b"one", TAGS="a")
            await wire.send("orders", b"two", TAGS="b")
            await session.members.consume(ConsumerBeat("g", subscriptions=(WANTED,)))
            calls = GroupRequests(session, "g")
            pulls = QueuePulls(session, calls, QUEUE, WANTED, count=32, poll_seconds=0.01)
            found = await pulls.pull(0, None)
            assert (found.outcome, found.next_offset) == (PullOutcome.FOUND, 2)
            assert b"one" in found.records
            nothing = await pulls.pull(1, 1)
            assert (nothing.outcome, nothing.next_offset) == (PullOutcome.NOTHING, 2)
            assert await calls.committed(QUEUE) == 1
            moved = await pulls.pull(77, None)
            assert (moved.outcome, moved.next_offset) == (PullOutcome.MOVED, 2)
            await pulls.start_over()

    with_cluster(tmp_path, test)


def test_a_logical_queue_is_followed_to_another_broker_and_no_pull_commits() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        queue = MessageQueue("orders", "__syslo__global__", QueueId(0))
        every = make_subscription("orders", "*")
        await admin.topics.static.create("orders", queues=1, on="broker-a")
        await cluster.client.send("orders", b"one")
        session = cluster.client._session
        await session.members.consume(ConsumerBeat("g", subscriptions=(every,)))
        calls = GroupRequests(session, "g")
        pulls = QueuePulls(session, calls, queue, every, count=32, poll_seconds=0.01)
        found = await pulls.pull(0, None)
        assert (found.next_offset, found.offset_delta) == (1, 0)
        await admin.topics.static.move("orders", on="broker-b")
        with pytest.raises(Retriable, match="NOT_LEADER"):
            await pulls.pull(1, 1)
        assert (await pulls.pull(1, 1)).next_offset == 10_000
        await cluster.client.send("orders", b"two")
        found = await pulls.pull(10_000, 10_000)
        assert (found.next_offset, found.offset_delta) == (10_001, 10_000)
        assert await calls.committed(queue, is_exact=True) is None

    with_admin(test, brokers=2)


def test_a_broker_that_does_not_know_us_yet_is_told(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            session = client._session
            await Wire(client).make_topic("orders", 1)
            pulls = QueuePulls(
                session, GroupRequests(session, "g"), QUEUE, WANTED, count=1, poll_seconds=0.01
            )
            with pytest.raises(Retriable):
                await pulls.pull(0, None)

    with_cluster(tmp_path, test)


def test_from_the_second_on_a_pull_takes_the_broker_s_short_way(tmp_path: Path) -> None:
    async def test(cluster: LocalCluster) -> None:
        async with cluster.client() as client:
            wire, session = Wire(client), client._session
            await wire.make_topic("orders", 1)
            for _ in range(6):
                await wire.send("orders", b"one", TAGS="a")
            await session.members.consume(ConsumerBeat("g", subscriptions=(WANTED,)))
            pulls = QueuePulls(
                session, GroupRequests(session, "g"), QUEUE, WANTED, count=1, poll_seconds=0.01
            )
            before = cluster.short_pulls("broker-a")
            for offset in range(6):  # the first commits nothing and is another kind
                assert (await pulls.pull(offset, offset)).next_offset == offset + 1
            assert cluster.short_pulls("broker-a") - before == 4

    with_cluster(tmp_path, test)


class Pair:
    """A master and a slave by a script, and the pulls of a client that has both in its route."""

    def __init__(self, client: Client, clock: MovableClock, name_server: str) -> None:
        self.master, self.slave = PullServer(), PullServer()
        self.client, self.clock = client, clock
        self.name_server = name_server
        session = client._session
        self.pulls = QueuePulls(
            session, GroupRequests(session, "g"), QUEUE, WANTED, count=1, poll_seconds=0.01
        )

    async def pulled(self, offset: int = 5, commit: int | None = None) -> str:
        """Who was asked by the next pull; it may fail."""
        before = len(self.master.pulls)
        with contextlib.suppress(NoAnswer, Retriable):
            await self.pulls.pull(offset, commit)
        return "master" if len(self.master.pulls) > before else "slave"

    async def register(self, *ids: int) -> None:
        for number in ids:
            server = (self.master, self.slave)[number]
            await server.register(self.client, self.name_server, number)
        await self.client._session.routes.refresh("orders")


def with_pair(folder: Path, test: Callable[[Pair], Awaitable[None]], timeout: float = 60) -> None:
    async def run(cluster: LocalCluster) -> None:
        clock = MovableClock()
        options = options_for(cluster.address, timeout=timeout, connect_timeout=60)
        async with Client(options, clock=clock) as client:
            pair = Pair(client, clock, cluster.address)
            async with pair.master.running(), pair.slave.running():
                await test(pair)

    with_cluster(folder, run, brokers=0)


def test_a_pull_goes_where_the_last_answer_said_and_commits_only_at_the_master(
    tmp_path: Path,
) -> None:
    async def test(pair: Pair) -> None:
        await pair.register(0, 1)
        pair.master.suggested, pair.slave.suggested = 1, 0
        asked = [await pair.pulled(commit=4) for _ in range(4)]
        assert asked == ["master", "slave", "master", "slave"]
        assert pair.master.pulls == [(True, True)] * 2
        assert pair.slave.pulls == [(True, False)] * 2

    with_pair(tmp_path, test)


def test_a_slave_is_pulled_from_while_no_route_has_a_master(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        await pair.register(1)
        assert [await pair.pulled(commit=4) for _ in range(2)] == ["slave", "slave"]
        assert pair.slave.pulls == [(True, False)] * 2
        await pair.register(0)
        assert await pair.pulled() == "master"

    with_pair(tmp_path, test)


def test_a_master_that_does_not_answer_is_avoided_and_tried_again_by_a_short_pull(
    tmp_path: Path,
) -> None:
    async def test(pair: Pair) -> None:
        await pair.register(0, 1)
        silent = pair.client._session.silent
        silent.note(pair.master.address, pair.clock.now().monotonic_ms)
        pair.master.is_hanging = True
        assert [await pair.pulled() for _ in range(3)] == ["slave"] * 3
        pair.clock.advance(AVOID_MS / 1000)
        started = asyncio.get_running_loop().time()
        with pytest.raises(RequestTimeout):
            await pair.pulls.pull(5, None)
        assert asyncio.get_running_loop().time() - started < ANSWER_SECONDS / 2
        assert pair.master.pulls == [(False, False)]
        await pair.pulls.start_over()
        assert [await pair.pulled() for _ in range(2)] == ["slave"] * 2
        pair.clock.advance(AVOID_MS / 1000)
        pair.master.is_hanging = False
        assert [await pair.pulled() for _ in range(2)] == ["master"] * 2
        assert pair.master.pulls[1:] == [(False, False), (True, False)]
        assert not silent

    with_pair(tmp_path, test, timeout=0.5)


def test_a_broker_that_cannot_be_reached_is_avoided_at_once(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        pair.master.address = "127.0.0.1:1"
        await pair.register(0, 1)
        with pytest.raises(NoAnswer):
            await pair.pulls.pull(5, None)
        await pair.pulls.start_over()
        assert [await pair.pulled() for _ in range(2)] == ["slave"] * 2
        assert len(pair.slave.pulls) == 2

    with_pair(tmp_path, test)


@pytest.mark.parametrize(
    ("code", "next_offset", "is_lacking"),
    [(21, 2, True), (21, 7, True), (20, 5, True), (20, 7, False)],
)
def test_what_a_slave_lacks_moves_nobody(
    tmp_path: Path, code: int, next_offset: int, is_lacking: bool
) -> None:
    async def test(pair: Pair) -> None:
        await pair.register(1)
        pair.slave.code, pair.slave.next_offset = code, next_offset
        if is_lacking:
            with pytest.raises(
                Retriable, match=r"slave 127\S+ does not have orders@broker-a:0 at 5"
            ):
                await pair.pulls.pull(5, None)
            await pair.register(0)
            assert await pair.pulled() == "master"
        else:
            assert (await pair.pulls.pull(5, None)).next_offset == next_offset

    with_pair(tmp_path, test)


def test_a_slave_that_lets_nobody_read_leaves_its_master(tmp_path: Path) -> None:
    async def test(pair: Pair) -> None:
        await pair.register(0, 1)
        pair.master.suggested, pair.slave.code = 1, 2
        assert [await pair.pulled() for _ in range(4)] == ["master", "slave", "master", "master"]

    with_pair(tmp_path, test)
