"""Frames out of any chunking of a byte stream, without an object per frame.

    0          4            8                8 + header size
    +----------+------------+----------------+-----------------+
    | length   | type: 8    | header         | body            |
    | int32    | header     | JSON (type 0)  | may be empty    |
    |          | size: 24   | binary (1)     |                 |
    +----------+------------+----------------+-----------------+
    length = 4 + header size + body size

`FrameReader` is a cursor: the parts of the current frame are positions in `memory`. Its laws:

F1. A length is checked as soon as its bytes are there, before room is made for what it promises.
F2. Frames that lie whole in a chunk are not copied. The head of a frame that does not is copied
    out at once, so that between chunks nothing but that head is held: never more than one frame
    and one chunk, and half a frame more while its room grows. That grows with what really came,
    to eight times that at most: who wants memory set aside has to send.
F3. After a bad frame the stream cannot be trusted: the reader stays broken.
"""

from typing import TYPE_CHECKING

from aerobee.errors import LocalProtocolError, Misuse, RemoteProtocolError

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_at,
        copy_bytes,
        load_i32,
        load_u32,
    )

FRAME_BYTES_MAX = 16 * 1024 * 1024  # RocketMQ's own limit, the first four bytes included
HEADER_BYTES_MAX = FRAME_BYTES_MAX - 8  # RocketMQ has no other limit
WRITTEN_HEADER_BYTES_MAX = 256 * 1024  # more than any answer of ours needs
FIRST_ROOM_BYTES = 64 * 1024
ROOM_GROWTH = 4

_NOTHING = memoryview(b"")

# First four bytes of other protocols, by what to tell the operator. The peer's first bytes are
# not a length, however they read: "GET " would be 1.19 GB, a TLS hello 369 MB.
_STRANGERS = (
    (b"\x16\x03", "a TLS hello on a plain connection"),
    (b"GET ", "an HTTP request"),
    (b"POST", "an HTTP request"),
    (b"PUT ", "an HTTP request"),
    (b"HEAD", "an HTTP request"),
    (b"DELE", "an HTTP request"),
    (b"OPTI", "an HTTP request"),
    (b"PATC", "an HTTP request"),
    (b"CONN", "an HTTP request"),
    (b"PRI ", "an HTTP/2 or gRPC connection"),
    (b"PROX", "a PROXY protocol line"),
    (b"\r\n\r\n", "a PROXY protocol header"),
    (b"SSH-", "an SSH client"),
)


def is_compiled() -> bool:
    return cython.compiled


class FrameLimits:
    """Limits of a reader: bytes of a whole frame, and of its header."""

    __slots__ = ("frame_bytes_max", "header_bytes_max")

    def __init__(
        self, frame_bytes_max: int = FRAME_BYTES_MAX, header_bytes_max: int = HEADER_BYTES_MAX
    ) -> None:
        if not 8 <= frame_bytes_max <= FRAME_BYTES_MAX:
            raise Misuse(f"frame_bytes_max is {frame_bytes_max}: not within 8..{FRAME_BYTES_MAX}")
        if not 0 <= header_bytes_max <= HEADER_BYTES_MAX:
            raise Misuse(
                f"header_bytes_max is {header_bytes_max}: not within 0..{HEADER_BYTES_MAX}"
            )
        self.frame_bytes_max = frame_bytes_max
        self.header_bytes_max = header_bytes_max


