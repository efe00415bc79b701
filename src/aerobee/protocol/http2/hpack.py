"""HPACK (RFC 7541): header blocks of requests → their fields; responses are written without state.

The decoder keeps the dynamic table of one connection. Fields are pairs of texts; bytes above ASCII
are read as Latin-1, because nothing here looks at them. What a block may make us keep is bounded:
the table by the size that our settings announce, the fields of a block by `fields_bytes_max`.

The encoder uses no dynamic table: a response has two small blocks, which are constants, and an
error's text is a literal.
"""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.http2.header_shape import FIELD_OVERHEAD, HeaderField
from aerobee.protocol.http2.huffman import decode_huffman

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at

TABLE_BYTES = 4096
"""The size of the dynamic table: the default of HTTP/2, which clients assume before settings."""
HOPELESS_TIMES = 4
"""A block with so many times the fields that are taken is not read to its end."""

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


def is_compiled() -> bool:
    return cython.compiled


class HeadersTooLarge(Exception):
    """The fields of a block are more than is taken. The block was read to its end: the dynamic
    table is right, and only the request is refused."""


class HeaderDecoder:
    """D1. The sizes of the table's fields sum up to `_size`, which is at most `_size_max`.
    D2. While a block is read, `_position` is where.
    D3. `changes` counts what was done to the table: between two equal counts it is the same."""

    __slots__ = (
        "_end",
        "_fields_bytes_max",
        "_memory",
        "_position",
        "_size",
        "_size_max",
        "_table",
        "changes",
    )

    def __init__(self, fields_bytes_max: int) -> None:
        self._memory = bytes_address(b"")
        self._position = 0
        self._end = 0
        self._fields_bytes_max = fields_bytes_max
        self._table: deque[HeaderField] = deque()  # the newest first
        self._size = 0
        self._size_max = TABLE_BYTES
        self.changes = 0

    def decode(self, block: bytes) -> list[HeaderField]:
        """The fields of one block. RemoteProtocolError: the connection cannot go on, because the
        two tables may differ."""
        fields: list[HeaderField] = []
        total = 0
        self._memory = bytes_address(block)
        self._position = 0
        self._end = len(block)
        while self._position < self._end:
            byte = self._memory[self._position]
            if byte & 0x80:
                field = self._field(self._integer(7))
            elif byte & 0xE0 == 0x20:
                if fields:
                    raise RemoteProtocolError("a change of the header table inside a block")
                self._resize(self._integer(5))
                continue
            else:
                field = self._literal(byte & 0x40 != 0)
            total += len(field[0]) + len(field[1]) + FIELD_OVERHEAD
            if total > HOPELESS_TIMES * self._fields_bytes_max:
                # Each byte of a block can stand for the whole table.
                raise RemoteProtocolError(f"more than {total} bytes of headers in a block")
            if total <= self._fields_bytes_max:
                fields.append(field)
        if total > self._fields_bytes_max:
            raise HeadersTooLarge(f"{total} bytes of headers")
        return fields

    def _literal(self, is_kept: bool) -> HeaderField:
        index = self._integer(6 if is_kept else 4)
        name = self._field(index)[0] if index else self._text()
        field = (name, self._text())
        if is_kept:
            self._keep(field)
        return field

    def _integer(self, bits: int) -> int:
        """The number whose first `bits` bits are in the byte at the position."""
        mask = (1 << bits) - 1
        number = self._memory[self._position] & mask
        self._position += 1
        if number < mask:
            return number
        shift = 0
        while shift < 28 and self._position < self._end:
            byte = self._memory[self._position]
            self._position += 1
            number += (byte & 0x7F) << shift
            if not byte & 0x80:
                return number
            shift += 7
        raise RemoteProtocolError("a header block with a number that does not end")

    def _text(self) -> str:
        if self._position >= self._end:
            raise RemoteProtocolError("a header block that ends inside a field")
        is_coded = self._memory[self._position] & 0x80
        size = self._integer(7)
        start = self._position
        if size > self._end - start:
            raise RemoteProtocolError("a header string that goes beyond its block")
        self._position = start + size
        data = bytes_at(self._memory, start, size)
        return (decode_huffman(data) if is_coded else data).decode("latin-1")

    def _field(self, index: int) -> HeaderField:
        if 0 < index <= _STATIC_COUNT:
            return _STATIC[index - 1]
        if _STATIC_COUNT < index <= _STATIC_COUNT + len(self._table):
            return self._table[index - _STATIC_COUNT - 1]
        raise RemoteProtocolError(f"there is no header field {index}")

    def _keep(self, field: HeaderField) -> None:
        self.changes += 1
        self._table.appendleft(field)
        self._size += _size_of(field)
        self._evict()

    def _resize(self, size: int) -> None:
        if size > TABLE_BYTES:
            raise RemoteProtocolError(f"a header table of {size} bytes was not offered")
        self._size_max = size
        self.changes += 1
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


def _size_of(field: HeaderField) -> int:
    return len(field[0]) + len(field[1]) + FIELD_OVERHEAD
