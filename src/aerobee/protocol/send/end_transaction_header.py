"""The header of an END_TRANSACTION, read in place: which half message, whose, and how it ends.

    {"code":37,"extFields":{"producerGroup":"G","commitLogOffset":"81505","tranStateTableOffset":"7",
     "commitOrRollback":"8","msgId":…,"transactionId":…,"topic":…,"bname":…,
     "fromTransactionCheck":"false"},"flag":2,…}

There is one for every transaction, so it is a scan over memory, as `send_header` is for sends. It
knows what Java's client writes, JSON and binary, as a one-way request that commits or rolls back.
Whatever is unusual makes `read` say False, and the general codec decides. Law: when `read` says
True, the general codec accepts the header and finds the same values in it.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting.frame import FrameReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, load_i16, load_i32, same_bytes
    from aerobee.protocol.send.send_field_names import top_name
    from aerobee.protocol.text.json_bytes import (
        NO_NUMBER,
        bare_int32,
        name_end,
        number_end,
        parse_decimal,
        plain_end,
    )


def is_compiled() -> bool:
    return cython.compiled


class EndTransactionReader:
    """One object is reused for every frame. After `read` returned False its fields are a mix of the
    old and the new header: do not use them. The producer group is not copied: `group_start` and
    `group_size` point into the frame.
    """

    __slots__ = (
        "_flag",
        "_seen",
        "group_size",
        "group_start",
        "log_offset",
        "outcome",
        "queue_offset",
    )

    def __init__(self) -> None:
        self.group_start = 0
        self.group_size = 0
        self.log_offset = 0
        self.queue_offset = 0
        # 8: commit; 12: roll back.
        self.outcome = 0
        self._flag = 0
        # A bit for each field, and from bit 16 on for each top-level name.
        self._seen = 0

    def read(self, frames: FrameReader) -> bool:
        """Whether the current frame is such an end; its values are here then."""
        memory = frames.memory
        start = frames.header_start
        end = frames.header_end
        self._seen = 0
        self._flag = 0
        if frames.serialize_type == 1:
            if not self._read_binary(memory, start, end):
                return False
        elif not self._read_json(memory, start, end):
            return False
        # 0x1E: group, both offsets and the outcome must have been there. Flag 2: one-way.
        return self._seen & 0x1E == 0x1E and self._flag == 2

    def _read_json(self, memory: memoryview, start: int, end: int) -> bool:
        if end - start < 12 or not same_bytes(memory, start, bytes_address(b'{"code":37,'), 0, 11):
            return False
        position = start + 10
        while memory[position] == 0x2C:
            position = self._read_top(memory, position + 1, end)
            if position < 0:
                return False
        return memory[position] == 0x7D and position == end - 1

    # The steps below return the position after what they read, which is before `end`, or -1.

    def _read_top(self, memory: memoryview, position: int, end: int) -> int:
        """A top-level name and its value."""
        stop = name_end(memory, position, end)
        if stop < 0:
            return -1
        name = top_name(memory, position + 1, stop - position - 1)
        bit = 0x10000 << name
        if name < 2 or self._seen & bit != 0:
            return -1
        self._seen |= bit
        position = stop + 2
        if name == 8:
            return self._read_fields(memory, position, end)
        if name > 4:
            return _string_end(memory, position, end)
        stop = number_end(memory, position, end)
        number = bare_int32(memory, position, stop)
        if stop == end or number == NO_NUMBER:
            return -1
        if name == 2:
            self._flag = number
        return stop

    def _read_fields(self, memory: memoryview, position: int, end: int) -> int:
        if memory[position] != 0x7B:
            return -1
        while True:
            start = position + 2
            stop = name_end(memory, position + 1, end)
            if stop < 0:
                return -1
            position = _string_end(memory, stop + 2, end)
            if position < 0 or not self._take(memory, start, stop - start, stop + 3, position - 1):
                return -1
            if memory[position] == 0x7D:
                return position + 1 if position + 1 < end else -1
            if memory[position] != 0x2C:
                return -1

    def _read_binary(self, memory: memoryview, position: int, end: int) -> bool:
        if end - position < 21 or load_i16(memory, position) != 37:
            return False
        self._flag = load_i32(memory, position + 9)
        # A request with a remark is unusual.
        if load_i32(memory, position + 13) != 0 or load_i32(memory, position + 17) != (
            end - position - 21
        ):
            return False
        position += 21
        while position < end:
            if end - position < 6:
                return False
            start = position + 2
            name_size = load_i16(memory, position)
            if name_size < 0 or end - start - 4 < name_size:
                return False
            value = start + name_size + 4
            size = load_i32(memory, value - 4)
            if size < 0 or end - value < size:
                return False
            position = value + size
            if plain_end(memory, value, position) != position:
                return False
            if not self._take(memory, start, name_size, value, position):
                return False
        return True

    def _take(self, memory: memoryview, start: int, name_size: int, value: int, stop: int) -> bool:
        """The plain text at [value, stop) into the field of a name. False: it does not belong
        there, or was there before."""
        name = _field_name(memory, start, name_size)
        bit = 1 << name
        if name == 0 or self._seen & bit != 0 or stop - value > 32768:
            return False
        self._seen |= bit
        if name == 1:
            self.group_start = value
            self.group_size = stop - value
        elif name <= 4:
            number = parse_decimal(memory, value, stop)
            if number < 0:
                return False
            if name == 2:
                self.queue_offset = number
            elif name == 3:
                self.log_offset = number
            elif number == 8 or number == 12:
                self.outcome = number
            else:
                return False
        return True


def _string_end(memory: memoryview, position: int, end: int) -> int:
    """The position after a quoted text that is plain, if that is before `end`; else -1."""
    if end - position < 2 or memory[position] != 0x22:
        return -1
    stop = plain_end(memory, position + 1, end)
    return stop + 1 if stop < end - 1 and memory[stop] == 0x22 else -1


def _field_name(memory: memoryview, start: int, size: int) -> int:
    """The number of a field; 0: nothing that is known here. 1 to 4 must be there."""
    if size == 5:
        if same_bytes(memory, start, bytes_address(b"msgId"), 0, 5):
            return 5
        if same_bytes(memory, start, bytes_address(b"topic"), 0, 5):
            return 6
        return 7 if same_bytes(memory, start, bytes_address(b"bname"), 0, 5) else 0
    if size == 13:
        if same_bytes(memory, start, bytes_address(b"producerGroup"), 0, 13):
            return 1
        return 8 if same_bytes(memory, start, bytes_address(b"transactionId"), 0, 13) else 0
    if size == 15:
        return 3 if same_bytes(memory, start, bytes_address(b"commitLogOffset"), 0, 15) else 0
    if size == 16:
        return 4 if same_bytes(memory, start, bytes_address(b"commitOrRollback"), 0, 16) else 0
    if size == 20:
        if same_bytes(memory, start, bytes_address(b"tranStateTableOffset"), 0, 20):
            return 2
        return 9 if same_bytes(memory, start, bytes_address(b"fromTransactionCheck"), 0, 20) else 0
    return 0
