from collections.abc import Mapping
from dataclasses import replace

import pytest

from aerobee.errors import Misuse
from aerobee.model.mapping_plan import (
    BLOCK_OFFSETS,
    MappingPlan,
    StaticTopic,
    agreed,
    check_follows,
    decided_queues,
    made_queues,
    moved_queues,
    resumed,
    with_other_brokers,
)
from aerobee.model.queue_mapping import UNDECIDED, leading_brokers
from aerobee.model.topic import TopicConfig


def made(queues: int, *targets: str, known: Mapping[str, StaticTopic] | None = None) -> MappingPlan:
    return made_queues("T", queues, targets, known or {}, 1_000)


def holders(plan: MappingPlan) -> dict[int, str]:
    return leading_brokers(one.mapping.info() for one in plan.brokers.values())


def settled(plan: MappingPlan, end: int = 7) -> MappingPlan:
    """The plan of moved queues, all of which had so many messages."""
    ends = {
        (item.broker, item.queue_id): end
        for one in plan.brokers.values()
        for chain in one.mapping.hosted.values()
        for item in chain
    }
    return decided_queues(plan, ends)


def test_new_queues_go_to_the_brokers_that_have_the_fewest() -> None:
    plan = made(5, "a", "b")
    assert holders(plan) == {0: "a", 1: "b", 2: "a", 3: "b", 4: "a"}
    assert plan.brokers["a"].config == TopicConfig("T", 3, 3)
    assert {one.mapping.total_queues for one in plan.brokers.values()} == {5}
    grown = made(7, "a", "b", "c", known=plan.brokers)
    assert holders(grown) == {**holders(plan), 5: "c", 6: "c"}
    assert grown.epoch == plan.epoch + 1000
    assert grown.brokers["a"].mapping.epoch == grown.epoch


@pytest.mark.parametrize(
    ("queues", "why"), [(4, "Cannot decrease"), (5, "equal the existed queue num")]
)
def test_a_topic_never_has_fewer_queues(queues: int, why: str) -> None:
    with pytest.raises(Misuse, match=why):
        made(queues, "a", known=made(5, "a").brokers)


def test_a_plan_needs_brokers_and_a_move_a_topic() -> None:
    with pytest.raises(Misuse, match="Find none brokers"):
        made(1)
    with pytest.raises(Misuse, match="Find none brokers"):
        moved_queues("T", [], made(1, "a").brokers, 0)
    with pytest.raises(Misuse, match="No topic route"):
        moved_queues("T", ["a"], {}, 0)


def test_as_few_queues_as_possible_are_moved() -> None:
    plan = moved_queues("T", ["a", "b", "c"], made(6, "a", "b").brokers, 2_000)
    assert holders(plan) == {0: "a", 1: "b", 2: "a", 3: "b", 4: "c", 5: "c"}
    assert (set(plan.gaining), set(plan.losing)) == ({"c"}, {"a", "b"})
    none = moved_queues("T", ["a", "b"], made(6, "a", "b").brokers, 2_000)
    assert (none.gaining, none.losing) == (frozenset(), frozenset())
    every = moved_queues("T", ["z"], made(3, "a", "b").brokers, 2_000)
    assert set(holders(every).values()) == {"z"}


def test_a_moved_queue_is_in_the_mapping_of_both_brokers_with_a_new_physical_queue() -> None:
    plan = moved_queues("T", ["b"], made(2, "a", "b").brokers, 2_000)
    chain = plan.brokers["b"].mapping.hosted[0]
    assert plan.brokers["a"].mapping.hosted[0] == chain
    assert [(item.gen, item.broker, item.queue_id) for item in chain] == [(0, "a", 0), (1, "b", 1)]
    assert chain[-1].logic_offset == UNDECIDED
    assert plan.brokers["b"].config.write_queues == 2


