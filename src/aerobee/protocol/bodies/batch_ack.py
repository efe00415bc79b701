"""Many acknowledgements in one request ⇄ JSON: the body of BATCH_ACK_MESSAGE.

    {"acks":[{"b":"Bw==","c":"group","it":10000,"pt":1700000000000,"q":0,"r":"0","rq":3,"so":7,
      "t":"topic"}],"brokerName":"broker-a"}

One entry for each checkpoint; t is the topic that was asked for, r says whether the messages lie in
a retry topic of it; b is a set of distances from so (`protocol/primitives/ack_bits.py`). Java's
parser also takes the long names of the members, so they are taken here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.primitives.ack_bits import decode_ack_bits, encode_ack_bits
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, quoted

BATCH_BYTES_MAX = 4 * 1024 * 1024
ENTRIES_MAX = 10_000

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
_NAME = rb'"([!#-\[\]-~]*)"'  # nothing that is escaped, and no byte that is not ASCII
_BEGIN = b'{"acks":['
_ENTRY = re.compile(
    rb'\{"b":"([A-Za-z0-9+/=]*)","c":%b,"it":([0-9]{1,19}),"pt":([0-9]{1,19}),"q":([0-9]{1,10}),'
    rb'"r":%b,"rq":([0-9]{1,10}),"so":([0-9]{1,19}),"t":%b\}([],])' % (_NAME, _NAME, _NAME)
)
_END = re.compile(rb',"brokerName":%b\}' % _NAME)

_LONG = {
    "c": "consumerGroup",
    "t": "topic",
    "r": "retry",
    "so": "startOffset",
    "q": "queueId",
    "rq": "reviveQueueId",
    "pt": "popTime",
    "it": "invisibleTime",
    "b": "bitSet",
}
_quoted = lru_cache(maxsize=256)(quoted)  # few names, again and again


@dataclass(frozen=True, slots=True)
class BatchAckEntry:
    group: str
    topic: str
    origin: str
    start_offset: int
    queue_id: int
    revive_queue: int
    pop_time: int
    invisible_ms: int
    distances: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BatchAck:
    broker_name: str
    entries: tuple[BatchAckEntry, ...]


def decode_batch_ack(body: bytes) -> BatchAck:
    # As clients write it there is nothing to parse: one comes with every pop.
    return _as_written(body) or _as_said(body)


def _as_said(body: bytes) -> BatchAck:
    members = Members(parse(body, bytes_max=BATCH_BYTES_MAX), "the request")
    acks = members.array("acks")
    if len(acks) > ENTRIES_MAX:
        raise RemoteProtocolError(f"{len(acks)} acknowledgements, at most {ENTRIES_MAX} are taken")
    return BatchAck(
        members.text("brokerName", ""),
        tuple(_entry(Members(one, "an item of acks")) for one in acks),
    )


def encode_batch_ack(batch: BatchAck) -> bytes:
    entries = ",".join(
        [
            f'{{"b":"{encode_ack_bits(one.distances)}","c":{_quoted(one.group)},'
            f'"it":{one.invisible_ms},"pt":{one.pop_time},"q":{one.queue_id},'
            f'"r":{_quoted(one.origin)},"rq":{one.revive_queue},"so":{one.start_offset},'
            f'"t":{_quoted(one.topic)}}}'
            for one in batch.entries
        ]
    )
    return f'{{"acks":[{entries}],"brokerName":{_quoted(batch.broker_name)}}}'.encode()


def _as_written(body: bytes) -> BatchAck | None:
    """A body whose members come as Java and we write them, without anything to unescape; None: it
    is not, and has to be parsed."""
    if not body.startswith(_BEGIN) or len(body) > BATCH_BYTES_MAX:
        return None
    entries = []
    position = len(_BEGIN)
    while (found := _ENTRY.match(body, position)) is not None:
        bits, group, hidden, popped, queue, origin, revive, start, topic, end = found.groups()
        numbers = (int(start), int(queue), int(revive), int(popped), int(hidden))
        if max(numbers[1:3]) > _INT32_MAX or max(numbers) > _INT64_MAX:
            return None
        entries.append(
            BatchAckEntry(
                group.decode(),
                topic.decode(),
                origin.decode(),
                *numbers,
                tuple(decode_ack_bits(bits.decode())),
            )
        )
        position = found.end()
        if end == b"]":
            break
    tail = _END.fullmatch(body, position)
    if tail is None or not 0 < len(entries) <= ENTRIES_MAX:
        return None
    return BatchAck(tail[1].decode(), tuple(entries))


def _entry(members: Members) -> BatchAckEntry:
    def name(short: str) -> str:
        return short if members.has(short) else _LONG[short]

    return BatchAckEntry(
        members.text(name("c")),
        members.text(name("t")),
        members.text(name("r"), "0"),
        members.int64(name("so")),
        members.int32(name("q")),
        members.int32(name("rq")),
        members.int64(name("pt")),
        members.int64(name("it")),
        tuple(decode_ack_bits(members.text(name("b"), ""))),
    )


def offsets_of(entry: BatchAckEntry) -> Sequence[int]:
    return [entry.start_offset + distance for distance in entry.distances]
