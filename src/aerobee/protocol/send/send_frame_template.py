"""`SendFrameTemplate` writes sends to one queue straight into a connection's output.

    | length | type, header size | code … opaque … | a b c d e f g | i: size | properties | body |
      4        4                   21                fields that     4         what follows
                                                     stay the same             differs

The fields that are the same for every message to one queue (group, topic, queue, flags) are encoded
once, by the general codec; for each message the opaque, the time, the properties and the body are
filled in. A frame of a batch is the same with a body of entries (`message_batch`).

The properties are the message's id and any text that the caller has encoded already.

M1. The general codec reads from a frame exactly the header that it would have written.
M2. A batch is cut before anything of it is written: no part is more than a broker takes at once,
    and each but the last has no room for the message that follows.
"""

from typing import TYPE_CHECKING, Any

from aerobee.errors import Misuse
from aerobee.protocol.remoting.command_header import CommandHeader
from aerobee.protocol.remoting.header_binary import encode_binary_header
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        bytes_address,
        copy_bytes,
        store_i16,
        store_i32,
    )
    from aerobee.protocol.primitives.digits import put_decimal

# 13 digits: every time until the year 2286.
_BORN_MIN = 10**12
_BORN_END = 10**13
_PLACEHOLDER = str(_BORN_MIN)
_BINARY = 1 << 24
_ID_NAME = b"UNIQ_KEY\x01"
_PROPERTIES_BYTES_MAX = 32767
_ENTRY_BYTES = 22  # of a message in a batch, besides body and properties


def is_compiled() -> bool:
    return cython.compiled


class SendFrameTemplate:
    """The template of sends to one queue, of one producer group."""

    __slots__ = ("_born_at", "_head", "_properties")

    def __init__(self, header: CommandHeader, properties: bytes = b"") -> None:
        """`header` is a send's, SEND_MESSAGE_V2 or SEND_BATCH_MESSAGE; its time and its properties
        are left out. `properties` is text that every message has."""
        fields = {name: text for name, text in header.ext_fields.items() if name not in "gi"}
        # The properties come last, so that what varies in size is at the end.
        template = CommandHeader(
            header.code,
            flag=header.flag,
            version=header.version,
            language=header.language,
            ext_fields={"g": _PLACEHOLDER, **fields, "i": ""},
        )
        self._head = bytes(8) + encode_binary_header(template)
        # Frame and header before the fields, the key of the first one, the size of its value.
        self._born_at = 8 + 21 + 3 + 4
        self._properties = properties

    def put(
        self,
        output: ReplyBuffer,
        opaque: int,
        born_ms: int,
        message_id: bytes,
        properties: bytes,
        body: bytes,
    ) -> None:
        """Write the frame of one message. Misuse if its properties are too long."""
        size = len(_ID_NAME) + len(message_id) + 1 + len(self._properties) + len(properties)
        if size > _PROPERTIES_BYTES_MAX:
            raise _too_long(size)
        self.begin(output, opaque, born_ms, size, len(body))
        self._put_properties(output, message_id, properties)
        _put(output, body)

    def begin(
        self, output: ReplyBuffer, opaque: int, born_ms: int, properties_size: int, body_size: int
    ) -> None:
        """Write a frame up to where its properties begin, and make room for the rest."""
        head_size = len(self._head)
        output.make_room(head_size + properties_size + body_size)
        start = output.position
        _put(output, self._head)
        header_size = head_size - 8 + properties_size
        store_i32(output.memory, start, 4 + header_size + body_size)
        store_i32(output.memory, start + 4, _BINARY | header_size)
        store_i32(output.memory, start + 13, opaque)
        # 21 bytes of the header are before its fields.
        store_i32(output.memory, start + 25, header_size - 21)
        if _BORN_MIN <= born_ms < _BORN_END:
            put_decimal(output.memory, start + self._born_at, born_ms)
        store_i32(output.memory, output.position - 4, properties_size)

    def batch_size(
        self, bodies: list[Any], texts: list[Any] | None, text_size: int, id_size: int
    ) -> int:
        """Bytes of a batch with these bodies, each with an id of that size and a text: its own, or
        one of `text_size`. -1 if a value is not bytes, a body is empty, or a text is too long.
        """
        size = 0
        for body in bodies:
            if type(body) is not bytes or len(body) == 0:
                return -1
            size += len(body)
        count = len(bodies)
        properties_size = len(_ID_NAME) + id_size + 1 + len(self._properties)
        text_size_max = _PROPERTIES_BYTES_MAX - properties_size
        size += (_ENTRY_BYTES + properties_size) * count
        if texts is None:
            return size + text_size * count if text_size <= text_size_max else -1
        if len(texts) != count:
            return -1
        for text in texts:
            if type(text) is not bytes or len(text) > text_size_max:
                return -1
            size += len(text)
        return size

    def put_entry(
        self, output: ReplyBuffer, message_id: bytes, properties: bytes, body: bytes
    ) -> None:
        """Write one message of a batch, for which `begin` has made room."""
        own_size = len(self._properties) + len(properties)
        properties_size = len(_ID_NAME) + len(message_id) + 1 + own_size
        start = output.position
        memory = output.memory
        store_i32(memory, start, 22 + len(body) + properties_size)
        # Magic, checksum and flag: nobody reads them.
        store_i32(memory, start + 4, 0)
        store_i32(memory, start + 8, 0)
        store_i32(memory, start + 12, 0)
        store_i32(memory, start + 16, len(body))
        output.position = start + 20
        _put(output, body)
        store_i16(memory, output.position, properties_size)
        output.position += 2
        self._put_properties(output, message_id, properties)

    def _put_properties(self, output: ReplyBuffer, message_id: bytes, properties: bytes) -> None:
        _put(output, _ID_NAME)
        _put(output, message_id)
        output.memory[output.position] = 0x02
        output.position += 1
        _put(output, self._properties)
        _put(output, properties)


def cut_batch(
    bodies: list[Any], texts: list[Any] | None, each: int, bytes_max: int, count_max: int
) -> list[int] | None:
    """The ends of the parts of a batch. None if a body is not bytes, or is empty. Misuse for a
    message that no part has room for.

    `each` is the size that every message has besides its body and its own text: an entry's fixed
    bytes, its id, the text that all have.
    """
    ends: list[int] = []
    size = 0
    start = 0
    for index in range(len(bodies)):
        body = bodies[index]
        if type(body) is not bytes or len(body) == 0:
            return None
        properties_size = each - _ENTRY_BYTES
        if texts is not None:
            properties_size += len(texts[index])
        if properties_size > _PROPERTIES_BYTES_MAX:
            raise _too_long(properties_size)
        entry = _ENTRY_BYTES + len(body) + properties_size
        if entry > bytes_max:
            raise Misuse(
                f"a message of {entry} bytes in a batch; at most {bytes_max} are taken",
                hint="put it elsewhere and send where, or raise maxMessageSize of the broker "
                "and max_message_bytes of the client",
            )
        if index > start and (size + entry > bytes_max or index - start == count_max):
            ends.append(index)
            start = index
            size = 0
        size += entry
    if len(bodies) > start:
        ends.append(len(bodies))
    return ends


def _too_long(size: int) -> Misuse:
    return Misuse(
        f"{size} bytes of properties; at most {_PROPERTIES_BYTES_MAX} fit",
        hint="put what is long into the body",
    )


def _put(output: ReplyBuffer, text: bytes) -> None:
    """Write where room has been made."""
    copy_bytes(output.memory, output.position, bytes_address(text), 0, len(text))
    output.position += len(text)
