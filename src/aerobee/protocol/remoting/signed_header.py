"""The signed fields of a request, found in its header without an object for each.

    header ─▶ names and values of the extension fields, where they lie
           ─▶ values in the order of their names, without escapes, one behind the other
           ─▶ HMAC-SHA1 of that and the body ─▶ is it the signature that the header has?

`signature` says what is signed. The scan reads the forms that clients write; for anything unusual
(spaces, escapes outside values, null, more than 32 fields, the fields that some clients do not
sign) `read` returns False, and the general path decides. Law: when `read` returns True for a header
that the general codec accepts, `is_signed_with` says what `signature.sign` would of its fields.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.remoting.frame import FrameReader

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import (
        address,
        bytes_address,
        copy_bytes,
        load_i16,
        load_i32,
        same_bytes,
    )
    from aerobee.protocol.primitives.hmac_sha1 import is_same_text, prepare_key, put_hmac
    from aerobee.protocol.text.json_bytes import (
        NO_NUMBER,
        bare_int32,
        escaped_unit,
        is_bare_integer,
        is_utf8,
        name_end,
        number_end,
        parse_decimal,
        plain_end,
        put_character,
    )

_TEXT_BYTES_MAX = 65_536


def is_compiled() -> bool:
    return cython.compiled


class SigningKey:
    """The secret of a user, prepared for many signatures. It is in no repr."""

    __slots__ = ("prepared",)

    def __init__(self, secret: bytes) -> None:
        self.prepared = memoryview(bytearray(64))
        prepare_key(address(self.prepared), bytes_address(secret), len(secret))


class SignedHeader:
    """The fields of one request; one object is reused for every frame.

    `code` is the request's, `stamp_end` is 0 if it has no RequestStamp.
    H1. `_order` is a permutation of the first `_count` indexes, in the order of the names after
    `read`. It is that of the last header with as many fields before: most headers are sorted by
    one look at each name.
    """

    __slots__ = (
        "_count",
        "_digest",
        "_frames",
        "_has_escapes",
        "_is_gathered",
        "_name_sizes",
        "_name_starts",
        "_order",
        "_order_count",
        "_said_end",
        "_said_start",
        "_stamp_start",
        "_text",
        "_text_size",
        "_user_end",
        "_user_start",
        "_value_ends",
        "_value_starts",
        "code",
        "stamp_end",
    )

    def __init__(self) -> None:
        self._frames: FrameReader | None = None
        self._count = 0
        self._order_count = 0
        self._text = memoryview(bytearray(_TEXT_BYTES_MAX))
        self._text_size = 0
        self._digest = memoryview(bytearray(28))
        self._has_escapes = 0
        self._is_gathered = False
        self._said_start = 0
        self._said_end = 0
        self.code = 0
        self._user_start = 0
        self._user_end = 0
        self._stamp_start = 0
        self.stamp_end = 0
        if not cython.compiled:
            self._name_starts = [0] * 32
            self._name_sizes = [0] * 32
            self._value_starts = [0] * 32
            self._value_ends = [0] * 32
            self._order = [0] * 32

    def read(self, frames: FrameReader) -> bool:
        """Find the fields of the current frame. False: the general path must look."""
        start, end = frames.header_start, frames.header_end
        if end - start > _TEXT_BYTES_MAX:
            return False
        self._frames = frames
        self._count = 0
        self._has_escapes = 0
        self._is_gathered = False
        self._said_start = self._said_end = 0
        self._user_start = self._user_end = 0
        self._stamp_start = self.stamp_end = 0
        self.code = -1
        if frames.serialize_type == 1:
            is_read = self._read_binary(frames.memory, start, end)
        else:
            is_read = self._read_json(frames.memory, start, end)
        return (
            is_read
            and self._user_end > self._user_start
            and self._said_end - self._said_start == 28
            and self._sort(frames.memory)
        )

    def is_of(self, user: bytes) -> bool:
        """Whether the request that was read says that it is of this user."""
        frames = self._frames
        assert frames is not None
        size = self._user_end - self._user_start
        return len(user) == size and same_bytes(
            frames.memory, self._user_start, bytes_address(user), 0, size
        )

    def stamp_number(self, index: int) -> int:
        """One of the numbers of the stamp, which have points in between; -1: there is none."""
        frames = self._frames
        if frames is None:
            return -1
        memory = frames.memory
        start = self._stamp_start
        for _ in range(index):
            while start < self.stamp_end and memory[start] != 0x2E:
                start += 1
            start += 1
        stop = start
        while stop < self.stamp_end and memory[stop] != 0x2E:
            stop += 1
        if stop > self.stamp_end or stop - start > 18 or (stop < self.stamp_end) != (index < 3):
            return -1
        number = parse_decimal(memory, start, stop)
        return number if number >= 0 else -1

    def is_signed_with(self, key: SigningKey) -> bool:
        """Whether the request that was read has the signature of this key."""
        frames = self._frames
        assert frames is not None
        if not self._is_gathered:
            self._gather(frames.memory)
        body_size = frames.body_end - frames.header_end
        put_hmac(
            address(self._digest),
            address(key.prepared),
            address(self._text),
            self._text_size,
            frames.memory,
            frames.header_end,
            body_size,
        )
        return is_same_text(address(self._digest), frames.memory, self._said_start)

    # JSON. The steps return the position after what they read, which is before `end`, or -1.

    def _read_json(self, memory: memoryview, position: int, end: int) -> bool:
        if end - position < 2 or memory[position] != 0x7B:
            return False
        has_fields = False
        position += 1
        while True:
            stop = name_end(memory, position, end)
            if stop < 0:
                return False
            start = position + 1
            position = stop + 2
            if memory[position] == 0x7B:
                # The only object in a header; what another one would say is not known here.
                is_fields = stop - start == 9 and same_bytes(
                    memory, start, bytes_address(b"extFields"), 0, 9
                )
                if has_fields or not is_fields:
                    return False
                has_fields = True
                position = self._read_fields(memory, position + 1, end)
            else:
                value = position
                position = self._value_end(memory, position, end)
                if stop - start == 4 and same_bytes(memory, start, bytes_address(b"code"), 0, 4):
                    if self.code >= 0 or position < 0:
                        return False
                    number = bare_int32(memory, value, position)
                    if number == NO_NUMBER or number < 0:
                        return False
                    self.code = number
            if position < 0:
                return False
            byte = memory[position]
            position += 1
            if byte == 0x7D:
                # C++ ends its headers with a newline.
                return has_fields and (
                    position == end or (position == end - 1 and memory[position] == 0x0A)
                )
            if byte != 0x2C:
                return False

    def _read_fields(self, memory: memoryview, position: int, end: int) -> int:
        while True:
            stop = name_end(memory, position, end)
            if stop < 0:
                return -1
            start = position + 1
            position = self._value_end(memory, stop + 2, end)
            if position < 0:
                return -1
            is_text = memory[stop + 2] == 0x22
            value_start = stop + 3 if is_text else stop + 2
            value_end = position - 1 if is_text else position
            if not self._note(memory, start, stop - start, value_start, value_end):
                return -1
            byte = memory[position]
            position += 1
            if byte == 0x7D:
                return position if position < end else -1
            if byte != 0x2C:
                return -1

    def _value_end(self, memory: memoryview, position: int, end: int) -> int:
        """Of a string, an integer, true or false."""
        byte = memory[position]
        if byte == 0x22:
            return self._text_end(memory, position + 1, end)
        if byte == 0x74 or byte == 0x66:
            stop = position + (4 if byte == 0x74 else 5)
            is_word = stop < end and (
                same_bytes(memory, position, bytes_address(b"true"), 0, 4)
                if byte == 0x74
                else same_bytes(memory, position, bytes_address(b"false"), 0, 5)
            )
            return stop if is_word else -1
        stop = number_end(memory, position, end)
        if (
            stop == end
            or parse_decimal(memory, position, stop) == NO_NUMBER
            or not is_bare_integer(memory, position, stop)
        ):
            return -1
        return stop

    def _text_end(self, memory: memoryview, start: int, end: int) -> int:
        """The position after the closing quote."""
        position = start
        is_ascii = True
        while True:
            position = plain_end(memory, position, end)
            if end - position < 2:
                return -1
            byte = memory[position]
            if byte == 0x22:
                break
            if byte == 0x5C:
                # The longest escape, and something behind it.
                if end - position < 7 or escaped_unit(memory, position) < 0:
                    return -1
                position += 6 if memory[position + 1] == 0x75 else 2
                one = 1
                self._has_escapes |= one << self._count
            elif byte >= 0x80:
                is_ascii = False
                position += 1
            else:
                return -1
        if not is_ascii and not is_utf8(memory, start, position):
            return -1
        return position + 1

    # Binary.

    def _read_binary(self, memory: memoryview, position: int, end: int) -> bool:
        if end - position < 21:
            return False
        self.code = load_i16(memory, position)
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
            size = load_i16(memory, position)
            if size < 0 or end - start - 4 < size:
                return False
            value_start = start + size + 4
            value_size = load_i32(memory, value_start - 4)
            if value_size < 0 or end - value_start < value_size:
                return False
            position = value_start + value_size
            if plain_end(memory, start, start + size) != start + size:
                return False
            if not is_utf8(memory, value_start, position):
                return False
            if not self._note(memory, start, size, value_start, position):
                return False
        return True

    # Fields.

    def _note(
        self, memory: memoryview, start: int, size: int, value_start: int, value_end: int
    ) -> bool:
        """Take a field. False: some clients do not sign it, or it cannot be said in place."""
        count = self._count
        if count == 32 or size > 128 or value_end - value_start > 32768:
            return False
        byte = memory[start] if size else 0
        is_plain = self._has_escapes >> count & 1 == 0
        if byte == 0x41:
            if size == 9 and same_bytes(memory, start, bytes_address(b"AccessKey"), 0, 9):
                self._user_start, self._user_end = value_start, value_end
                if not is_plain:
                    return False
        elif byte == 0x52:
            if size == 12 and same_bytes(memory, start, bytes_address(b"RequestStamp"), 0, 12):
                self._stamp_start, self.stamp_end = value_start, value_end
                if not is_plain:
                    return False
        elif byte == 0x53:
            if size == 9 and same_bytes(memory, start, bytes_address(b"Signature"), 0, 9):
                # A second one is seen here: it is not among the others.
                if self._said_end != 0 or not is_plain:
                    return False
                self._said_start, self._said_end = value_start, value_end
                return True
            if size == 13 and same_bytes(memory, start, bytes_address(b"SecurityToken"), 0, 13):
                return False
        elif byte == 0x5F and _is_late(memory, start, size):
            return False
        self._name_starts[count] = start
        self._name_sizes[count] = size
        self._value_starts[count] = value_start
        self._value_ends[count] = value_end
        self._count = count + 1
        return True

    def _sort(self, memory: memoryview) -> bool:
        """Order the fields by their names. False: a name comes twice."""
        count = self._count
        if self._order_count != count:
            for index in range(count):
                self._order[index] = index
            self._order_count = count
        for index in range(1, count):
            place = index
            one = self._order[index]
            while place > 0:
                difference = self._compare(memory, self._order[place - 1], one)
                if difference == 0:
                    return False
                if difference < 0:
                    break
                self._order[place] = self._order[place - 1]
                place -= 1
            self._order[place] = one
        return True

    def _compare(self, memory: memoryview, one: int, other: int) -> int:
        """Below 0: the name of one comes before that of the other. Names are ASCII."""
        left, right = self._name_starts[one], self._name_starts[other]
        left_size, right_size = self._name_sizes[one], self._name_sizes[other]
        size = left_size if left_size < right_size else right_size
        for index in range(size):
            difference = memory[left + index] - memory[right + index]
            if difference != 0:
                return difference
        return left_size - right_size

    def _gather(self, memory: memoryview) -> None:
        """Write the signed text. It is no longer than the header."""
        size = 0
        target = address(self._text)
        for place in range(self._count):
            index = self._order[place]
            start, end = self._value_starts[index], self._value_ends[index]
            if self._has_escapes >> index & 1 == 0:
                copy_bytes(target, size, memory, start, end - start)
                size += end - start
                continue
            while start < end:
                stop = plain_end(memory, start, end)
                copy_bytes(target, size, memory, start, stop - start)
                size += stop - start
                start = stop
                if start < end and memory[start] == 0x5C:
                    size = put_character(target, size, escaped_unit(memory, start))
                    start += 6 if memory[start + 1] == 0x75 else 2
                elif start < end:
                    target[size] = memory[start]
                    size += 1
                    start += 1
        self._text_size = size
        self._is_gathered = True


def _is_late(memory: memoryview, start: int, size: int) -> bool:
    """Whether some clients add a field of this name after they have signed."""
    if size == 17:
        return same_bytes(memory, start, bytes_address(b"_UNIQUE_KEY_QUERY"), 0, 17)
    return size == 11 and (
        same_bytes(memory, start, bytes_address(b"__ZONE_NAME"), 0, 11)
        or same_bytes(memory, start, bytes_address(b"__ZONE_MODE"), 0, 11)
    )
