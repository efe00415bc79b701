"""Rules of queue mappings: chains that are sound, and changes that may follow one another.

A broker takes a mapping of a newer epoch, or one of the same epoch that decides an offset. An item
is never changed but for that: messages lie in its queue, and offsets were handed out. So of two
changes that meet, the older one never wins.

`find_…_fault` returns the fault in words that fit into an answer to a peer, or None. Agrees with
Java's TopicQueueMappingUtils and TopicQueueMappingManager, which check some of it by assertions
only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from aerobee.model.queue_mapping import UNDECIDED, Chain, MappingItem, TopicMapping

ITEMS_MAX = 1_000
"""Of one logical queue: each was moved once."""


def find_chain_fault(chain: Chain) -> str | None:
    """The fault of a chain by itself."""
    if len(chain) > ITEMS_MAX:
        return f"a logical queue has {len(chain)} items, more than {ITEMS_MAX}"
    for item in chain:
        fault = _find_item_fault(item, is_last=item is chain[-1])
        if fault is not None:
            return fault
    for item, later in pairwise(chain):
        if item.gen >= later.gen:
            return "The gen does not increase monotonically"
        if later.is_decided and item.logic_offset >= later.logic_offset:
            return "The base logic offset does not increase monotonically"
        if later.is_decided and item.known_end() >= later.logic_offset:
            return "The max logic offset does not increase monotonically"
    return None


def _find_item_fault(item: MappingItem, *, is_last: bool) -> str | None:
    if item.start_offset < 0 or item.gen < 0 or item.queue_id < 0:
        return "The field is illegal, should not be negative"
    if item.logic_offset < UNDECIDED:
        return f"logicOffset is {item.logic_offset}: it is -1 while it is undecided"
    if not item.is_decided and not is_last:
        return "The non-latest item has negative logic offset"
    if item.end_offset != -1 and item.end_offset < item.start_offset:
        return "The endOffset is smaller than the start offset"
    if not item.broker:
        return "an item names no broker"
    return None


def find_mapping_fault(
    mapping: TopicMapping, topic: str, broker: str, queues_max: int
) -> str | None:
    """The fault of a mapping that a broker is to take as its own."""
    if mapping.topic != topic:
        return f"the mapping is of the topic {mapping.topic[:255]!r}"
    if mapping.broker != broker:
        return f"the mapping is of the broker {mapping.broker[:255]!r}, this one is {broker}"
    if mapping.is_dirty:
        return "the mapping is dirty"
    if mapping.epoch < 0:
        return f"the epoch is {mapping.epoch}"
    if not mapping.scope:
        return "the mapping has no scope"
    if not 0 <= mapping.total_queues <= queues_max:
        return f"totalQueues is {mapping.total_queues}, not from 0 to {queues_max}"
    for number, chain in mapping.hosted.items():
        if not 0 <= number < mapping.total_queues:
            return f"the queue number {number} is not from 0 to {mapping.total_queues - 1}"
        fault = find_chain_fault(chain) if chain else f"queue {number} has no items"
        if fault is not None:
            return fault
    return find_reuse_fault(mapping.hosted)


def find_reuse_fault(chains: Mapping[int, Chain]) -> str | None:
    """The fault of chains that share a physical queue."""
    seen: dict[tuple[str, int], int] = {}
    for number, chain in chains.items():
        for item in chain:
            queue = (item.broker, item.queue_id)
            if queue in seen:
                return (
                    f"global queue id {seen[queue]} and {number} shared the same physical queue "
                    f"{item.broker}-{item.queue_id}"
                )
            seen[queue] = number
    return None


def find_change_fault(old: TopicMapping, new: TopicMapping) -> str | None:
    """The fault of a mapping that is to replace another on the same broker."""
    if new.epoch < old.epoch:
        return f"Can't accept data with small epoch {new.epoch} < {old.epoch}"
    if new.scope != old.scope:
        return f"Can't accept data with unmatched scope {new.scope[:255]} != {old.scope}"
    if new.total_queues < old.total_queues:
        counts = f"{new.total_queues} < {old.total_queues}"
        return f"Cannot decrease the queue num for static topic {counts}"
    is_same_epoch = new.epoch == old.epoch
    for number, chain in old.hosted.items():
        after = new.hosted.get(number)
        if after is None:
            if is_same_epoch:
                return "Cannot accept equal epoch with null data"
            continue
        fault = _find_chain_change_fault(chain, after, is_same_epoch=is_same_epoch)
        if fault is not None:
            return f"queue {number}: {fault}"
    return None


def _find_chain_change_fault(old: Chain, new: Chain, *, is_same_epoch: bool) -> str | None:
    by_gen = {item.gen: item for item in new}
    for item in old:
        after = by_gen.get(item.gen)
        if after is not None and _fixed(item, after) != _fixed(item, item):
            return f"the item of generation {item.gen} is another one: items do not change"
    if new[-1].gen < old[-1].gen:
        return f"its leader is of generation {new[-1].gen}, older than {old[-1].gen}"
    if is_same_epoch and new[-1].gen != old[-1].gen:
        return "The new leader is different but epoch equal"
    return None


def _fixed(known: MappingItem, item: MappingItem) -> tuple[object, ...]:
    """The parts of an item that do not change any more."""
    offset = item.logic_offset if known.is_decided else UNDECIDED
    return item.broker, item.queue_id, item.start_offset, offset


def with_kept_queues(old: TopicMapping | None, new: TopicMapping) -> TopicMapping:
    """A mapping that takes the place of another: chains that it does not name are kept."""
    if old is None or old.hosted.keys() <= new.hosted.keys():
        return new
    return replace(new, hosted={**old.hosted, **new.hosted})


def find_disagreement(mappings: Iterable[TopicMapping]) -> str | None:
    """The fault of the mappings of all brokers together, which a change that was interrupted
    leaves behind; None: they agree, and each logical queue has one leader."""
    all_mappings = list(mappings)
    first = all_mappings[0]
    for mapping in all_mappings:
        if mapping.is_dirty:
            return f"The mapping info is dirty in broker {mapping.broker}"
        for what, here, there in (
            ("scope", first.scope, mapping.scope),
            ("epoch", first.epoch, mapping.epoch),
            ("total queue number", first.total_queues, mapping.total_queues),
        ):
            if here != there:
                return f"{what} does not match {here} != {there} in {mapping.broker}"
    led: dict[int, Chain] = {}
    for mapping in all_mappings:
        for number in mapping.info().led:
            chain = mapping.hosted[number]
            fault = find_chain_fault(chain)
            if fault is not None:
                return f"queue {number} in {mapping.broker}: {fault}"
            if number in led:
                return f"The queue id {number} is duplicated in broker {mapping.broker}"
            led[number] = chain
    if sorted(led) != list(range(first.total_queues)):
        return (
            "The total queue number in config does not match the real hosted queues "
            f"{first.total_queues} != {len(led)}"
        )
    return find_reuse_fault(led)
