"""Many acknowledgements in one request ⇄ JSON: the body of BATCH_ACK_MESSAGE.

    {"acks":[{"b":"Bw==","c":"group","it":10000,"pt":1700000000000,"q":0,"r":"0","rq":3,"so":7,
      "t":"topic"}],"brokerName":"broker-a"}

One entry for each checkpoint; t is the topic that was asked for, r says whether the messages lie in
a retry topic of it; b is a set of distances from so (`protocol/ack_bits.py`). Java's parser also
takes the long names of the members, so they are taken here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.ack_bits import decode_ack_bits, encode_ack_bits
from aerobee.protocol.json_members import Members
from aerobee.protocol.json_text import parse, write_compact

BATCH_BYTES_MAX = 4 * 1024 * 1024
ENTRIES_MAX = 10_000

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
    members = Members(parse(body, bytes_max=BATCH_BYTES_MAX), "the request")
    acks = members.array("acks")
    if len(acks) > ENTRIES_MAX:
        raise RemoteProtocolError(f"{len(acks)} acknowledgements, at most {ENTRIES_MAX} are taken")
    return BatchAck(
        members.text("brokerName", ""),
        tuple(_entry(Members(one, "an item of acks")) for one in acks),
    )


def encode_batch_ack(batch: BatchAck) -> bytes:
    return write_compact(
        {
            "acks": [
                {
                    "b": encode_ack_bits(one.distances),
                    "c": one.group,
                    "it": one.invisible_ms,
                    "pt": one.pop_time,
                    "q": one.queue_id,
                    "r": one.origin,
                    "rq": one.revive_queue,
                    "so": one.start_offset,
                    "t": one.topic,
                }
                for one in batch.entries
            ],
            "brokerName": batch.broker_name,
        }
    )


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