class FrameReader:
    """Cursor over the frames of one connection.

        reader.receive(chunk)
        while reader.advance():
            ... reader.header(), reader.body() ...

    The header is [header_start, header_end) of `memory`, the body [header_end, body_end); `view`
    keeps that memory alive. They are those of the current frame until `advance` is called again;
    a `view` that was kept stays valid for good. A chunk that is not `bytes` must not be changed
    while its frames are in use.
    """

    __slots__ = (
        "_chunk",
        "_end",
        "_failure",
        "_frame_bytes_max",
        "_header_bytes_max",
        "_position",
        "_received",
        "_room",
        "_room_filled",
        "_room_size",
        "body_end",
        "header_end",
        "header_start",
        "memory",
        "seen",
        "serialize_type",
        "view",
    )

    def __init__(self, limits: FrameLimits | None = None) -> None:
        if limits is None:
            limits = FrameLimits()
        self._frame_bytes_max = limits.frame_bytes_max
        self._header_bytes_max = limits.header_bytes_max
        self._failure = ""
        # What was received last; frames are taken from [_position, _end).
        self._chunk = _NOTHING
        self._position = 0
        self._end = 0
        # The head of a frame that began in an earlier chunk.
        self._room = _NOTHING
        self._room_size = 0
        self._room_filled = 0
        # Since the start of the stream: bytes, and frames that have been current. One addition for
        # a frame; who wants their bytes asks `seen_size`.
        self._received = 0
        self.seen = 0
        self._clear_current()

    def receive(self, data: "bytes | bytearray | memoryview") -> None:
        """The next bytes of the stream. Call `advance` until it says False before the next."""
        if self._failure:
            raise RemoteProtocolError(self._failure)
        if self._position < self._end:
            raise Misuse("the frames of the last chunk were not all taken")
        chunk = memoryview(data)
        if not chunk.c_contiguous or chunk.itemsize != 1 or chunk.ndim != 1:
            raise Misuse("a chunk must be a contiguous run of bytes")
        self._chunk = chunk
        self._position = 0
        self._end = len(chunk)
        self._received += self._end

    def advance(self) -> bool:
        """Make the next whole frame current. False: more bytes are needed."""
        if self._room_filled != 0:
            return self._advance_room()
        position = self._position
        if self._end - position < 8:
            return self._keep_head()
        chunk_memory = address(self._chunk)
        length = load_i32(chunk_memory, position)
        word = load_u32(chunk_memory, position + 4)
        header_size = word & 0xFFFFFF
        if (
            length < 4
            or length + 4 > self._frame_bytes_max
            or word > 0x01FFFFFF
            or header_size > self._header_bytes_max
            or header_size > length - 4
        ):
            self._check_words(chunk_memory, position, 8)
        if self._end - position - 4 < length:
            return self._keep_head()
        self._position = position + 4 + length
        self.view = self._chunk
        self.memory = chunk_memory
        self._set_current(position, length, word)
        return True

    def header(self) -> bytes:
        """The header of the current frame, copied."""
        return bytes_at(self.memory, self.header_start, self.header_end - self.header_start)

    def body(self) -> memoryview:
        """The body of the current frame, by reference: it stays valid after later chunks."""
        return self.view[self.header_end : self.body_end].toreadonly()

    def pending_size(self) -> int:
        """Bytes held of a frame that is not complete: at the end of a stream, 0 is a clean end."""
        return self._room_filled + (self._end - self._position)

    def seen_size(self) -> int:
        """Bytes of the frames that have been current, since the start of the stream."""
        return self._received - self.pending_size()

    # Frames across chunks.

    def _advance_room(self) -> bool:
        """Fill the room from the chunk; a full room is the current frame."""
        while True:
            self._fill_room()
            if self._room_filled < self._room_size:
                # Fewer than eight bytes: the length may already be there to be refused.
                self._check_words(address(self._room), 0, self._room_filled)
                self._chunk = _NOTHING
                self._clear_current()
                return False
            frame_size = self._check_words(address(self._room), 0, 8)
            if self._room_filled == frame_size:
                break
            self._grow_room(frame_size)
        self.view = self._room
        self.memory = address(self._room)
        self._set_current(0, frame_size - 4, load_u32(self.memory, 4))
        self._room = _NOTHING
        self._room_size = 0
        self._room_filled = 0
        return True

    def _keep_head(self) -> bool:
        """Copy out what the chunk holds of a frame that goes on in the next one."""
        if self._failure:
            raise RemoteProtocolError(self._failure)
        self._clear_current()
        rest = self._end - self._position
        if rest != 0:
            frame_size = self._check_words(address(self._chunk), self._position, rest)
            self._room = memoryview(bytearray(self._room_for(frame_size, rest)))
            self._room_size = len(self._room)
            self._fill_room()
        self._chunk = _NOTHING
        return False

    def _room_for(self, frame_size: int, arrived: int) -> int:
        """Room now: for the words, or for as much of the frame as may be believed."""
        if frame_size == 0:
            return 8
        room = max(FIRST_ROOM_BYTES, ROOM_GROWTH * arrived)
        return room if 2 * room < frame_size else frame_size  # no last step for a small rest

    def _grow_room(self, frame_size: int) -> None:
        """The next larger room, with what the old one holds."""
        room = memoryview(bytearray(self._room_for(frame_size, self._room_filled)))
        copy_bytes(address(room), 0, address(self._room), 0, self._room_filled)
        self._room = room
        self._room_size = len(room)

    def _fill_room(self) -> None:
        """Move as much of the chunk into the room as both allow."""
        size = min(self._end - self._position, self._room_size - self._room_filled)
        copy_bytes(
            address(self._room), self._room_filled, address(self._chunk), self._position, size
        )
        self._room_filled += size
        self._position += size

    # The current frame.

    def _set_current(self, start: int, length: int, word: int) -> None:
        self.serialize_type = word >> 24
        self.header_start = start + 8
        self.header_end = start + 8 + (word & 0xFFFFFF)
        self.body_end = start + 4 + length
        self.seen += 1

    def _clear_current(self) -> None:
        self.view = _NOTHING
        self.memory = address(_NOTHING)
        self.serialize_type = 0
        self.header_start = 0
        self.header_end = 0
        self.body_end = 0

    # Bad frames.

    def _check_words(self, memory: memoryview, position: int, size: int) -> int:
        """The size of the frame at `position`, or 0 while fewer than 8 bytes are there (F1)."""
        if size < 4:
            return 0
        length = load_i32(memory, position)
        if length < 4 or length + 4 > self._frame_bytes_max:
            self._refuse_length(length, bytes_at(memory, position, 4))
        if size < 8:
            return 0
        word = load_u32(memory, position + 4)
        header_size = word & 0xFFFFFF
        if word > 0x01FFFFFF:
            self._refuse(f"serialize type {word >> 24}; 0 (JSON) and 1 (binary) are known")
        if header_size > length - 4:
            self._refuse(f"a header of {header_size} bytes in a frame of {length + 4}")
        if header_size > self._header_bytes_max:
            self._refuse(
                f"a header of {header_size} bytes; at most {self._header_bytes_max} are accepted"
            )
        return length + 4

    def _refuse_length(self, length: int, first: bytes) -> None:
        for start, stranger in _STRANGERS:
            if first.startswith(start):
                self._refuse(f"{stranger}, not a RocketMQ frame: it began with {first!r}")
        if length < 4:
            self._refuse(f"frame length {length}; at least 4 bytes must follow it")
        self._refuse(f"a frame of {length + 4} bytes; at most {self._frame_bytes_max} are accepted")

    def _refuse(self, reason: str) -> None:
        self._failure = reason
        self._chunk = _NOTHING
        self._room = _NOTHING
        self._room_filled = self._room_size = 0
        self._position = self._end = 0
        self._clear_current()
        raise RemoteProtocolError(reason)


def frame_start(header: bytes, body_size: int, serialize_type: int) -> bytes:
    """Everything of a frame before its body: for bodies that are sent in pieces."""
    length = 4 + len(header) + body_size
    if length + 4 > FRAME_BYTES_MAX:
        raise LocalProtocolError(
            f"a frame of {length + 4} bytes; at most {FRAME_BYTES_MAX} fit",
            hint="no peer reads more: send, or ask for, less at a time",
        )
    if len(header) > WRITTEN_HEADER_BYTES_MAX:
        raise LocalProtocolError(
            f"a header of {len(header)} bytes; at most {WRITTEN_HEADER_BYTES_MAX} are allowed"
        )
    if serialize_type != 0 and serialize_type != 1:
        raise LocalProtocolError(f"serialize type {serialize_type}; 0 and 1 are known")
    word = serialize_type << 24 | len(header)
    return length.to_bytes(4, "big") + word.to_bytes(4, "big") + header


def encode_frame(
    header: bytes, body: "bytes | memoryview", serialize_type: int
) -> "list[bytes | memoryview]":
    """The frame as buffers to be written one after another; the body is not copied."""
    start = frame_start(header, len(body), serialize_type)
    return [start, body] if len(body) else [start]
