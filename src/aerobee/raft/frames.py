"""Frames: the bytes of messages between the nodes of a Raft group, on one connection.

    0            4            6      7         8           12            12 + head size
    +------------+------------+------+---------+-----------+-------------+--------------+
    | body size  | head size  | kind | version | CRC-32 of | head: the   | body: bytes  |
    | u32        | u16        | u8   | u8      | the rest  | numbers of  | of the log   |
    |            |            |      |         | of the    | the message |              |
    |            |            |      |         | head      |             |              |
    +------------+------------+------+---------+-----------+-------------+--------------+

The checksum is over the first eight bytes and the head. Records have checksums of their own, which
the log looks at before it appends them. The first frame on a connection is a Hello, in both
directions: it says who speaks, and of which group.

Fr1. Sizes, kind and checksum are checked before anything behind them is read.
Fr2. A body is written from slices of the log, not copied; it is read whole.
Fr3. After a bad frame the stream cannot be trusted: the reader stays broken.
"""

import struct
from typing import NamedTuple, TypeAlias
from zlib import crc32

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.raft.epoch_bytes import decode_members, encode_members
from aerobee.raft.membership import Members
from aerobee.raft.messages import (
    Diverging,
    Fetch,
    Message,
    PreVote,
    PreVoteAnswer,
    Records,
    Reset,
    TimeoutNow,
    Vote,
    VoteAnswer,
)

VERSION = 1
BODY_BYTES_MAX = 64 << 20
"""One record may be larger than a batch, and a batch may be set larger."""
HEAD_BYTES_MAX = 40_000
NAME_BYTES_MAX = 255


class Hello(NamedTuple):
    """The first message of both sides."""

    node: int
    group: str
    address: str = ""
    """Where the node's broker answers clients."""


Framed: TypeAlias = Message | Hello

_PREFIX = struct.Struct(">IHBB")
_CHECKSUM = struct.Struct(">I")
PREFIX_BYTES = _PREFIX.size + _CHECKSUM.size
_HELLO = struct.Struct(">iBB")
# Of each kind: its number, its class and its numbers; truths are one byte.
_NUMBERS: dict[int, tuple[type[Message], struct.Struct]] = {
    1: (PreVote, struct.Struct(">qqq")),
    2: (PreVoteAnswer, struct.Struct(">qB")),
    3: (Vote, struct.Struct(">qqqB")),
    4: (VoteAnswer, struct.Struct(">qB")),
    5: (Fetch, struct.Struct(">qqqqqB")),
    7: (Diverging, struct.Struct(">qqqqq")),
    9: (TimeoutNow, struct.Struct(">q")),
}
_KINDS = {cls: kind for kind, (cls, _) in _NUMBERS.items()}
_TRUTHS = {
    PreVoteAnswer: "is_granted",
    VoteAnswer: "is_granted",
    Vote: "is_transfer",
    Fetch: "is_rewind",
}
_RECORDS = struct.Struct(">qqqqqqqB")
_RESET = struct.Struct(">qqqqq")
_KIND_RECORDS = 6
_KIND_RESET = 8
_KIND_HELLO = 10


def encode_frame(message: Framed) -> bytes:
    """A frame up to its body; of Records, the bytes of the log from `start` to `end` follow."""
    body_bytes = 0
    if isinstance(message, Records):
        kind = _KIND_RECORDS
        body_bytes = message.end - message.start
        term, start, end, previous_term, epoch_term, members, commit, stamp = message
        head = _RECORDS.pack(
            term, start, end, previous_term, epoch_term, commit, stamp, members is not None
        )
        if members is not None:
            head += encode_members(members)
    elif isinstance(message, Reset):
        kind = _KIND_RESET
        head = _RESET.pack(*message[:-1]) + encode_members(message.members)
    elif isinstance(message, Hello):
        kind = _KIND_HELLO
        group, address = message.group.encode(), message.address.encode()
        if max(len(group), len(address)) > NAME_BYTES_MAX:
            raise LocalProtocolError(f"names of {len(group)} and {len(address)} bytes")
        head = _HELLO.pack(message.node, len(group), len(address)) + group + address
    else:
        kind = _KINDS[type(message)]
        head = _NUMBERS[kind][1].pack(*message)
    if body_bytes > BODY_BYTES_MAX or len(head) > HEAD_BYTES_MAX:
        raise LocalProtocolError(f"a frame with a head of {len(head)}, a body of {body_bytes}")
    prefix = _PREFIX.pack(body_bytes, len(head), kind, VERSION)
    return prefix + _CHECKSUM.pack(crc32(head, crc32(prefix))) + head


