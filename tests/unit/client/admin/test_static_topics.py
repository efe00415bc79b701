import pytest

from aerobee.client.admin.admin import Admin
from aerobee.client.admin.static_topics import logical_progress, logical_stats
from aerobee.errors import Misuse
from aerobee.model.mapping_plan import StaticTopic
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.model.queue_mapping import UNDECIDED, MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.consume_stats import ConsumeProgress
from aerobee.protocol.bodies.topic_stats import QueueStats
from aerobee.testing import Cluster
from tests.admin_kit import with_admin

CHAIN = (
    MappingItem(0, 0, "a", 0),
    MappingItem(1, 0, "b", 10_000),
    MappingItem(2, 1, "b", UNDECIDED),
)
BROKERS = {"b": StaticTopic(TopicConfig("T"), TopicMapping("T", "b", 5, 1, {0: CHAIN}))}
A, B = MessageQueue("T", "a", QueueId(0)), MessageQueue("T", "b", QueueId(0))
LOGICAL = MessageQueue("T", "__syslo__global__", QueueId(0))


def test_logical_queues_begin_in_their_oldest_part_and_end_in_the_newest_that_can_be_read() -> None:
    queues = {A: QueueStats(3, 9, 1), B: QueueStats(0, 4, 2)}
    assert logical_stats("T", BROKERS, queues) == {LOGICAL: QueueStats(3, 10_004, 2)}
    assert logical_stats("T", BROKERS, {A: queues[A]}) == {}
    assert logical_stats("T", {}, queues) == {}


@pytest.mark.parametrize(
    ("on_a", "on_b", "consumed"), [(-1, -1, 0), (7, -1, 7), (7, 2, 10_002), (-1, 0, 10_000)]
)
def test_progress_is_that_of_the_newest_part_with_an_offset(
    on_a: int, on_b: int, consumed: int
) -> None:
    queues = {A: ConsumeProgress(9, on_a, 0, 1), B: ConsumeProgress(4, on_b, 0, 2)}
    progress = logical_progress("T", BROKERS, queues)[LOGICAL]
    assert (progress.broker_offset, progress.consumer_offset) == (10_004, consumed)
    assert logical_progress("T", BROKERS, {}) == {}


def test_a_plan_changes_nothing_until_it_is_applied_and_once_more_changes_nothing() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        plan = await admin.topics.static.plan_queues("T", 3)
        assert await admin.topics.static.mappings("T") == {}
        assert await admin.topics.static.apply(plan) == plan
        assert await admin.topics.static.mappings("T") == plan.brokers
        moved = await admin.topics.static.plan_move("T", on="broker-b")
        assert await admin.topics.static.mappings("T") == plan.brokers
        done = await admin.topics.static.apply(moved)
        assert await admin.topics.static.apply(moved) == done
        assert await admin.topics.static.mappings("T") == done.brokers
        with pytest.raises(Misuse, match="was changed since this plan"):
            await admin.topics.static.apply(plan)
        assert await admin.topics.static.mappings("T") == done.brokers

    with_admin(test, brokers=2)


def test_a_plan_for_a_broker_that_is_away_changes_nothing() -> None:
    async def test(admin: Admin, cluster: Cluster) -> None:
        plan = await admin.topics.static.plan_queues("T", 3)
        await cluster.stop_broker("broker-b")
        with pytest.raises(Misuse, match="broker-b"):
            await admin.topics.static.apply(plan)
        assert await admin.topics.static.mappings("T") == {}

    with_admin(test, brokers=2)
