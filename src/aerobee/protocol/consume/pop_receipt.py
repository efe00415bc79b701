"""The texts of POP: the receipt of one popped message, and where the messages of an answer lie.

    receipt (POP_CK, extraInfo)  start popTime invisibleMs reviveQueue origin broker queue offset
    startOffsetInfo              origin queue start;…
    msgOffsetInfo                origin queue offset,offset;…
    orderCountInfo               origin qo<queue>%<offset> count;…  and  origin queue count;…

Parts are separated by one blank. The origin says which topic a message was popped from: 0 the topic
itself, 1 the group's retry topic of it, 2 the same by its newer name. Agrees with Java's
ExtraInfoUtil. A receipt comes back from a client, so it is read with distrust. RocketMQ's proxy
appends the message's log offset to receipts, and hands them back so: what follows is ignored.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.model.names import RETRY_PREFIX, pop_retry_topic

FROM_TOPIC = "0"
FROM_RETRY = "1"
FROM_RETRY_V2 = "2"
ORDERLY = 999
"""The revive queue that receipts of ordered pops name: nothing is written there."""

_CHARS_MAX = 1024
# Start, pop time, time hidden, revive queue, origin, broker; perhaps queue and offset, and more.
_TEXT = re.compile(
    r"([0-9]{1,19}) ([0-9]{1,19}) ([0-9]{1,19}) ([0-9]{1,10}) ([^ ]*) ([^ ]*)"
    r"(?: ([0-9]{1,10})(?: ([0-9]{1,19})(?: .*)?)?)?",
    re.ASCII,
)
_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PopReceipt:
    start_offset: int
    """The first offset of the checkpoint that the message belongs to."""
    pop_time: int
    invisible_ms: int
    revive_queue: int
    origin: str
    broker_name: str
    queue_id: int
    queue_offset: int

    @property
    def revive_time(self) -> int:
        return self.pop_time + self.invisible_ms

    @property
    def is_orderly(self) -> bool:
        return self.revive_queue == ORDERLY


def encode_pop_receipt(receipt: PopReceipt) -> str:
    return (
        f"{receipt.start_offset} {receipt.pop_time} {receipt.invisible_ms} "
        f"{receipt.revive_queue} {receipt.origin} {receipt.broker_name} "
        f"{receipt.queue_id} {receipt.queue_offset}"
    )


def decode_pop_receipt(text: str) -> PopReceipt:
    """RemoteProtocolError: it is none. Where it lies may be missing: the request says it, too."""
    found = _TEXT.fullmatch(text) if len(text) <= _CHARS_MAX else None
    if found is not None:
        start, pop_time, invisible, revive, origin, broker, queue, offset = found.groups("-1")
        receipt = PopReceipt(
            int(start),
            int(pop_time),
            int(invisible),
            int(revive),
            origin,
            broker,
            int(queue),
            int(offset),
        )
        if (
            max(receipt.start_offset, receipt.revive_time, receipt.queue_offset) <= _INT64_MAX
            and max(receipt.revive_queue, receipt.queue_id) <= _INT32_MAX
        ):
            return receipt
    raise RemoteProtocolError(f"the field extraInfo is no receipt: {text[:100]!r}")


def topic_of(origin: str, group: str, topic: str) -> str:
    """The topic that a message really lies in which was popped from this one."""
    if origin == FROM_RETRY:
        return pop_retry_topic(group, topic)
    if origin == FROM_RETRY_V2:
        return f"{RETRY_PREFIX}{group}+{topic}"
    return topic


class PoppedRun(NamedTuple):
    """Messages of one queue in one answer."""

    origin: str
    queue_id: int
    offsets: Sequence[int]


def start_offsets_text(runs: Iterable[PoppedRun]) -> str:
    return ";".join([f"{run.origin} {run.queue_id} {run.offsets[0]}" for run in runs])


def offsets_text(runs: Iterable[PoppedRun]) -> str:
    return ";".join(
        [f"{run.origin} {run.queue_id} {','.join(map(str, run.offsets))}" for run in runs]
    )


def counts_text(run: PoppedRun, counts: Mapping[int, int]) -> str:
    """The delivery counts of the messages of a run before this pop: each, and the least of them."""
    each = [
        f"{run.origin} qo{run.queue_id}%{offset} {counts.get(offset, 0)}" for offset in run.offsets
    ]
    least = min(counts.get(offset, 0) for offset in run.offsets)
    return ";".join([*each, f"{run.origin} {run.queue_id} {least}"])
