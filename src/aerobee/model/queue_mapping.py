"""The queue mapping of a static topic: logical queues, each a chain of physical queues on brokers.

    logical queue 3     offsets  0 ──────────── 8,204    20,000 ─────────▶
    item (gen)                   broker-a, queue 1 (0)   broker-b, queue 0 (1)
    physical offsets             0 ──────────── 8,204    0 ──────────────▶

Clients know the number of a logical queue and its offsets, whatever broker has it now. The last
item of a chain is the leader: it alone takes messages. Its logical offset is undecided (-1) while
the queue is moved; then it is written but not read. Offsets of one chain rise and may have gaps
between two items.

Every broker has a `TopicMapping` of its own, with the chains of the queues that it leads and of
those that it led before; its epoch tells a newer one from an older one. Agrees with Java's
LogicQueueMappingItem, TopicQueueMappingDetail and TopicQueueMappingUtils.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from aerobee.model.message_queue import MessageQueue, QueueId

UNDECIDED = -1
GLOBAL_SCOPE = "__global__"
LOGICAL_BROKER_PREFIX = "__syslo__"
NO_BROKER = f"{LOGICAL_BROKER_PREFIX}none__"
"""The broker name of a logical queue that no broker has."""


@dataclass(frozen=True, slots=True)
class MappingItem:
    """A physical queue as a part of a logical one."""

    gen: int
    queue_id: int
    broker: str
    logic_offset: int
    """The logical offset of its first message; UNDECIDED while the queue is moved to it."""
    start_offset: int = 0
    """The physical offset of its first message."""
    end_offset: int = -1
    """The physical offset behind its last message; -1: not said."""
    start_ms: int = -1
    end_ms: int = -1

    @property
    def is_decided(self) -> bool:
        return self.logic_offset >= 0

    @property
    def delta(self) -> int:
        """The logical minus the physical offset of a message."""
        return self.logic_offset - self.start_offset

    def logical(self, physical: int) -> int:
        """The logical offset of a physical one; the first for those before the item."""
        return self.logic_offset + max(0, physical - self.start_offset)

    def logical_or_undecided(self, physical: int) -> int:
        """The logical offset, at most the item's end; UNDECIDED for an item that is."""
        if not self.is_decided:
            return UNDECIDED
        if self.end_offset >= self.start_offset:
            physical = min(physical, self.end_offset)
        return self.logical(physical)

    def physical(self, logical: int) -> int:
        return logical - self.delta

    def known_end(self) -> int:
        """The logical offset behind the last message, as far as the item says it."""
        said = self.end_offset >= self.start_offset
        return self.logic_offset + (self.end_offset - self.start_offset if said else 0)


Chain: TypeAlias = Sequence[MappingItem]
"""The items of a logical queue, oldest first."""


@dataclass(frozen=True, slots=True)
class TopicMapping:
    """The mapping of a static topic as one broker has it."""

    topic: str
    broker: str
    epoch: int
    total_queues: int
    hosted: Mapping[int, Chain] = field(default_factory=dict)
    """By the number of the logical queue: those that this broker leads, and those it led before."""
    scope: str = GLOBAL_SCOPE
    is_dirty: bool = False

    def led_chain(self, number: int) -> Chain | None:
        """The chain of a logical queue that this broker leads; None: it does not."""
        chain = self.hosted.get(number)
        return chain if chain and chain[-1].broker == self.broker else None

    def info(self) -> "MappingInfo":
        """The part of it that name servers hand out."""
        led = {
            number: chain[-1].queue_id
            for number, chain in self.hosted.items()
            if chain and chain[-1].broker == self.broker
        }
        return MappingInfo(
            self.topic, self.broker, self.epoch, self.total_queues, led, self.scope, self.is_dirty
        )


@dataclass(frozen=True, slots=True)
class MappingInfo:
    """The logical queues of a static topic that one broker leads, as routes say it."""

    topic: str
    broker: str
    epoch: int
    total_queues: int
    led: Mapping[int, int] = field(default_factory=dict)
    """The physical queue of each logical one."""
    scope: str = GLOBAL_SCOPE
    is_dirty: bool = False


def logical_broker(scope: str) -> str:
    """The broker name that clients see on logical queues."""
    return LOGICAL_BROKER_PREFIX + (scope[2:] if scope == GLOBAL_SCOPE else scope)


def is_logical_broker(broker: str) -> bool:
    return broker.startswith(LOGICAL_BROKER_PREFIX)


def decided_items(chain: Chain) -> list[MappingItem]:
    """The items that can be read."""
    return [item for item in chain if item.is_decided]


def find_item(chain: Chain, logical: int) -> MappingItem | None:
    """The item that has a logical offset, the first one for offsets before it; None: none can be
    read."""
    items = decided_items(chain)
    return next((item for item in reversed(items) if logical >= item.logic_offset), None) or (
        items[0] if items else None
    )


def find_next(chain: Chain, item: MappingItem) -> MappingItem | None:
    """The item behind another; None: there is none, or it cannot be read yet."""
    later = [one for one in chain if one.gen > item.gen]
    return later[0] if later and later[0].is_decided else None


def logical_queues(topic: str, infos: Sequence[MappingInfo]) -> dict[MessageQueue, str]:
    """All logical queues of a static topic in order, and the broker of each; those of the newest
    scope, should brokers disagree."""
    if not infos:
        return {}
    scope = max(infos, key=lambda info: info.epoch).scope
    holders = leading_brokers(info for info in infos if info.scope == scope)
    name = logical_broker(scope)
    return {MessageQueue(topic, name, QueueId(at)): broker for at, broker in holders.items()}


def leading_brokers(infos: Iterable[MappingInfo]) -> dict[int, str]:
    """The broker of each logical queue, by the newest epoch that names one; NO_BROKER for a queue
    that none has. `infos` are those of all brokers, of one scope."""
    led: dict[int, tuple[int, str]] = {}
    newest, queues = -1, 0
    for info in infos:
        for number in info.led:
            led[number] = max(led.get(number, (-1, "")), (info.epoch, info.broker))
        newest, queues = max((newest, queues), (info.epoch, info.total_queues))
    return {number: led.get(number, (-1, NO_BROKER))[1] for number in range(queues)}
