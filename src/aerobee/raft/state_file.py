"""The file with the saved state of a node, replaced as a whole and believed only with its checksum.

    0         4         8        16       20       24            24 + ...
    +---------+---------+--------+--------+--------+-------------+
    | magic   | CRC-32  | term   | vote   | epochs | epochs, as  |
    | "ARft"  | of the  | i64    | i32    | u32    | epoch_bytes |
    |         | rest    |        | -1: no | count  | has them    |
    +---------+---------+--------+--------+--------+-------------+

A crash leaves the old content or the new one (`Disk.replace`). A file that cannot be believed is an
error: a node that has forgotten its vote must not go on as if it had never voted.
"""

import struct
from zlib import crc32

from aerobee.errors import CorruptFile, Misuse
from aerobee.ports.disk import Disk
from aerobee.raft.epoch_bytes import decode_epoch, encode_epoch
from aerobee.raft.epochs import EpochTable
from aerobee.raft.saved_state import SavedState

_MAGIC = b"ARft"
_CHECKSUM = struct.Struct(">I")
_NUMBERS = struct.Struct(">qiI")
_BEGIN = len(_MAGIC) + _CHECKSUM.size
_NO_VOTE = -1


def encode_state(state: SavedState) -> bytes:
    vote = _NO_VOTE if state.vote is None else state.vote
    rest = _NUMBERS.pack(state.term, vote, len(state.epochs))
    rest += b"".join(map(encode_epoch, state.epochs))
    return _MAGIC + _CHECKSUM.pack(crc32(rest)) + rest


def decode_state(data: bytes) -> SavedState:
    """ValueError: these are no bytes of a state."""
    if not data.startswith(_MAGIC) or len(data) < _BEGIN + _NUMBERS.size:
        raise ValueError("no state of a Raft node")
    (checksum,) = _CHECKSUM.unpack_from(data, len(_MAGIC))
    if crc32(data[_BEGIN:]) != checksum:
        raise ValueError("a checksum that is wrong")
    term, vote, count = _NUMBERS.unpack_from(data, _BEGIN)
    position = _BEGIN + _NUMBERS.size
    epochs = []
    for _ in range(count):
        epoch, position = decode_epoch(data, position)
        epochs.append(epoch)
    if position != len(data) or term < 0 or vote < _NO_VOTE:
        raise ValueError("numbers that cannot be")
    try:
        table = EpochTable(tuple(epochs)).saved()
    except Misuse as error:
        raise ValueError(error.message) from error
    if table[-1].term > term:
        raise ValueError(f"an epoch of term {table[-1].term} before the term {term}")
    return SavedState(term, None if vote == _NO_VOTE else vote, table)


def load_state(disk: Disk, path: str) -> SavedState | None:
    """The saved state; None: there is no file. CorruptFile: there is one, and it is damaged."""
    if not disk.exists(path):
        return None
    try:
        return decode_state(disk.read(path))
    except ValueError as error:
        raise CorruptFile(
            str(error),
            path=path,
            hint="remove this node from its group, empty its store, and add it again",
        ) from error


def save_state(disk: Disk, path: str, state: SavedState) -> None:
    """Return once the state is on the disk. Blocks: call it on a disk thread."""
    disk.replace(path, encode_state(state))
