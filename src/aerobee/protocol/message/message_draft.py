"""`MessageDraft`: the fields of one message on its way into the log, from a send header and its
body.

One draft is reused for every send (filled by `send_header` from the wire, by Python callers through
`set_body` and `set_properties`), so that a send makes no object per field. The commit log reads it
once and keeps nothing of it.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at, copy_bytes

PROPERTIES_BYTES_MAX = 32767  # an int16 on disk

_NOTHING = memoryview(b"")


def is_compiled() -> bool:
    return cython.compiled


class MessageDraft:
    """Fields of one message. Text is UTF-8 bytes, as the record holds it.

    D1. `body` and `properties` are memories (see `big_endian`) of `body_size` and
        `properties_size` bytes; `body_view` keeps the first alive, the draft owns the second.
    D2. For a batch (`is_batch`), the body is a batch body and `properties` are not stored.
    """

    __slots__ = (
        "_properties_view",
        "body",
        "body_size",
        "body_view",
        "born_host",
        "born_timestamp",
        "flag",
        "is_batch",
        "prepared_offset",
        "properties",
        "properties_size",
        "queue_id",
        "reconsume_times",
        "sys_flag",
        "topic",
    )

    def __init__(self) -> None:
        self.topic = b""
        self.queue_id = 0
        self.flag = 0
        self.sys_flag = 0
        self.born_timestamp = 0
        # 4 or 16 address bytes and the port as int32; `sys_flag` must say which.
        self.born_host = bytes(8)
        self.reconsume_times = 0
        self.prepared_offset = 0
        self.is_batch = False
        self.body_view = _NOTHING
        self.body = address(_NOTHING)
        self.body_size = 0
        # One byte more than fits, so that a scanner may notice an overflow after the fact.
        self._properties_view = memoryview(bytearray(PROPERTIES_BYTES_MAX + 1))
        self.properties = address(self._properties_view)
        self.properties_size = 0

    def set_body(self, body: memoryview) -> None:
        """The body, by reference: it must not change until the draft was stored."""
        if not body.c_contiguous or body.itemsize != 1:
            raise Misuse("a body must be a contiguous view of bytes")
        self.body_view = body
        self.body = address(body)
        self.body_size = len(body)

    def set_properties(self, text: bytes) -> None:
        """The properties text, copied."""
        if len(text) > PROPERTIES_BYTES_MAX:
            raise Misuse(f"{len(text)} bytes of properties; at most {PROPERTIES_BYTES_MAX} fit")
        source = memoryview(text)
        copy_bytes(self.properties, 0, address(source), 0, len(text))
        self.properties_size = len(text)

    def body_bytes(self) -> bytes:
        """A copy of the body."""
        return bytes_at(self.body, 0, self.body_size)

    def properties_text(self) -> bytes:
        return bytes_at(self.properties, 0, self.properties_size)
