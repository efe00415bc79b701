"""The answer SUCCESS without fields, written straight into a channel's output.

    {"code":0,"flag":1,"language":"JAVA","opaque":N,
     "serializeTypeCurrentRPC":"JSON","version":513}

JSON only: a request with a binary header is answered by the general codec.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting.remoting_command import LANGUAGE, VERSION
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, copy_bytes, store_i32
    from aerobee.protocol.primitives.digits import put_decimal


def is_compiled() -> bool:
    return cython.compiled


class SuccessAnswer:
    __slots__ = ("_head", "_tail")

    def __init__(self) -> None:
        self._head = f'{{"code":0,"flag":1,"language":"{LANGUAGE}","opaque":'.encode()
        self._tail = f',"serializeTypeCurrentRPC":"JSON","version":{VERSION}}}'.encode()

    def put(self, output: ReplyBuffer, opaque: int) -> None:
        head_size = len(self._head)
        tail_size = len(self._tail)
        output.make_room(8 + head_size + 20 + tail_size)
        memory = output.memory
        start = output.position
        position = start + 8
        copy_bytes(memory, position, bytes_address(self._head), 0, head_size)
        position = put_decimal(memory, position + head_size, opaque)
        copy_bytes(memory, position, bytes_address(self._tail), 0, tail_size)
        position += tail_size
        store_i32(memory, start, position - start - 4)
        store_i32(memory, start + 4, position - start - 8)
        output.position = position
