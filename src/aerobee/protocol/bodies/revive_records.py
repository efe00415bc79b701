"""Records of the revive topic ⇄ JSON: checkpoints of popped messages and acknowledgements.

    checkpoint    {"bm":0,"bn":"broker-a","c":"group","d":[0,1,2],"it":10000,"n":3,
                   "pt":1700000000000,"q":0,"reviveTime":1700000010000,"ro":0,"so":7,"sp":false,
                   "t":"topic"}
    ack           {"ao":8,"bn":"broker-a","c":"group","pt":1700000000000,"q":0,"so":7,"t":"topic"}
    acks          {"ao":-1,"aol":[7,9],"bn":…}

A checkpoint stands for n messages of one queue, at the distances d from its start so, popped at pt
and hidden for it ms. An acknowledgement names the checkpoint by its start and its pop time. Written
as Apache writes them; ro, bm and reviveTime are not read back, because they say nothing new. Of the
group's three names that Apache's library may choose from, all are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, parse, quoted

RUN_MAX = 64
"""Messages of one checkpoint: Apache's map of bits has so many. A pop brings half as many."""
RECORD_BYTES_MAX = 64 * 1024

CheckpointKey: TypeAlias = tuple[str, str, int, int, int, str]
"""Topic, group, queue, start offset, pop time, broker."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    topic: str
    group: str
    queue_id: int
    start_offset: int
    pop_time: int
    invisible_ms: int
    broker_name: str
    distances: tuple[int, ...]
    is_suspended: bool = False
    """Its messages come back as if they had not been tried."""

    @property
    def key(self) -> CheckpointKey:
        return (
            self.topic,
            self.group,
            self.queue_id,
            self.start_offset,
            self.pop_time,
            self.broker_name,
        )

    @property
    def revive_time(self) -> int:
        return self.pop_time + self.invisible_ms


@dataclass(frozen=True, slots=True)
class AckRecord:
    key: CheckpointKey
    offsets: tuple[int, ...]


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    # By hand: there is one for every pop, and the general writer takes ten times as long.
    one = checkpoint
    distances = ",".join(map(str, one.distances))
    return (
        f'{{"bm":0,"bn":{quoted(one.broker_name)},"c":{quoted(one.group)},"d":[{distances}],'
        f'"it":{one.invisible_ms},"n":{len(one.distances)},"pt":{one.pop_time},"q":{one.queue_id},'
        f'"reviveTime":{one.revive_time},"ro":0,"so":{one.start_offset},'
        f'"sp":{str(one.is_suspended).lower()},"t":{quoted(one.topic)}}}'
    ).encode()


def decode_checkpoint(body: bytes) -> Checkpoint:
    members = _members(body, "a checkpoint")
    count = members.int32("n")
    if not 0 < count <= RUN_MAX:
        raise RemoteProtocolError(f"a checkpoint of {count} messages")
    distances = _numbers(members.array("d"), "d") or tuple(range(count))
    if len(distances) != count:
        raise RemoteProtocolError(f"a checkpoint of {count} messages names {len(distances)}")
    return Checkpoint(
        members.text("t"),
        _group(members),
        members.int32("q"),
        members.int64("so"),
        members.int64("pt"),
        members.int64("it"),
        members.text("bn", ""),
        distances,
        members.is_true("sp"),
    )


def encode_ack(ack: AckRecord) -> bytes:
    """One offset as a plain acknowledgement, several as a list of them."""
    topic, group, queue_id, start_offset, pop_time, broker_name = ack.key
    if len(ack.offsets) == 1:
        offsets = f'"ao":{ack.offsets[0]}'
    else:
        offsets = f'"ao":-1,"aol":[{",".join(map(str, ack.offsets))}]'
    return (
        f'{{{offsets},"bn":{quoted(broker_name)},"c":{quoted(group)},"pt":{pop_time},'
        f'"q":{queue_id},"so":{start_offset},"t":{quoted(topic)}}}'
    ).encode()


def decode_ack(body: bytes) -> AckRecord:
    members = _members(body, "an acknowledgement")
    offsets = _numbers(members.array("aol"), "aol") or (members.int64("ao"),)
    return AckRecord(
        (
            members.text("t"),
            _group(members),
            members.int32("q"),
            members.int64("so"),
            members.int64("pt"),
            members.text("bn", ""),
        ),
        offsets,
    )


def _members(body: bytes, what: str) -> Members:
    return Members(parse(body, bytes_max=RECORD_BYTES_MAX), what)


def _group(members: Members) -> str:
    for name in ("c", "cId", "cid"):
        if members.has(name):
            return members.text(name)
    raise RemoteProtocolError(f"{members.what} names no group")


def _numbers(items: Sequence[Parsed], name: str) -> tuple[int, ...]:
    found = []
    for item in items:
        if isinstance(item, bool) or not isinstance(item, int):
            raise RemoteProtocolError(f"{name} has something that is no number")
        found.append(item)
    return tuple(found)
