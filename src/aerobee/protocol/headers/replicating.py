"""Header fields of COPY_BROKER_STATE, which is ours, and of its answer.

A slave asks for the state of a broker that RocketMQ has no request for: its versions, or one of its
state files, in pieces.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int64

NO_CRC = -1


@dataclass(frozen=True, slots=True)
class CopyStateHeader:
    name: str = ""
    """The file; empty: only the versions (`bodies/broker_state`)."""
    position: Int64 = 0
    """The first byte that is wanted."""
    known_crc: Int64 = NO_CRC
    """The CRC-32 of the copy that the slave has: if the file is still the same, no byte is sent."""


@dataclass(frozen=True, slots=True)
class CopiedStateHeader:
    """Header of the answer about a file, whose body is a piece of it."""

    size: Int64
    """The size of the whole file in bytes; 0: there is none."""
    crc: Int64
    """The CRC-32 of the whole file: pieces with different ones do not belong together."""