class RaftFrameReader:
    """Cursor over the frames of one connection.

    reader.receive(chunk)
    while reader.advance():
        ... reader.message, reader.body ...
    """

    __slots__ = ("_body_bytes_max", "_buffer", "_failure", "body", "message")

    def __init__(self, body_bytes_max: int = BODY_BYTES_MAX) -> None:
        self._body_bytes_max = body_bytes_max
        self._buffer = bytearray()
        self._failure = ""
        self.message: Framed = Hello(0, "")
        self.body = b""

    def receive(self, data: "bytes | memoryview") -> None:
        """The next bytes of the stream. Call `advance` until it says False before the next."""
        self._buffer += data

    def advance(self) -> bool:
        """Make the next message current. False: more bytes are needed. RemoteProtocolError: the
        connection must be closed."""
        if self._failure:
            raise RemoteProtocolError(self._failure)
        buffer = self._buffer
        if len(buffer) < PREFIX_BYTES:
            return False
        body_bytes, head_bytes, kind, version = _PREFIX.unpack_from(buffer, 0)
        (checksum,) = _CHECKSUM.unpack_from(buffer, _PREFIX.size)
        if version != VERSION:
            raise self._refused(f"a Raft frame of version {version}; this node knows {VERSION}")
        if body_bytes > self._body_bytes_max or head_bytes > HEAD_BYTES_MAX:
            raise self._refused(f"a Raft frame with a head of {head_bytes}, a body of {body_bytes}")
        head_end = PREFIX_BYTES + head_bytes
        if len(buffer) < head_end:
            return False
        head = bytes(buffer[PREFIX_BYTES:head_end])
        if crc32(head, crc32(buffer[: _PREFIX.size])) != checksum:
            raise self._refused("a Raft frame whose checksum is wrong")
        if len(buffer) < head_end + body_bytes:
            return False
        try:
            self.message = _decode(kind, head, body_bytes)
        except (ValueError, struct.error) as error:
            raise self._refused(f"a Raft message of kind {kind}: {error}") from error
        self.body = bytes(buffer[head_end : head_end + body_bytes])
        del buffer[: head_end + body_bytes]
        return True

    def _refused(self, reason: str) -> RemoteProtocolError:
        self._failure = reason
        self._buffer.clear()
        return RemoteProtocolError(reason)


def _decode(kind: int, head: bytes, body_bytes: int) -> Framed:
    if kind == _KIND_RECORDS:
        return _decode_records(head, body_bytes)
    if body_bytes:
        raise ValueError("a body without records")
    if kind == _KIND_RESET:
        term, end, last_term, start, start_term = _RESET.unpack_from(head)
        _require(term, end, last_term, start, start_term)
        members = _only_members(head, _RESET.size)
        return Reset(term, end, last_term, start, start_term, members)
    if kind == _KIND_HELLO:
        node, group_bytes, address_bytes = _HELLO.unpack_from(head)
        names = head[_HELLO.size :]
        if len(names) != group_bytes + address_bytes:
            raise ValueError("names of another length")
        return Hello(node, names[:group_bytes].decode(), names[group_bytes:].decode())
    if kind not in _NUMBERS:
        raise ValueError("nobody knows it")
    cls, layout = _NUMBERS[kind]
    values = list(layout.unpack(head))
    if cls in _TRUTHS:
        values[-1] = _truth(values[-1])
    _require(*values[: 4 if cls is Fetch else len(values)])
    message: Message = cls(*values)
    if isinstance(message, Fetch) and message.synced > message.end:
        raise ValueError(f"{message.synced} bytes synced of {message.end}")
    return message


def _decode_records(head: bytes, body_bytes: int) -> Records:
    values = _RECORDS.unpack_from(head)
    term, start, end, previous_term, epoch_term, commit, stamp, has_members = values
    members: Members | None = None
    if _truth(has_members):
        members = _only_members(head, _RECORDS.size)
    elif len(head) != _RECORDS.size:
        raise ValueError("bytes behind the numbers")
    _require(term, start, end, previous_term, epoch_term, commit)
    if end - start != body_bytes:
        raise ValueError(f"records from {start} to {end} in {body_bytes} bytes")
    return Records(term, start, end, previous_term, epoch_term, members, commit, stamp)


def _only_members(head: bytes, position: int) -> Members:
    members, end = decode_members(head, position)
    if end != len(head):
        raise ValueError("bytes behind the members")
    return members


def _truth(byte: int) -> bool:
    if byte > 1:
        raise ValueError(f"{byte} is no truth")
    return byte == 1


def _require(*numbers: int) -> None:
    """Terms and offsets are not negative."""
    if min(numbers) < 0:
        raise ValueError(f"negative: {min(numbers)}")
