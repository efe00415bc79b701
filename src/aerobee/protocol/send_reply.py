"""The answer to a send that was stored, written straight into the reply buffer.

Everything but five values is the same for every answer of a broker, so the rest is prepared once:

    {"code":0,"extFields":{"MSG_REGION":…,"TRACE_ON":…,"msgId":"‥","queueId":"‥","queueOffset":"‥",
    "transactionId":"‥"},"flag":1,"language":"JAVA","opaque":‥,…}

Clients read `msgId` (the offset id; of a batch all ids, joined by commas: that one takes the general
way), the queue and its offset, and the unique id of the message as `transactionId`.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting_command import LANGUAGE, VERSION
from aerobee.protocol.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.big_endian import bytes_address, copy_bytes, store_i32

_NUMBER_BYTES_MAX = 20
_ID_BYTES_MAX = 56


def is_compiled() -> bool:
    return cython.compiled


class SendReply:
    """The prepared answer of one broker."""

    __slots__ = (
        "_fixed_size",
        "_host_hex",
        "_part_1",
        "_part_2",
        "_part_3",
        "_part_4",
        "_part_5",
        "_part_6",
    )

    def __init__(self, store_host: bytes, region: str, trace_on: str) -> None:
        self._host_hex = store_host.hex().upper().encode()
        self._part_1 = (
            f'{{"code":0,"extFields":{{"MSG_REGION":"{region}","TRACE_ON":"{trace_on}","msgId":"'
        ).encode()
        self._part_2 = b'","queueId":"'
        self._part_3 = b'","queueOffset":"'
        self._part_4 = b'","transactionId":"'
        self._part_5 = f'"}},"flag":1,"language":"{LANGUAGE}","opaque":'.encode()
        self._part_6 = f',"serializeTypeCurrentRPC":"JSON","version":{VERSION}}}'.encode()
        self._fixed_size = 8 + sum(
            map(
                len,
                (
                    self._part_1,
                    self._part_2,
                    self._part_3,
                    self._part_4,
                    self._part_5,
                    self._part_6,
                ),
            )
        )

    def write(
        self,
        output: ReplyBuffer,
        opaque: int,
        queue_id: int,
        queue_offset: int,
        log_offset: int,
        unique: memoryview,
        unique_start: int,
        unique_size: int,
    ) -> bool:
        """Append the answer; False, and nothing appended, if the unique id is no plain text."""
        if not is_plain(unique, unique_start, unique_size):
            return False
        output.make_room(self._fixed_size + _ID_BYTES_MAX + 3 * _NUMBER_BYTES_MAX + unique_size)
        memory = output.memory
        start = output.position
        at = start + 8
        at = put_bytes(memory, at, self._part_1)
        at = put_bytes(memory, at, self._host_hex)
        at = put_hex64(memory, at, log_offset)
        at = put_bytes(memory, at, self._part_2)
        at = put_number(memory, at, queue_id)
        at = put_bytes(memory, at, self._part_3)
        at = put_number(memory, at, queue_offset)
        at = put_bytes(memory, at, self._part_4)
        copy_bytes(memory, at, unique, unique_start, unique_size)
        at += unique_size
        at = put_bytes(memory, at, self._part_5)
        at = put_number(memory, at, opaque)
        at = put_bytes(memory, at, self._part_6)
        store_i32(memory, start, at - start - 4)
        store_i32(memory, start + 4, at - start - 8)
        output.position = at
        return True


def is_plain(memory: memoryview, start: int, size: int) -> bool:
    """Whether a text can stand in JSON as it is."""
    position = start
    end = start + size
    while position < end:
        character = memory[position]
        if character < 0x20 or character > 0x7E or character == 0x22 or character == 0x5C:
            return False
        position += 1
    return True


def put_bytes(memory: memoryview, position: int, data: bytes) -> int:
    """Copy; where the next byte goes."""
    size = len(data)
    copy_bytes(memory, position, bytes_address(data), 0, size)
    return position + size


def put_number(memory: memoryview, position: int, value: int) -> int:
    """Decimal digits of a number; where the next byte goes."""
    if value < 0:
        memory[position] = 0x2D
        position += 1
        value = -value
    size = 1
    rest = value // 10
    while rest > 0:
        size += 1
        rest //= 10
    at = position + size
    while at > position:
        at -= 1
        memory[at] = 48 + value % 10
        value //= 10
    return position + size


def put_hex64(memory: memoryview, position: int, value: int) -> int:
    """Sixteen upper-case digits."""
    at = position + 16
    while at > position:
        at -= 1
        digit = value & 15
        memory[at] = digit + (48 if digit < 10 else 55)
        value >>= 4
    return position + 16
