"""HPACK (RFC 7541): header blocks of requests → their fields; responses are written without state.

The decoder keeps the dynamic table of one connection. Fields are pairs of texts; bytes above ASCII
are read as Latin-1, because nothing here looks at them. What a block may make us keep is bounded:
the table by the size that our settings announce, the fields of a block by `fields_bytes_max`.

The encoder uses no dynamic table: a response has two small blocks, which are constants, and an
error's text is a literal.
"""

from collections import deque
from collections.abc import Iterable
from typing import TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.huffman import decode_huffman

TABLE_BYTES = 4096
"""The size of the dynamic table: the default of HTTP/2, which clients assume before settings."""
FIELD_OVERHEAD = 32

HeaderField: TypeAlias = tuple[str, str]

# RFC 7541, appendix A: index 1 is the first.
_STATIC: tuple[HeaderField, ...] = (
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
)
_STATIC_COUNT = len(_STATIC)


class HeadersTooLarge(Exception):
    """The fields of a block are more than is taken. The block was read to its end: the dynamic
    table is right, and only the request is refused."""


class HeaderDecoder:
    """D1. The sizes of the table's fields sum up to `_size`, which is at most `_size_max`."""

    __slots__ = ("_fields_bytes_max", "_size", "_size_max", "_table")

    def __init__(self, fields_bytes_max: int) -> None:
        self._fields_bytes_max = fields_bytes_max
        self._table: deque[HeaderField] = deque()  # the newest first
        self._size = 0
        self._size_max = TABLE_BYTES

    def decode(self, block: bytes) -> list[HeaderField]:
        """The fields of one block. RemoteProtocolError: the connection cannot go on, because the
        two tables may differ."""
        fields: list[HeaderField] = []
        total = 0
        position, end = 0, len(block)
        while position < end:
            byte = block[position]
            if byte & 0x80:
                index, position = read_integer(block, position, 7)
                field = self._field(index)
            elif byte & 0xE0 == 0x20:
                if fields:
                    raise RemoteProtocolError("a change of the header table inside a block")
                size, position = read_integer(block, position, 5)
                self._resize(size)
                continue
            else:
                is_kept = bool(byte & 0x40)
                index, position = read_integer(block, position, 6 if is_kept else 4)
                if index:
                    name = self._field(index)[0]
                else:
                    name, position = _read_text(block, position)
                value, position = _read_text(block, position)
                field = (name, value)
                if is_kept:
                    self._keep(field)
            total += len(field[0]) + len(field[1]) + FIELD_OVERHEAD
            if total <= self._fields_bytes_max:
                fields.append(field)
        if total > self._fields_bytes_max:
            raise HeadersTooLarge(f"{total} bytes of headers")
        return fields

    def _field(self, index: int) -> HeaderField:
        if 0 < index <= _STATIC_COUNT:
            return _STATIC[index - 1]
        if _STATIC_COUNT < index <= _STATIC_COUNT + len(self._table):
            return self._table[index - _STATIC_COUNT - 1]
        raise RemoteProtocolError(f"there is no header field {index}")

    def _keep(self, field: HeaderField) -> None:
        self._table.appendleft(field)
        self._size += _size_of(field)
        self._evict()

    def _resize(self, size: int) -> None:
        if size > TABLE_BYTES:
            raise RemoteProtocolError(f"a header table of {size} bytes was not offered")
        self._size_max = size
        self._evict()

    def _evict(self) -> None:
        while self._size > self._size_max:
            self._size -= _size_of(self._table.pop())


def encode_headers(fields: Iterable[HeaderField]) -> bytes:
    """A block of literals that no table has to remember."""
    out = bytearray()
    for name, value in fields:
        out.append(0)
        for text in (name, value):
            data = text.encode()
            out += write_integer(len(data), 7)
            out += data
    return bytes(out)


def read_integer(block: bytes, position: int, bits: int) -> tuple[int, int]:
    """A number whose first `bits` bits are in the byte at `position`, and the position after it."""
    mask = (1 << bits) - 1
    number = block[position] & mask
    position += 1
    if number < mask:
        return number, position
    for shift in (0, 7, 14, 21):
        if position >= len(block):
            break
        byte = block[position]
        position += 1
        number += (byte & 0x7F) << shift
        if not byte & 0x80:
            return number, position
    raise RemoteProtocolError("a header block with a number that does not end")


def write_integer(number: int, bits: int, first: int = 0) -> bytes:
    """A number after the bits of `first`."""
    mask = (1 << bits) - 1
    if number < mask:
        return bytes([first | number])
    out = bytearray([first | mask])
    number -= mask
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_text(block: bytes, position: int) -> tuple[str, int]:
    if position >= len(block):
        raise RemoteProtocolError("a header block that ends inside a field")
    is_coded = block[position] & 0x80
    size, position = read_integer(block, position, 7)
    end = position + size
    if end > len(block):
        raise RemoteProtocolError("a header string that goes beyond its block")
    data = block[position:end]
    return (decode_huffman(data) if is_coded else data).decode("latin-1"), end


def _size_of(field: HeaderField) -> int:
    return len(field[0]) + len(field[1]) + FIELD_OVERHEAD
