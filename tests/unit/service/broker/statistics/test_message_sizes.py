"""Sizes of messages: exact where few came, a fair guess where many did."""

from aerobee.service.broker.statistics.message_sizes import (
    BOUNDS,
    UNITS_A_LOOK,
    UNITS_A_QUEUE,
    MessageSizes,
    units_a_queue,
)
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.consume_queue import ConsumeQueue

SMALL, MIDDLE, LARGE = 100, 5000, 3 << 20


def queue_of(sizes: list[int]) -> ConsumeQueue:
    queue = ConsumeQueue(SimDisk(), "queue", b"Orders", 0, 1000)
    position = 0
    for number, size in enumerate(sizes):
        assert queue.append(number, position, size, 0)
        position += size
    return queue


def test_each_message_is_in_its_bucket() -> None:
    sizes = MessageSizes()
    taken = [SMALL, LARGE, SMALL, MIDDLE, BOUNDS[0], BOUNDS[0] + 1]
    sizes.add("Orders", queue_of([7777, *taken]), 6, sum(taken), 64)
    ((topic, found),) = sizes
    assert (topic, found.counts, found.sum) == ("Orders", [3, 1, 1, 0, 0, 1, 0], sum(taken))
    sizes.add("Orders", queue_of([SMALL]), 1, SMALL, 64)
    assert (found.count, found.sum) == (7, sum(taken) + SMALL)


def test_of_many_messages_some_stand_for_all_and_number_and_sum_are_exact() -> None:
    taken = [SMALL, MIDDLE, MIDDLE] * 100
    sizes = MessageSizes()
    sizes.add("Orders", queue_of(taken), 300, sum(taken), 64)
    ((_, found),) = sizes
    assert (found.count, found.sum) == (300, sum(taken))
    assert found.counts[0] + found.counts[2] == 300
    assert 60 <= found.counts[0] <= 140


def test_what_is_hidden_already_has_the_size_of_its_neighbours() -> None:
    queue = queue_of([MIDDLE] * 10)
    queue.hide_before(8)
    sizes = MessageSizes()
    sizes.add("Orders", queue, 10, 10 * MIDDLE, 64)
    ((_, found),) = sizes
    assert found.counts[2] == 10


def test_nothing_is_nothing_and_topics_that_are_gone_are_forgotten() -> None:
    sizes = MessageSizes()
    sizes.add("Orders", queue_of([]), 0, 0, 64)
    assert list(sizes) == []
    for topic in ("Orders", "Gone"):
        sizes.add(topic, queue_of([SMALL]), 1, SMALL, 64)
    sizes.forget(lambda topic: topic == "Orders")
    assert [topic for topic, _ in sizes] == ["Orders"]


def test_a_look_costs_no_more_however_many_queues_there_are() -> None:
    assert [units_a_queue(count) for count in (0, 1, 64, 65, 4096, 100_000)] == [
        UNITS_A_QUEUE,
        UNITS_A_QUEUE,
        UNITS_A_LOOK // 64,
        UNITS_A_LOOK // 65,
        1,
        1,
    ]
