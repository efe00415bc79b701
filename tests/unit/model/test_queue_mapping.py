import pytest

from aerobee.model.queue_mapping import (
    NO_BROKER,
    UNDECIDED,
    MappingInfo,
    MappingItem,
    TopicMapping,
    decided_items,
    find_item,
    find_next,
    is_logical_broker,
    leading_brokers,
    logical_broker,
)

FIRST = MappingItem(0, 1, "a", 0)
SECOND = MappingItem(1, 0, "b", 10_000)
OPEN = MappingItem(2, 3, "c", UNDECIDED)
CHAIN = (FIRST, SECOND, OPEN)


def test_an_offset_is_translated_both_ways() -> None:
    assert (SECOND.logical(0), SECOND.logical(7)) == (10_000, 10_007)
    assert SECOND.physical(10_007) == 7
    assert SECOND.delta == 10_000
    late = MappingItem(1, 0, "b", 10_000, start_offset=5)
    assert (late.logical(3), late.logical(6), late.physical(10_001)) == (10_000, 10_001, 6)


def test_an_item_that_says_its_end_translates_no_offset_beyond_it() -> None:
    ended = MappingItem(0, 1, "a", 100, end_offset=10)
    assert [ended.logical_or_undecided(at) for at in (0, 10, 11)] == [100, 110, 110]
    assert ended.known_end() == 110
    assert FIRST.known_end() == 0
    assert OPEN.logical_or_undecided(4) == UNDECIDED


@pytest.mark.parametrize(
    ("offset", "item"),
    [(0, FIRST), (9_999, FIRST), (10_000, SECOND), (1 << 60, SECOND), (-5, FIRST)],
)
def test_an_offset_is_in_the_newest_item_that_begins_before_it_and_can_be_read(
    offset: int, item: MappingItem
) -> None:
    assert find_item(CHAIN, offset) is item


def test_an_item_that_is_undecided_is_neither_read_nor_gone_on_to() -> None:
    assert decided_items(CHAIN) == [FIRST, SECOND]
    assert find_item((OPEN,), 0) is None
    assert find_next(CHAIN, FIRST) is SECOND
    assert find_next(CHAIN, SECOND) is None
    assert find_next((FIRST,), FIRST) is None


def test_a_broker_leads_the_queues_whose_last_item_is_its_own() -> None:
    mapping = TopicMapping("T", "b", 7, 3, {0: (FIRST, SECOND), 1: CHAIN, 2: ()})
    assert mapping.led_chain(0) == (FIRST, SECOND)
    assert [mapping.led_chain(number) for number in (1, 2, 5)] == [None, None, None]
    assert mapping.info() == MappingInfo("T", "b", 7, 3, {0: 0})


def test_of_two_brokers_that_claim_a_queue_the_newer_epoch_has_it() -> None:
    infos = [
        MappingInfo("T", "b", 2, 3, {0: 4}),
        MappingInfo("T", "a", 1, 2, {0: 0, 1: 1}),
    ]
    assert leading_brokers(infos) == {0: "b", 1: "a", 2: NO_BROKER}
    assert leading_brokers(reversed(infos)) == leading_brokers(infos)
    assert leading_brokers([]) == {}


def test_the_broker_of_logical_queues_is_named_after_their_scope() -> None:
    assert logical_broker("__global__") == "__syslo__global__"
    assert logical_broker("unit") == "__syslo__unit"
    assert is_logical_broker("__syslo__global__")
    assert is_logical_broker(NO_BROKER)
    assert not is_logical_broker("broker-a")
