"""ExpiredParts takes the oldest part off a logical queue when no message is left in it.

The broker of that part may then leave the cluster: nobody asks it about the queue any more. The
leader of a logical queue asks once in a while, one question at a time; a broker that does not
answer is asked again in the next round. Offsets that groups have committed to the part go with it,
as at RocketMQ (TopicQueueMappingCleanService).
"""

from collections.abc import Generator, Iterable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.model.queue_mapping import MappingItem, TopicMapping
from aerobee.ports.clock import Now
from aerobee.protocol.headers.offsets import MaxOffsetHeader, QueueHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.state.queue_mappings import QueueMappings
from aerobee.service.broker.static_topic.forwarding import Forwarding
from aerobee.service.broker.static_topic.translation import Ask, ask_offset
from aerobee.service.request import Answer

ROUND_MS = 5 * 60_000


class OldPart(NamedTuple):
    """The oldest part of a logical queue that has others."""

    topic: str
    number: int
    item: MappingItem


_Asking: TypeAlias = Generator[Ask, Answer, bool | None]


class ExpiredParts:
    def __init__(self, mappings: QueueMappings, forwarding: Forwarding) -> None:
        self._mappings = mappings
        self._forwarding = forwarding
        self._next_ms: int | None = None
        self._now = Now(0, 0)
        self._left: Iterator[OldPart] = iter(())
        self._is_asking = False
        self._silent: set[str] = set()

    def on_tick(self, now: Now) -> None:
        self._now = now
        if self._next_ms is None:
            self._next_ms = now.monotonic_ms + ROUND_MS
        elif now.monotonic_ms >= self._next_ms and not self._is_asking:
            self._next_ms = now.monotonic_ms + ROUND_MS
            self._silent.clear()
            self._left = iter(list(old_parts(self._mappings.all())))
            self._ask_next()

    def _ask_next(self) -> None:
        part = next((one for one in self._left if one.item.broker not in self._silent), None)
        self._is_asking = part is not None
        if part is not None:
            self._go_on(part, _is_empty(part), None)

    def _go_on(self, part: OldPart, asking: _Asking, answer: Answer | None) -> None:
        try:
            # A generator that has not begun takes None only.
            ask = next(asking) if answer is None else asking.send(answer)
        except StopIteration as end:
            self._answered(part, end.value)
        except RemoteProtocolError:
            self._answered(part, None)
        else:
            self._forwarding.ask(part.topic, ask, self._now, partial(self._go_on, part, asking))

    def _answered(self, part: OldPart, is_empty: bool | None) -> None:
        if is_empty is None:
            self._silent.add(part.item.broker)
        elif is_empty:
            self._mappings.drop_oldest(part.topic, part.number, part.item.gen, self._now)
        self._ask_next()


def old_parts(mappings: Iterable[TopicMapping]) -> Iterator[OldPart]:
    """Those of the queues that a broker leads. A queue that is being moved is left alone."""
    for mapping in mappings:
        for number in mapping.hosted:
            chain = mapping.led_chain(number) or ()
            if len(chain) > 1 and chain[-1].is_decided:
                yield OldPart(mapping.topic, number, chain[0])


def _is_empty(part: OldPart) -> _Asking:
    """Whether the physical queue has no message, those that are not visible yet counted; None: its
    broker does not say."""
    broker, queue_id = part.item.broker, part.item.queue_id
    whole = MaxOffsetHeader(part.topic, queue_id, committed=False)
    end = yield from ask_offset(Ask(broker, RequestCode.GET_MAX_OFFSET, whole))
    if isinstance(end, Answer):
        return None
    queue = QueueHeader(part.topic, queue_id)
    start = yield from ask_offset(Ask(broker, RequestCode.GET_MIN_OFFSET, queue))
    return None if isinstance(start, Answer) else end <= max(start, 0)
