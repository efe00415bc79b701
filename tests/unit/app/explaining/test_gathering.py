"""Every cause, brought about on a real broker, gathered and explained."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from aerobee.app.explaining.findings import Cause, CauseFinding
from aerobee.app.explaining.gathering import Gathering, born_ms
from aerobee.app.explaining.group_causes import explain_group
from aerobee.app.explaining.message_causes import explain_message
from aerobee.client.admin.admin import Admin, admin
from aerobee.client.consumer.consumer import Consumer
from aerobee.model.group import GroupConfig
from aerobee.model.message_id import UniqueId
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import retry_topic
from aerobee.testing import Cluster
from tests.admin_kit import join
from tests.net_kit import in_loop

SECONDS_MAX = 150
NOBODYS_ID = "C0000202000000000000000000010001"


class Scene:
    """A cluster with a topic of one queue, and what is asked of it."""

    def __init__(self, cluster: Cluster, tool: Admin) -> None:
        self.cluster = cluster
        self.client = cluster.client
        self.tool = tool

    async def send(self, **said: Any) -> str:
        return (await self.client.send("orders", b"x", **said)).message_id

    @contextlib.asynccontextmanager
    async def consumer(self, group: str = "g", **said: Any) -> AsyncIterator[Consumer]:
        async with (
            self.cluster.connect() as client,
            client.consumer("orders", group=group, **{"start": "earliest", **said}) as consumer,
        ):
            yield consumer

    def _gathering(self) -> Gathering:
        return Gathering(self.tool, lambda: self.cluster.clock.now().wall_ms)

    async def message(
        self, message_id: str, group: str = "g", topic: str = ""
    ) -> list[CauseFinding]:
        facts, groups = await self._gathering().message(message_id, topic=topic, group=group)
        return explain_message(facts, groups)

    async def group(self, group: str = "g") -> list[CauseFinding]:
        return explain_group(await self._gathering().group(group))

    async def why(self, message_id: str, cause: Cause, said: str, group: str = "g") -> CauseFinding:
        """The one finding of a message, once it is this."""
        return await self._until(lambda: self.message(message_id, group), cause, said)

    async def what(self, cause: Cause, said: str, group: str = "g") -> CauseFinding:
        """A finding of a group, once there is this."""
        return await self._until(lambda: self.group(group), cause, said)

    async def _until(
        self, ask: Callable[[], Awaitable[Sequence[CauseFinding]]], cause: Cause, said: str
    ) -> CauseFinding:
        seen: Sequence[CauseFinding] = ()
        try:
            async with asyncio.timeout(SECONDS_MAX):
                while True:
                    seen = await ask()
                    for one in seen:
                        if one.cause is cause and said in one.text:
                            return one
        except TimeoutError:
            raise AssertionError(f"not {cause} {said!r} but {seen}") from None


Test = Callable[[Scene], Awaitable[None]]


def with_scene(test: Test, *, settings: dict[str, str] | None = None) -> None:
    async def run() -> None:
        async with (
            Cluster(settings=settings) as cluster,
            admin(cluster.address, timeout=60, connect_timeout=60) as tool,
        ):
            await tool.topics.create("orders", queues=1)
            await test(Scene(cluster, tool))

    in_loop(run)


# Of a message, whatever the group.


def test_an_id_that_nobody_has_seen_is_not_found() -> None:
    async def test(scene: Scene) -> None:
        await scene.send()
        (one,) = await scene.message(NOBODYS_ID[:-2] + "FF", topic="orders")
        assert one.cause in (Cause.NOT_FOUND, Cause.EXPIRED)
        (one,) = await scene.message("nonsense", topic="orders")
        assert one.cause is Cause.NOT_FOUND
        assert one.next == "aerobee message get orders nonsense"

    with_scene(test)


def test_a_topic_that_no_broker_has_has_no_route() -> None:
    async def test(scene: Scene) -> None:
        (one,) = await scene.message("nonsense", topic="nowhere")
        assert one.cause is Cause.NO_ROUTE
        assert one.next == "aerobee topic route nowhere"
        message_id = await scene.send()
        await scene.tool.topics.forget("orders")
        (one,) = await scene.message(message_id, topic="orders")
        assert one.cause is Cause.NO_ROUTE

    with_scene(test)


def test_a_message_whose_log_was_deleted_has_expired() -> None:
    async def test(scene: Scene) -> None:
        receipt = await scene.client.send("orders", b"x" * 60_000, compress=False)
        while (await scene.tool.brokers.runtime())["broker-a"].log_start == 0:
            await scene.client.send("orders", b"x" * 60_000, compress=False)
            scene.cluster.clock.advance(3600)
            await scene.tool.brokers.delete_expired_log()
        for message_id in (receipt.offset_id, receipt.message_id):
            await scene.why(message_id, Cause.EXPIRED, "its log was deleted")

    with_scene(test, settings={"mappedFileSizeCommitLog": "131072", "fileReservedTime": "1"})


def test_a_transaction_that_is_open_is_half_and_one_rolled_back_never_comes() -> None:
    async def test(scene: Scene) -> None:
        with contextlib.suppress(ZeroDivisionError):
            async with scene.client.transaction(
                "orders", b"x", group="tx", check=lambda message: None
            ) as transaction:
                message_id = transaction.message_id
                one = await scene.why(message_id, Cause.HALF, "for orders, by the producers of tx")
                assert one.next == f"aerobee transaction commit {message_id} --dry-run"
                raise ZeroDivisionError
        await scene.why(message_id, Cause.ROLLED_BACK, "orders never had it")

    with_scene(test)


@pytest.mark.parametrize("seconds", [3600, 60.5])
def test_a_message_that_is_not_due_yet_is_delayed(seconds: float) -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send(delay=seconds)
        one = await scene.why(message_id, Cause.DELAYED, "it is to be delivered to orders at ")
        assert one.text.endswith(" UTC")
        scene.cluster.clock.advance(seconds + 5)
        await scene.why(message_id, Cause.NO_GROUP, "nobody of it is online")

    with_scene(test)


# Of a message and a group.


def test_a_message_goes_from_not_reached_over_in_hand_to_consumed() -> None:
    async def test(scene: Scene) -> None:
        first, second, third = [await scene.send() for _ in range(3)]
        async with scene.consumer(
            queue_messages_max=1, pull_batch=1, commit_every=0.05
        ) as consumer:
            message = await anext(consumer)
            assert message.message_id == first
            one = await scene.why(first, Cause.IN_HAND, "has it, and has not said")
            assert one.next.startswith("aerobee mqadmin consumerStatus -g g -i ")
            await scene.why(third, Cause.NOT_REACHED, "2 messages of orders@broker-a:0 come before")
            await message.ack()
            await scene.why(first, Cause.CONSUMED, "the group is past it: at 1")
            for wanted in (second, third):
                message = await anext(consumer)
                assert message.message_id == wanted
                await message.ack()
            await scene.why(third, Cause.CONSUMED, "at 3 of orders@broker-a:0")

    with_scene(test)


def test_a_message_whose_tag_is_not_wanted_is_filtered() -> None:
    async def test(scene: Scene) -> None:
        passed, wanted, coming = [await scene.send(tag=tag) for tag in "aba"]
        async with scene.consumer(tags="b", commit_every=0.05, queue_messages_max=1) as consumer:
            message = await anext(consumer)
            assert message.message_id == wanted
            await message.ack()
            said = "its tag is 'a', wanted is 'b'"
            one = await scene.why(passed, Cause.FILTERED, f"it was passed over: {said}")
            assert one.next == "aerobee group subscriptions g"
            await scene.why(coming, Cause.FILTERED, said)

    with_scene(test)


def test_a_message_that_does_not_fulfil_a_condition_is_filtered() -> None:
    async def test(scene: Scene) -> None:
        cheap = await scene.send(headers={"amount": "5"})
        dear = await scene.send(headers={"amount": "500"})
        async with scene.consumer(sql="amount > 100", commit_every=0.05) as consumer:
            message = await anext(consumer)
            assert message.message_id == dear
            await message.ack()
            await scene.why(cheap, Cause.FILTERED, "do not fulfil 'amount > 100'")
            await scene.why(dear, Cause.CONSUMED, "past it")

    with_scene(test)


def test_members_that_disagree_are_a_mismatch() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send(tag="c")
        async with scene.cluster.connect() as one, scene.cluster.connect() as other:
            await join(one, "g", "orders", "a")
            await join(other, "g", "orders", "b")
            found = await scene.why(message_id, Cause.MISMATCH, "members disagree on orders")
            assert f"{one.id} wants 'TAG: a'" in found.text
            assert f"{other.id} wants 'TAG: b'" in found.text
            await scene.what(Cause.MISMATCH, "some miss messages")
            await scene.what(Cause.SILENT, "did not say which queues")

    with_scene(test)


def test_nobody_waits_long_for_a_member_that_does_not_answer() -> None:
    async def test(scene: Scene) -> None:
        async with scene.consumer():
            there = (await scene.tool.connections.consumers("g")).clients
            gathering = Gathering(scene.tool, lambda: 0, member_seconds=0)
            facts = await gathering.group("g")
            assert facts.silent == tuple(one.client_id for one in there)

    with_scene(test)


def test_a_group_that_wants_other_topics_does_not_subscribe() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        await scene.tool.topics.create("bills")
        async with scene.cluster.connect() as client:
            await join(client, "g", "bills")
            found = await scene.why(message_id, Cause.NOT_SUBSCRIBED, "do not subscribe to orders")
            assert "only to bills" in found.text

    with_scene(test)


class _Nobody:
    """A way to share queues out that gives none to anybody."""

    name = "NOBODY"

    def share(
        self, member: str, queues: Sequence[MessageQueue], members: Sequence[str]
    ) -> list[MessageQueue]:
        return []


def test_a_queue_that_no_member_has_is_unassigned() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(strategy=_Nobody()):
            said = "none of 1 members has orders@broker-a:0, 1 behind"
            await scene.why(message_id, Cause.UNASSIGNED, said)
            await scene.what(Cause.UNASSIGNED, said)

    with_scene(test)


def test_a_queue_that_is_paused_or_not_pulled_for_long_is_said_to_be() -> None:
    async def test(scene: Scene) -> None:
        async with scene.consumer(queue_messages_max=1, pull_batch=1, grace=0.01) as consumer:
            await scene.send()
            message = await anext(consumer)
            consumer.pause(message.queue)
            waiting = await scene.send()
            await scene.why(waiting, Cause.PAUSED, "has paused orders@broker-a:0, 2 behind")
            await scene.what(Cause.PAUSED, "has paused orders@broker-a:0")
            consumer.resume(message.queue)
            scene.cluster.clock.advance(600)
            one = await scene.why(waiting, Cause.STUCK, "has not pulled orders@broker-a:0 for 6")
            assert one.next.startswith("aerobee mqadmin consumerStatus -g g -i ")
            await scene.what(Cause.STUCK, "its handlers do not end")

    with_scene(test)


def test_a_group_that_nobody_is_in_has_no_members() -> None:
    async def test(scene: Scene) -> None:
        await scene.send()
        async with scene.consumer() as consumer:
            await (await anext(consumer)).ack()
        message_id = await scene.send()
        await scene.why(message_id, Cause.NO_MEMBERS, "start its consumers")
        await scene.what(Cause.NO_MEMBERS, "nobody of the group is online")
        await scene.what(Cause.BEHIND, "1 behind in orders")

    with_scene(test)


def test_a_message_that_failed_is_in_retry_until_it_is_due_and_consumed() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(commit_every=0.05, rebalance_every=0.05) as consumer:
            await (await anext(consumer)).nack()
            one = await scene.why(message_id, Cause.IN_RETRY, "it failed 1 times and comes again")
            assert "at delay level " in one.text
            consumer.pause()
            scene.cluster.clock.advance(60)
            await scene.why(message_id, Cause.IN_RETRY, f"is due: it waits in {retry_topic('g')}@")
            consumer.resume()
            message = await anext(consumer)
            assert message.attempt == 2
            await message.ack()
            await scene.why(message_id, Cause.CONSUMED, "after 1 retries")

    with_scene(test)


def test_a_popped_message_belongs_to_nobody_until_it_is_acknowledged() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(mode="pop", invisible=200.0, grace=0.01) as consumer:
            assert (await anext(consumer)).message_id == message_id
            await scene.why(message_id, Cause.NOT_REACHED, "nobody has acknowledged it")
            scene.cluster.clock.advance(300)
            again = await anext(consumer)
            assert (again.message_id, again.attempt) == (message_id, 2)
            await scene.why(message_id, Cause.IN_RETRY, f"it waits in {retry_topic('g')}_orders@")
            await again.ack()
            scene.cluster.clock.advance(300)
            await scene.why(message_id, Cause.CONSUMED, "after 1 retries")

    with_scene(test)


def test_a_message_that_was_given_up_is_a_dead_letter() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(commit_every=0.05) as consumer:
            await (await anext(consumer)).reject(reason="never")
            one = await scene.why(message_id, Cause.DEAD_LETTER, "given up after ")
            assert one.next == f"aerobee dlq resend g {message_id} --dry-run"
            one = await scene.what(Cause.DEAD_LETTERS, "it has given up 1")
            assert one.next == "aerobee dlq show g"

    with_scene(test)


def test_what_is_broadcast_is_not_known_to_brokers(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(model="broadcasting", offsets_folder=tmp_path):
            await scene.why(message_id, Cause.BROADCAST, "each of 1 members gets it")

    with_scene(test)


# Of a group.


def test_a_group_that_nobody_has_heard_of_is_no_group() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        await scene.why(message_id, Cause.NO_GROUP, "no broker has the group", group="nobody")
        (one,) = await scene.group("nobody")
        assert one.cause is Cause.NO_GROUP

    with_scene(test)


def test_a_group_may_be_disabled_forbidden_or_kept_from_a_topic() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        await scene.tool.groups.put(GroupConfig("g", is_enabled=False))
        one = await scene.why(message_id, Cause.DISABLED, "lets nobody of the group consume")
        assert one.next == "aerobee mqadmin updateSubGroup -c CLUSTER -g g -s true"
        await scene.tool.groups.put(GroupConfig("g"))
        await scene.tool.groups.allow("g", "orders", is_allowed=False)
        await scene.why(message_id, Cause.FORBIDDEN, "may not read orders")
        await scene.tool.groups.allow("g", "orders")
        async with scene.consumer():
            await scene.tool.topics.set_permission("orders", 2)
            one = await scene.why(message_id, Cause.NOT_READABLE, "may not be read")
            assert one.next == "aerobee topic update orders --permission RW --on broker-a"

    with_scene(test)


def test_a_group_that_has_consumed_everything_is_well() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer(commit_every=0.05) as consumer:
            await (await anext(consumer)).ack()
            await scene.why(message_id, Cause.CONSUMED, "past it")
            one = await scene.what(Cause.WELL, "1 member, nothing waits")
            assert one.next == "aerobee group describe g"

    with_scene(test)


# How it is gathered.


def test_without_a_topic_and_a_group_all_are_searched() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        async with scene.consumer("one") as first, scene.consumer("two") as second:
            await (await anext(first)).ack()
            await (await anext(second)).ack()
            await first.commit()
            await second.commit()
            told = []
            now = scene.cluster.clock.now
            gathering = Gathering(scene.tool, lambda: now().wall_ms, lambda: told.append(1))
            facts, groups = await gathering.message(message_id)
        assert facts.topic == "orders"
        assert [one.group for one in groups] == ["one", "two"]
        assert len(told) > 1

    with_scene(test)


def test_an_id_says_when_it_was_made() -> None:
    async def test(scene: Scene) -> None:
        message_id = await scene.send()
        now_ms = scene.cluster.clock.now().wall_ms
        assert abs(born_ms(message_id, now_ms) - now_ms) < 15 * 3_600_000
        assert born_ms("nonsense", now_ms) == 0

    with_scene(test)


def test_an_id_of_a_later_day_than_today_is_of_the_month_before() -> None:
    at_noon_of_the_second = 1_704_196_800_000  # 2024-01-02 12:00 UTC
    made = UniqueId("192.0.2.2", 1, 1, 20 * 86_400_000, 1)
    assert born_ms(str(made), at_noon_of_the_second) == 1_701_388_800_000 + 20 * 86_400_000
