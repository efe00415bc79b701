"""Plans for static topics: which broker gets which logical queue when one is made, grown or moved.

    made_queues      new logical queues, on the brokers that have the fewest
    moved_queues     logical queues that change their broker, as few as possible: a broker either
                     gets queues or gives some away
    decided_queues   the offsets at which moved queues go on, once the old brokers take no more

Each new part of a logical queue is a new physical queue: queues are not used twice. A plan has the
topic and its mapping for every broker that is concerned, and changes nothing. Misuse: what is there
does not agree, or the wish cannot be met. Agrees with Java's TopicQueueMappingUtils.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from aerobee.errors import Misuse
from aerobee.model.mapping_rules import find_disagreement
from aerobee.model.queue_mapping import (
    UNDECIDED,
    Chain,
    MappingItem,
    TopicMapping,
    leading_brokers,
)
from aerobee.model.topic import TopicConfig

BLOCK_OFFSETS = 10_000
"""A moved queue goes on at a multiple of it: messages that come to the old one late have room."""
EPOCH_STEP = 1_000
_NAME_BROKERS = "name brokers or clusters that are registered"
_COPIED = "was topicQueueMapping.json copied from another broker?"


@dataclass(frozen=True, slots=True)
class StaticTopic:
    """A static topic on one broker."""

    config: TopicConfig
    mapping: TopicMapping


@dataclass(frozen=True, slots=True)
class MappingPlan:
    topic: str
    epoch: int
    brokers: Mapping[str, StaticTopic]
    """The topic on each broker, by broker name, after the change."""
    gaining: frozenset[str] = frozenset()
    losing: frozenset[str] = frozenset()
    """Brokers that get logical queues of others, and those that give some away."""


def agreed(topic: str, brokers: Mapping[str, StaticTopic]) -> None:
    """Check that the mappings of all brokers agree. Misuse: they do not."""
    for name, one in brokers.items():
        if one.mapping.broker != name:
            raise Misuse(
                f"The broker name is not equal {name} != {one.mapping.broker}", hint=_COPIED
            )
        if one.mapping.topic != topic or one.config.name != topic:
            raise Misuse(f"The topic name is inconsistent in broker {name}", hint=_COPIED)
        if one.config.read_queues < one.config.write_queues:
            raise Misuse(
                f"Read queues is smaller than write queues in broker {name}",
                hint="give it as many to read as to write",
            )
    fault = find_disagreement(one.mapping for one in brokers.values())
    if fault is None:
        fault = _find_missing_queue(brokers)
    if fault is not None:
        raise Misuse(
            f"the mappings of {topic} do not agree: {fault}",
            hint="a change was interrupted, or a broker is away: apply the last plan again",
        )


def _find_missing_queue(brokers: Mapping[str, StaticTopic]) -> str | None:
    for one in brokers.values():
        for chain in one.mapping.hosted.values():
            for item in chain:
                on = brokers.get(item.broker)
                if on is None:
                    return f"The broker of item does not exist: {item.broker}"
                if item.queue_id >= on.config.write_queues:
                    return f"The physical queue id is overflow the write queues in {item.broker}"
    return None


def made_queues(
    topic: str,
    queues: int,
    targets: Iterable[str],
    known: Mapping[str, StaticTopic],
    wall_ms: int,
) -> MappingPlan:
    """The topic with so many logical queues, the new ones on `targets`. `known` is what brokers
    have of it, by broker name; empty: it is made."""
    if known:
        agreed(topic, known)
    led = leading_brokers(one.mapping.info() for one in known.values())
    if queues < len(led):
        raise Misuse(
            f"Cannot decrease the queue num for static topic {queues} < {len(led)}",
            hint="its queues have messages: make another topic",
        )
    if queues == len(led):
        raise Misuse(
            "The topic queue num is equal the existed queue num, do nothing",
            hint="say a larger number; a move of its queues is another request",
        )
    counts = dict.fromkeys([*targets, *known], 0)
    if not counts:
        raise Misuse("Find none brokers, do nothing", hint=_NAME_BROKERS)
    for broker in led.values():
        counts[broker] += 1
    epoch = _next_epoch(known, wall_ms)
    brokers = dict(known)
    for number in range(len(led), queues):
        name = min(counts, key=lambda one: (counts[one], one))
        counts[name] += 1
        one, queue_id = _with_new_queue(brokers.get(name), topic, name)
        chain = (MappingItem(0, queue_id, name, logic_offset=0),)
        brokers[name] = _with_chain(one, number, chain)
    return _plan(topic, epoch, queues, brokers)


def moved_queues(
    topic: str, targets: Iterable[str], known: Mapping[str, StaticTopic], wall_ms: int
) -> MappingPlan:
    """The topic with all logical queues on `targets`; the offsets of moved ones are undecided."""
    if not known:
        raise Misuse("No topic route to do the remapping", hint="is it a static topic?")
    agreed(topic, known)
    wanted = sorted(set(targets))
    if not wanted:
        raise Misuse("Find none brokers, do nothing", hint=_NAME_BROKERS)
    led = leading_brokers(one.mapping.info() for one in known.values())
    brokers = dict(known)
    gaining, losing = set(), set()
    for number, name in _moves(led, wanted):
        before = led[number]
        gaining.add(name)
        losing.add(before)
        one, queue_id = _with_new_queue(brokers.get(name), topic, name)
        chain = brokers[before].mapping.hosted[number]
        last = chain[-1]
        if not last.is_decided:
            raise Misuse(
                f"queue {number} is still being moved to {before}",
                hint="apply the plan of that move again",
            )
        longer = (*chain, MappingItem(last.gen + 1, queue_id, name, UNDECIDED))
        brokers[name] = _with_chain(one, number, longer)
        brokers[before] = _with_chain(brokers[before], number, longer)
    plan = _plan(topic, _next_epoch(known, wall_ms), len(led), brokers)
    return replace(plan, gaining=frozenset(gaining), losing=frozenset(losing))


def _moves(led: Mapping[int, str], targets: Sequence[str]) -> list[tuple[int, str]]:
    """The logical queues that change their broker, and to which."""
    held = {name: list(led.values()).count(name) for name in targets}
    fair, rest = divmod(len(led), len(targets))
    # Those that have the most keep the most.
    first = sorted(targets, key=lambda name: (-held[name], name))
    quota = {name: fair + (at < rest) for at, name in enumerate(first)}
    left = []
    for number, name in led.items():
        if quota.get(name, 0) > 0:
            quota[name] -= 1
        else:
            left.append(number)
    free = [name for name in targets for _ in range(quota[name])]
    return list(zip(left, free, strict=True))


def decided_queues(plan: MappingPlan, ends: Mapping[tuple[str, int], int]) -> MappingPlan:
    """A plan of moved queues with their offsets. `ends` are the ends of the physical queues of
    brokers that have lost queues, by broker name and queue id."""
    brokers = dict(plan.brokers)
    for name in plan.losing:
        for number, chain in brokers[name].mapping.hosted.items():
            if len(chain) < 2 or chain[-1].is_decided:
                continue
            decided = _decided(chain, ends)
            for holder in (name, chain[-1].broker):
                brokers[holder] = _with_chain(brokers[holder], number, decided)
    return replace(plan, brokers=brokers)


def check_follows(plan: MappingPlan, known: Mapping[str, StaticTopic]) -> None:
    """Check that no other change was made since a plan: `known` is what brokers have now. Brokers
    refuse an older plan, too, but not before some have taken it, if both have the same epoch."""
    leaders = {
        number: (name, queue_id)
        for name, one in plan.brokers.items()
        for number, queue_id in one.mapping.info().led.items()
    }
    for name, one in known.items():
        if one.mapping.epoch < plan.epoch:
            continue
        led = {number: (name, queue) for number, queue in one.mapping.info().led.items()}
        if one.mapping.epoch > plan.epoch or led.items() - leaders.items():
            raise Misuse(
                f"{plan.topic} was changed since this plan was made, as {name} says",
                hint="plan it anew, or finish the other change",
            )


def resumed(plan: MappingPlan, known: Mapping[str, StaticTopic]) -> MappingPlan:
    """A plan that was interrupted, with the offsets that were decided before that. `known` is what
    brokers have now."""
    brokers = dict(plan.brokers)
    for name, one in known.items():
        if name not in brokers or one.mapping.epoch != plan.epoch:
            continue
        for number, chain in brokers[name].mapping.hosted.items():
            there = one.mapping.hosted.get(number)
            is_open = len(chain) > 1 and not chain[-1].is_decided
            if there and is_open and there[-1].gen == chain[-1].gen:
                for holder in (chain[-2].broker, chain[-1].broker):
                    brokers[holder] = _with_chain(brokers[holder], number, there)
    return replace(plan, brokers=brokers)


def _decided(chain: Chain, ends: Mapping[tuple[str, int], int]) -> Chain:
    before, last = chain[-2], chain[-1]
    end = ends.get((before.broker, before.queue_id))
    if end is None:
        raise Misuse(
            f"Cannot get the max offset for old leader {before.broker}-{before.queue_id}",
            hint="apply the plan again when the broker answers",
        )
    offset = _next_block(before.logical(max(end, before.start_offset)))
    return (*chain[:-1], replace(last, logic_offset=offset))


def _next_block(offset: int) -> int:
    """The first multiple of BLOCK_OFFSETS with at least half a block before it."""
    blocks, left = divmod(offset, BLOCK_OFFSETS)
    return (blocks + (1 if left < BLOCK_OFFSETS // 2 else 2)) * BLOCK_OFFSETS


def with_other_brokers(plan: MappingPlan, names: Iterable[str]) -> MappingPlan:
    """The plan with further brokers, which have no queue of the topic: they are asked, too, when
    it is changed next, so that a broker that is away is missed."""
    queues = next(iter(plan.brokers.values())).mapping.total_queues
    others = {
        name: StaticTopic(
            TopicConfig(plan.topic, read_queues=0, write_queues=0),
            TopicMapping(plan.topic, name, plan.epoch, queues),
        )
        for name in names
        if name not in plan.brokers
    }
    return replace(plan, brokers={**plan.brokers, **others})


def _next_epoch(known: Mapping[str, StaticTopic], wall_ms: int) -> int:
    return max([wall_ms, *(one.mapping.epoch + EPOCH_STEP for one in known.values())])


def _with_new_queue(known: StaticTopic | None, topic: str, broker: str) -> tuple[StaticTopic, int]:
    """The topic on a broker with one physical queue more, and the number of that."""
    if known is None:
        config = TopicConfig(topic, read_queues=0, write_queues=0)
        known = StaticTopic(config, TopicMapping(topic, broker, 0, 0))
    config, queue_id = known.config, known.config.write_queues
    grown = replace(config, read_queues=config.read_queues + 1, write_queues=queue_id + 1)
    return replace(known, config=grown), queue_id


def _with_chain(known: StaticTopic, number: int, chain: Chain) -> StaticTopic:
    hosted = {**known.mapping.hosted, number: chain}
    return replace(known, mapping=replace(known.mapping, hosted=hosted))


def _plan(topic: str, epoch: int, queues: int, brokers: Mapping[str, StaticTopic]) -> MappingPlan:
    stamped = {
        name: replace(one, mapping=replace(one.mapping, epoch=epoch, total_queues=queues))
        for name, one in brokers.items()
    }
    agreed(topic, stamped)
    return MappingPlan(topic, epoch, stamped)