@pytest.mark.parametrize(
    ("end", "start"), [(0, 10_000), (4_999, 10_000), (5_000, 20_000), (10_000, 20_000)]
)
def test_a_moved_queue_goes_on_at_a_block_with_room_before_it(end: int, start: int) -> None:
    plan = moved_queues("T", ["b"], made(1, "a").brokers, 2_000)
    decided = settled(plan, end)
    for name in ("a", "b"):
        assert decided.brokers[name].mapping.hosted[0][-1].logic_offset == start
    assert start - end >= BLOCK_OFFSETS // 2
    agreed("T", decided.brokers)


def test_the_end_of_a_queue_must_be_known() -> None:
    plan = moved_queues("T", ["b"], made(1, "a").brokers, 2_000)
    with pytest.raises(Misuse, match="max offset for old leader a-0"):
        decided_queues(plan, {})


def test_a_queue_that_is_being_moved_is_not_moved_again() -> None:
    plan = moved_queues("T", ["b"], made(1, "a").brokers, 2_000)
    with pytest.raises(Misuse, match="still being moved"):
        moved_queues("T", ["c"], plan.brokers, 3_000)


def test_a_queue_comes_back_to_a_broker_that_had_it() -> None:
    first = settled(moved_queues("T", ["b"], made(1, "a").brokers, 2_000))
    plan = settled(moved_queues("T", ["a"], first.brokers, 3_000))
    chain = plan.brokers["a"].mapping.hosted[0]
    assert [(item.broker, item.queue_id) for item in chain] == [("a", 0), ("b", 0), ("a", 1)]
    assert [item.logic_offset for item in chain] == [0, 10_000, 20_000]


def test_a_plan_that_was_interrupted_keeps_the_offsets_that_were_decided() -> None:
    plan = moved_queues("T", ["b"], made(2, "a").brokers, 2_000)
    decided = settled(plan)
    known = {"a": plan.brokers["a"], "b": decided.brokers["b"]}
    assert resumed(plan, known).brokers == decided.brokers
    assert resumed(plan, made(2, "a").brokers) == plan  # an older epoch says nothing


def test_of_two_plans_of_the_same_moment_only_one_is_applied() -> None:
    known = made(2, "a").brokers
    one, other = (moved_queues("T", [name], known, 2_000) for name in "bc")
    assert one.epoch == other.epoch
    half_done = {**known, "b": one.brokers["b"]}
    for there in (known, half_done, one.brokers, settled(one).brokers):
        check_follows(one, there)
    for there in (half_done, one.brokers, settled(one).brokers):
        with pytest.raises(Misuse, match="T was changed since"):
            check_follows(other, there)
    with pytest.raises(Misuse, match="as a says"):
        check_follows(made(2, "a"), moved_queues("T", ["b"], known, 9_000).brokers)


def test_brokers_without_a_queue_have_the_mapping_too() -> None:
    plan = with_other_brokers(made(2, "a"), ["a", "z"])
    other = plan.brokers["z"]
    assert (other.config.write_queues, other.mapping.hosted) == (0, {})
    assert (other.mapping.epoch, other.mapping.total_queues) == (plan.epoch, 2)
    agreed("T", plan.brokers)


def test_brokers_that_do_not_agree_are_not_changed() -> None:
    known = dict(made(2, "a", "b").brokers)
    old = known["b"]
    cases = {
        "do not agree: epoch": replace(old, mapping=replace(old.mapping, epoch=1)),
        "broker name is not equal": replace(old, mapping=replace(old.mapping, broker="c")),
        "topic name is inconsistent": replace(old, config=replace(old.config, name="U")),
        "Read queues is smaller": replace(old, config=replace(old.config, read_queues=0)),
        "overflow the write queues": replace(old, config=TopicConfig("T", 0, 0)),
    }
    for why, broken in cases.items():
        with pytest.raises(Misuse, match=why):
            agreed("T", {**known, "b": broken})
    moved = settled(moved_queues("T", ["b"], known, 2_000)).brokers
    with pytest.raises(Misuse, match="broker of item does not exist: a"):
        agreed("T", {"b": moved["b"]})
