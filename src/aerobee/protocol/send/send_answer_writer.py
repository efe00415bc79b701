"""The answer to a send that was stored, written straight into a channel's output.

    begin ─▶ add_id, once per message ─▶ end

It says the message ids (offset ids, joined by commas for a batch), the queue, the queue offset of
the first message, the sender's own id, and how to take the message back if it waits for a time;
region and tracing are the broker's and never change. The form is the request's. What the general
codec would write means the same.

JSON, one line, the parts in capitals filled in:

    {"code":0,"extFields":{"MSG_REGION":"…","TRACE_ON":"true","msgId":"IDS","queueId":"N",
     "queueOffset":"N","transactionId":"ID","recallHandle":"BASE64"},"flag":1,"language":"JAVA","opaque":N,
     "serializeTypeCurrentRPC":"JSON","version":513}

Binary: see `header_binary`; the same fields in the same order.
"""

from typing import TYPE_CHECKING

from aerobee.errors import Misuse
from aerobee.protocol.remoting.remoting_command import VERSION
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_address, copy_bytes, store_i32
    from aerobee.protocol.primitives.digits import put_base64, put_decimal, put_hex

_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')  # needs no escape in JSON
_ROOM = 512  # the largest answer without its region, its ids, the sender's id and the handle
HANDLE_BYTES_MAX = 1024


def is_compiled() -> bool:
    return cython.compiled


