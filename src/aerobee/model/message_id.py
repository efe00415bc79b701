"""Message ids of both kinds, as values and as text.

    offset message id (the broker's)  address 4 or 16 | port 4 | log offset 8
    unique id (the client's)          address 4 or 16 | pid 2 | loader hash 4 | elapsed ms 4 |
                                      counter 2

Big-endian, written as upper-case hex: 32 characters on IPv4, 56 on IPv6, in both kinds; only the
field in which an id was found tells its kind. `elapsed ms` counts from the start of the client's
month, in its own time zone. Reading accepts lower case, as Java does. No clock is read: the caller
passes in the parts of an id. Agrees with Java's MessageDecoder and MessageClientIDSetter.
"""

import ipaddress
import re
import struct
from dataclasses import dataclass
from functools import lru_cache

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.model.message_queue import LogOffset

_HEX_V4 = re.compile(r"[0-9a-fA-F]{32}")
_HEX_V6 = re.compile(r"[0-9a-fA-F]{56}")
_OFFSET_TAIL = struct.Struct(">iq")
_UNIQUE_TAIL = struct.Struct(">HIIH")
_ADDRESSES = 1024  # cache size: the same few hosts send all messages


@dataclass(frozen=True, slots=True)
class OffsetMessageId:
    """The position of a record: the broker's address, and the log offset."""

    address: str
    port: int
    log_offset: LogOffset

    def __str__(self) -> str:
        try:
            tail = _OFFSET_TAIL.pack(self.port, self.log_offset)
        except struct.error:
            raise LocalProtocolError(f"no id has room for {self!r}") from None
        return (pack_address(self.address) + tail).hex().upper()


@dataclass(frozen=True, slots=True)
class UniqueId:
    """The id that a client gives to a message before it sends it."""

    address: str
    pid: int
    loader_hash: int
    elapsed_ms: int
    counter: int

    def __str__(self) -> str:
        # Java keeps the low bits of each: a pid over 65535, or a month's last days, wrap.
        tail = _UNIQUE_TAIL.pack(
            self.pid & 0xFFFF,
            self.loader_hash & 0xFFFFFFFF,
            self.elapsed_ms & 0xFFFFFFFF,
            self.counter & 0xFFFF,
        )
        return (pack_address(self.address) + tail).hex().upper()


def parse_offset_message_id(text: str) -> OffsetMessageId:
    address, tail = _split(text)
    port, log_offset = _OFFSET_TAIL.unpack(tail)
    return OffsetMessageId(address, port, LogOffset(log_offset))


def parse_unique_id(text: str) -> UniqueId:
    address, tail = _split(text)
    return UniqueId(address, *_UNIQUE_TAIL.unpack(tail))


@lru_cache(_ADDRESSES)
def pack_address(address: str) -> bytes:
    """An IP address as 4 or 16 bytes. A zone (`fe80::1%eth0`) is left out: no format has room."""
    try:
        return ipaddress.ip_address(address).packed
    except ValueError:
        raise LocalProtocolError(f"{address!r} is no IP address") from None


@lru_cache(_ADDRESSES)
def address_text(packed: bytes) -> str:
    """The text of 4 or 16 address bytes."""
    return str(ipaddress.ip_address(packed))


def _split(text: str) -> tuple[str, bytes]:
    """The address, and the 12 bytes that follow it in both kinds."""
    if not _HEX_V4.fullmatch(text) and not _HEX_V6.fullmatch(text):
        raise RemoteProtocolError(
            f"{text[:64]!r} is no message id: it takes 32 or 56 hexadecimal digits"
        )
    raw = bytes.fromhex(text)
    return address_text(raw[:-12]), raw[-12:]
