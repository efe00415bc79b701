"""Bytes of members and of epochs, as messages, the state file and control records have them.

    members   count u16 │ { node i32 │ is voter u8 │ length u16 │ address, UTF-8 }
    epoch     start i64 │ term i64 │ members

All numbers are big-endian. ValueError: the bytes are no such thing.
"""

import struct

from aerobee.errors import Misuse
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import Member, Members

_COUNT = struct.Struct(">H")
_MEMBER = struct.Struct(">iBH")
_EPOCH = struct.Struct(">qq")
MEMBERS_MAX = 64
ADDRESS_BYTES_MAX = 512


def encode_members(members: Members) -> bytes:
    parts = [_COUNT.pack(len(members.listed))]
    for member in members.listed:
        address = member.address.encode()
        parts += [_MEMBER.pack(member.node, member.is_voter, len(address)), address]
    return b"".join(parts)


def decode_members(data: bytes, position: int) -> tuple[Members, int]:
    """The members at a position, and the position behind them."""
    count, position = _number(data, position)
    if count > MEMBERS_MAX:
        raise ValueError(f"{count} members")
    listed = []
    for _ in range(count):
        if position + _MEMBER.size > len(data):
            raise ValueError("members that end early")
        node, is_voter, size = _MEMBER.unpack_from(data, position)
        position += _MEMBER.size
        address = data[position : position + size]
        position += size
        if is_voter > 1 or size > ADDRESS_BYTES_MAX or len(address) != size:
            raise ValueError("a member that is none")
        listed.append(Member(node, str(address, "utf-8"), is_voter == 1))
    try:
        members = Members(tuple(listed))
    except Misuse as error:
        raise ValueError(error.message) from error
    if members.listed != tuple(listed):
        raise ValueError("members out of order")
    return members, position


def _number(data: bytes, position: int) -> tuple[int, int]:
    if position + _COUNT.size > len(data):
        raise ValueError("a number that ends early")
    (number,) = _COUNT.unpack_from(data, position)
    return number, position + _COUNT.size


def encode_epoch(epoch: Epoch) -> bytes:
    return _EPOCH.pack(epoch.start, epoch.term) + encode_members(epoch.members)


def decode_epoch(data: bytes, position: int) -> tuple[Epoch, int]:
    """The epoch at a position, and the position behind it."""
    if position + _EPOCH.size > len(data):
        raise ValueError("an epoch that ends early")
    start, term = _EPOCH.unpack_from(data, position)
    if start < 0 or term < 0:
        raise ValueError(f"an epoch of term {term} at {start}")
    members, position = decode_members(data, position + _EPOCH.size)
    return Epoch(start, term, members), position
