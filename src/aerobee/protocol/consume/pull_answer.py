"""The answer to a pull that found messages, written straight into a channel's output.

    begin ─▶ the messages, behind what is there ─▶ end

JSON, as every client reads it:

    {"code":0,"extFields":{"groupSysFlag":"N","maxOffset":"N","minOffset":"N",
     "nextBeginOffset":"N","suggestWhichBrokerId":"0","topicSysFlag":"N"},"flag":1,
     "language":"JAVA","opaque":N,"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":513}

The header comes before the messages and says where the next pull begins, which is known only after
them. So room for the longest header is left, and whatever is not needed is filled with blanks
before its last brace, which JSON allows.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting.frame import FrameReader
from aerobee.protocol.remoting.number_template import NumberTemplate
from aerobee.protocol.remoting.remoting_command import VERSION
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


def matches(template: NumberTemplate, frames: FrameReader) -> bool:
    """Whether the current frame's header is like the template's, in JSON."""
    return frames.serialize_type == 0 and template.match(
        frames.memory, frames.header_start, frames.header_end
    )


class PullAnswer:
    """Writes one answer at a time. P1. Between `begin` and `end` only messages are appended."""

    __slots__ = ("_output", "_start", "_tail")

    def __init__(self) -> None:
        self._tail = (
            f',"remark":"FOUND","serializeTypeCurrentRPC":"JSON","version":{VERSION}'.encode()
        )
        self._output = ReplyBuffer()
        self._start = 0

    def begin(self, output: ReplyBuffer) -> None:
        """Leave room for the header, 360 bytes with the longest number in every place, and for the
        two lengths before it: messages go behind it."""
        output.make_room(8 + 360)
        self._output = output
        self._start = output.position
        output.position += 8 + 360

    def undo(self) -> None:
        """Take the answer back: no message was found."""
        self._output.position = self._start

    def end(
        self,
        opaque: int,
        next_offset: int,
        min_offset: int,
        max_offset: int,
        topic_sys_flag: int,
        group_sys_flag: int,
    ) -> None:
        output = self._output
        body_end = output.position
        body_start = self._start + 8 + 360
        output.position = self._start + 8
        self._put(b'{"code":0,"extFields":{"groupSysFlag":"')
        self._put_number(group_sys_flag)
        self._put(b'","maxOffset":"')
        self._put_number(max_offset)
        self._put(b'","minOffset":"')
        self._put_number(min_offset)
        self._put(b'","nextBeginOffset":"')
        self._put_number(next_offset)
        self._put(b'","suggestWhichBrokerId":"0","topicSysFlag":"')
        self._put_number(topic_sys_flag)
        self._put(b'"},"flag":1,"language":"JAVA","opaque":')
        self._put_number(opaque)
        self._put(self._tail)
        while output.position < body_start - 1:
            output.memory[output.position] = 0x20
            output.position += 1
        output.memory[output.position] = 0x7D
        store_i32(output.memory, self._start, 4 + 360 + body_end - body_start)
        store_i32(output.memory, self._start + 4, 360)
        output.position = body_end

    def _put(self, text: bytes) -> None:
        output = self._output
        copy_bytes(output.memory, output.position, bytes_address(text), 0, len(text))
        output.position += len(text)

    def _put_number(self, value: int) -> None:
        self._output.position = put_decimal(self._output.memory, self._output.position, value)
