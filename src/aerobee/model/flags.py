"""Bits of a message's system flag, and of a topic's permission.

    bit   10 9 8   7       6        5         4        3 2           1       0
          compr.   inner   needs    store     born     transaction   multi   body
          type     batch   unwrap   host v6   host v6  type          tags    compressed

The compression type counts only beside COMPRESSED; old clients leave it 0 and mean zlib. Agrees
with Java's MessageSysFlag and PermName.
"""

from enum import IntEnum, IntFlag

from aerobee.errors import RemoteProtocolError

COMPRESSED = 0x1
MULTI_TAGS = 0x2
TRANSACTION_MASK = 0xC
BORN_HOST_V6 = 0x10
STORE_HOST_V6 = 0x20
NEEDS_UNWRAP = 0x40
INNER_BATCH = 0x80
COMPRESSION_MASK = 0x700


class TransactionType(IntEnum):
    """The state of a record in a transaction. PREPARED and ROLLBACK enter no consume queue."""

    NONE = 0x0
    PREPARED = 0x4
    COMMIT = 0x8
    ROLLBACK = 0xC


class CompressionType(IntEnum):
    LZ4 = 0x100
    ZSTD = 0x200
    ZLIB = 0x300


class Permission(IntFlag):
    """The allowed operations on a topic's queues."""

    INHERIT = 1  # a template: topics created on first send copy it
    WRITE = 2
    READ = 4
    PRIORITY = 8


# Plain numbers: the operators of a flag take a microsecond each.
_INHERIT, _WRITE, _READ = int(Permission.INHERIT), int(Permission.WRITE), int(Permission.READ)


def transaction_type(sys_flag: int) -> TransactionType:
    return TransactionType(sys_flag & TRANSACTION_MASK)


def with_transaction_type(sys_flag: int, kind: TransactionType) -> int:
    return sys_flag & ~TRANSACTION_MASK | kind


def compression_type(sys_flag: int) -> CompressionType | None:
    """The compression of the body; None if it is not compressed."""
    if not sys_flag & COMPRESSED:
        return None
    kind = sys_flag & COMPRESSION_MASK
    if kind == 0:
        return CompressionType.ZLIB
    try:
        return CompressionType(kind)
    except ValueError:
        raise RemoteProtocolError(f"compression type {kind >> 8} does not exist") from None


def with_compression_type(sys_flag: int, kind: CompressionType) -> int:
    return sys_flag & ~COMPRESSION_MASK | COMPRESSED | kind


def is_inner_batch(sys_flag: int) -> bool:
    """Whether the record's body is a whole batch that its reader must split."""
    both = NEEDS_UNWRAP | INNER_BATCH
    return sys_flag & both == both


def is_readable(permission: int) -> bool:
    return permission & _READ != 0


def is_writable(permission: int) -> bool:
    return permission & _WRITE != 0


def is_inherited(permission: int) -> bool:
    return permission & _INHERIT != 0