class SendAnswerWriter:
    """Writes one answer at a time.

    A1. Between `begin` and `end` nobody else writes to the output.
    A2. `_start` is where the frame begins, `_ids_start` where its message ids do.
    A3. A handle that was begun is of the answer that ends next.
    """

    __slots__ = (
        "_binary_head",
        "_handle",
        "_handle_size",
        "_handle_view",
        "_id_head",
        "_ids_start",
        "_is_binary",
        "_json_head",
        "_json_tail",
        "_output",
        "_start",
    )

    def __init__(self, region: str, is_traced: bool, store_host: bytes) -> None:
        if not _PLAIN.issuperset(region.encode()) or len(region) > 255:
            raise Misuse(f"the region {region!r} is no short ASCII text")
        traced = "true" if is_traced else "false"
        # The first half of an offset message id is the same for all.
        self._id_head = store_host.hex().upper().encode()
        self._json_head = (
            '{"code":0,"extFields":{"MSG_REGION":"' + region + '","TRACE_ON":"' + traced + '",'
            '"msgId":"'
        ).encode()
        self._json_tail = f',"serializeTypeCurrentRPC":"JSON","version":{VERSION}}}'.encode()
        # Code 0, JAVA, version, opaque, response, no remark, then the fields.
        self._binary_head = (
            bytes(3)
            + VERSION.to_bytes(2, "big")
            + bytes(4)
            + (1).to_bytes(4, "big")
            + bytes(8)
            + _entry(b"MSG_REGION", region.encode())
            + _entry(b"TRACE_ON", traced.encode())
            + _key(b"msgId")
        )
        self._is_binary = False
        self._start = 0
        self._ids_start = 0
        self._output = ReplyBuffer()
        self._handle_view = memoryview(bytearray(HANDLE_BYTES_MAX))
        self._handle = address(self._handle_view)
        self._handle_size = 0

    def begin_handle(
        self, broker: bytes, topic: bytes, deliver_ms: int, memory: memoryview, at: int, size: int
    ) -> None:
        """Have the next answer say how to take the message back: see `recall_handle`. The sender's
        own id is `size` plain bytes at a place in a memory, and has no space in it."""
        if len(broker) + len(topic) + size + 32 > HANDLE_BYTES_MAX:
            return
        handle = self._handle
        copy_bytes(handle, 0, bytes_address(b"v1 "), 0, 3)
        copy_bytes(handle, 3, bytes_address(topic), 0, len(topic))
        position = 3 + len(topic)
        handle[position] = 0x20
        copy_bytes(handle, position + 1, bytes_address(broker), 0, len(broker))
        position += 1 + len(broker)
        handle[position] = 0x20
        position = put_decimal(handle, position + 1, deliver_ms)
        handle[position] = 0x20
        copy_bytes(handle, position + 1, memory, at, size)
        self._handle_size = position + 1 + size

    def begin(self, output: ReplyBuffer, is_binary: bool, id_count: int, sender_size: int) -> None:
        """Begin an answer with `id_count` ids, to who called the message by `sender_size` bytes."""
        head = self._binary_head if is_binary else self._json_head
        room = _ROOM + len(head) + sender_size + 2 * self._handle_size
        output.make_room(room + id_count * (len(self._id_head) + 17))
        self._output = output
        self._is_binary = is_binary
        self._start = output.position
        output.position += 8  # the lengths are known at the end
        self._put(head)
        if is_binary:
            output.position += 4  # the length of the value, too
        self._ids_start = output.position

    def add_id(self, log_offset: int) -> None:
        output = self._output
        if output.position > self._ids_start:
            output.memory[output.position] = 0x2C
            output.position += 1
        self._put(self._id_head)
        output.position = put_hex(output.memory, output.position, log_offset)

    def end(
        self, opaque: int, queue_id: int, queue_offset: int, memory: memoryview, at: int, size: int
    ) -> None:
        """End the answer; the sender's own id is `size` plain bytes at a place in a memory."""
        output = self._output
        if self._is_binary:
            self._end_binary(opaque, queue_id, queue_offset, memory, at, size)
        else:
            self._put(b'","queueId":"')
            output.position = put_decimal(output.memory, output.position, queue_id)
            self._put(b'","queueOffset":"')
            output.position = put_decimal(output.memory, output.position, queue_offset)
            self._put(b'","transactionId":"')
            copy_bytes(output.memory, output.position, memory, at, size)
            output.position += size
            if self._handle_size != 0:
                self._put(b'","recallHandle":"')
                self._put_handle()
            self._put(b'"},"flag":1,"language":"JAVA","opaque":')
            output.position = put_decimal(output.memory, output.position, opaque)
            self._put(self._json_tail)
        header_size = output.position - self._start - 8
        store_i32(output.memory, self._start, header_size + 4)
        store_i32(output.memory, self._start + 4, header_size)
        if self._is_binary:
            output.memory[self._start + 4] = 1

    def _end_binary(
        self, opaque: int, queue_id: int, queue_offset: int, memory: memoryview, at: int, size: int
    ) -> None:
        output = self._output
        store_i32(output.memory, self._ids_start - 4, output.position - self._ids_start)
        self._put(b"\0\x07queueId")
        self._put_number(queue_id)
        self._put(b"\0\x0bqueueOffset")
        self._put_number(queue_offset)
        self._put(b"\0\x0dtransactionId")
        store_i32(output.memory, output.position, size)
        copy_bytes(output.memory, output.position + 4, memory, at, size)
        output.position += 4 + size
        if self._handle_size != 0:
            self._put(b"\0\x0crecallHandle")
            start = output.position
            output.position += 4
            self._put_handle()
            store_i32(output.memory, start, output.position - start - 4)
        store_i32(output.memory, self._start + 13, opaque)
        # 8 of the frame, 21 of the fixed part of the header.
        store_i32(output.memory, self._start + 25, output.position - self._start - 29)

    def _put_handle(self) -> None:
        output = self._output
        output.position = put_base64(
            output.memory, output.position, self._handle, self._handle_size
        )
        self._handle_size = 0

    def _put_number(self, value: int) -> None:
        """A value of digits, after its length."""
        output = self._output
        end = put_decimal(output.memory, output.position + 4, value)
        store_i32(output.memory, output.position, end - output.position - 4)
        output.position = end

    def _put(self, text: bytes) -> None:
        output = self._output
        copy_bytes(output.memory, output.position, bytes_address(text), 0, len(text))
        output.position += len(text)


def _key(name: bytes) -> bytes:
    return len(name).to_bytes(2, "big") + name


def _entry(name: bytes, value: bytes) -> bytes:
    return _key(name) + len(value).to_bytes(4, "big") + value
