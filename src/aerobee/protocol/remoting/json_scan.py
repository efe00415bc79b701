"""The hand-written reader of JSON headers: the reference for what a JSON header may be.

`header_json` says what is accepted and why. This scanner makes an object for each key and value
that it keeps and for nothing else; compiled, it is the reader that runs.

Bytes beyond a limit are passed over without an object and without a look at their meaning: a header
of 16 MiB takes 50 ms at most.
"""

from typing import TYPE_CHECKING, NoReturn

from aerobee.errors import Misuse, RemoteProtocolError
from aerobee.protocol.remoting.command_header import (
    FIELDS_MAX,
    JSON_TYPE,
    KEY_BYTES_MAX,
    VALUE_BYTES_MAX,
    CommandHeader,
)

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at
    from aerobee.protocol.text.json_bytes import hex_digit, parse_decimal, plain_end, text_at

DEPTH_MAX = 16
NUMBER_BYTES_MAX = 64  # more digits than any number of 64 bits has
PIECES_MAX = 65_536  # between escapes, of all strings; properties that can be stored have 32,767

# C twins of the limits: a module's name costs a look-up each time that it is used.
_FIELDS_MAX = FIELDS_MAX
_KEY_BYTES_MAX = KEY_BYTES_MAX
_VALUE_BYTES_MAX = VALUE_BYTES_MAX
_SKIPPED_BYTES_MAX = 65_536  # a header up to this size has its unknown values checked

_TOP_NAMES = {
    "code": 1,
    "flag": 2,
    "opaque": 3,
    "version": 4,
    "language": 5,
    "remark": 6,
    "extFields": 7,
}
_ESCAPES = {
    0x22: b'"',
    0x5C: b"\\",
    0x2F: b"/",
    0x62: b"\b",
    0x66: b"\f",
    0x6E: b"\n",
    0x72: b"\r",
    0x74: b"\t",
}


def is_compiled() -> bool:
    return cython.compiled


def is_bounded(number: str, is_integer: bool) -> bool:
    """Whether a JSON number fits 64 bits, as an integer or as a double."""
    if is_integer:
        return -(2**63) <= int(number) < 2**63
    return abs(float(number)) != float("inf")


def reset_header(header: CommandHeader) -> None:
    """Set a header to the values that it has when every key is missing."""
    header.code = 0
    header.flag = 0
    header.opaque = 0
    header.version = 0
    header.language = "JAVA"
    header.remark = ""
    header.ext_fields = {}
    header.serialize_type = JSON_TYPE
    header.excess = ""


def scan_json_header(view: memoryview, start: int, end: int, header: CommandHeader) -> None:
    """Fill `header` from the JSON at [start, end)."""
    if not 0 <= start <= end <= len(view):
        raise Misuse(f"[{start}, {end}) is not within {len(view)} bytes")
    _HeaderScan(view, start, end).read(header)


class _HeaderScan:
    """A cursor over JSON text. Methods start at the first byte of what they read, end after it."""

    __slots__ = (
        "_end",
        "_excess",
        "_is_cut",
        "_is_integer",
        "_memory",
        "_pieces_left",
        "_position",
        "_start",
        "_view",
    )

    def __init__(self, view: memoryview, start: int, end: int) -> None:
        self._view = view
        self._memory = address(view)
        self._start = start
        self._position = start
        self._end = end
        self._is_integer = False  # whether the number read last had neither fraction nor exponent
        self._is_cut = False  # whether the string read last was longer than it may be
        self._excess = ""
        self._pieces_left = PIECES_MAX

    def read(self, header: CommandHeader) -> None:
        reset_header(header)
        self._skip_space()
        if self._peek() != 0x7B:
            self._fail("an object must begin")
        self._position += 1
        seen: set[str] = set()
        count = 0
        while self._find_key(count):
            if count == _FIELDS_MAX:
                self._fail(f"more than {_FIELDS_MAX} keys")  # the opaque may be one of the others
            self._read_member(header, seen)
            count += 1
        self._skip_space()
        if self._position < self._end:
            self._fail("nothing may follow the object")
        header.excess = self._excess

    def _read_member(self, header: CommandHeader, seen: set[str]) -> None:
        """One top-level key, which is not in `seen`, and its value."""
        key = self._new_key(seen)
        name = _TOP_NAMES.get(key, 0)
        seen.add(key)
        if name == 1:
            header.code = self._int32()
        elif name == 2:
            header.flag = self._int32()
        elif name == 3:
            header.opaque = self._int32()
        elif name == 4:
            header.version = self._int32()
        elif name == 5:
            header.language = self._text_or_null("JAVA")
        elif name == 6:
            header.remark = self._text_or_null("")
        elif name == 7:
            if self._peek() == 0x7B:
                self._position += 1
                self._read_ext_fields(header.ext_fields)
            else:
                self._word(b"null")
        elif self._end - self._start <= _SKIPPED_BYTES_MAX:
            self._skip_value(2)
        else:
            self._pass(True)

    def _read_ext_fields(self, fields: dict[str, str]) -> None:
        nulls: set[str] = set()
        count = 0
        while self._find_key(count):
            if count == _FIELDS_MAX:
                self._pass_members()
                return
            count += 1
            key = self._new_key(fields)
            if nulls and key in nulls and not self._is_cut:
                self._fail(f"the key {key!r} comes twice")
            byte = self._peek()
            if byte == 0x22:
                fields[key] = self._string(_VALUE_BYTES_MAX)
            elif byte == 0x74:
                self._word(b"true")
                fields[key] = "true"
            elif byte == 0x66:
                self._word(b"false")
                fields[key] = "false"
            elif byte == 0x6E:
                self._word(b"null")
                nulls.add(key)
            else:
                fields[key] = self._number()

    def _skip_value(self, depth: int) -> None:
        """Any value, checked and forgotten; `depth` is that of an object or array begun here."""
        byte = self._peek()
        if byte == 0x22:
            self._string(_VALUE_BYTES_MAX)
        elif byte == 0x7B:
            self._skip_object(depth)
        elif byte == 0x5B:
            self._skip_array(depth)
        elif byte == 0x74:
            self._word(b"true")
        elif byte == 0x66:
            self._word(b"false")
        elif byte == 0x6E:
            self._word(b"null")
        else:
            self._number()

    def _skip_object(self, depth: int) -> None:
        self._enter(depth)
        seen: set[str] = set()
        count = 0
        while self._find_key(count):
            if count == _FIELDS_MAX:
                self._pass_members()
                return
            count += 1
            seen.add(self._new_key(seen))
            self._skip_value(depth + 1)

    def _skip_array(self, depth: int) -> None:
        self._enter(depth)
        self._skip_space()
        if self._peek() == 0x5D:
            self._position += 1
            return
        while True:
            self._skip_space()
            self._skip_value(depth + 1)
            self._skip_space()
            byte = self._peek()
            if byte != 0x2C and byte != 0x5D:
                self._fail("a comma or the end of the array must follow")
            self._position += 1
            if byte == 0x5D:
                return

    def _enter(self, depth: int) -> None:
        if depth > DEPTH_MAX:
            self._fail(f"nested deeper than {DEPTH_MAX}")
        self._position += 1

    # Keys.

    def _find_key(self, count: int) -> bool:
        """Step to the next key of an object that has had `count`, or over its end."""
        self._skip_space()
        byte = self._peek()
        if byte == 0x7D:
            self._position += 1
            return False
        if count != 0:
            if byte != 0x2C:
                self._fail("a comma or the end of the object must follow")
            self._position += 1
            self._skip_space()
            byte = self._peek()
        if byte != 0x22:
            self._fail("a key must begin")
        return True

    def _new_key(self, seen: "set[str] | dict[str, str]") -> str:
        """A key that is not in `seen`, and the colon and spaces after it."""
        key = self._string(_KEY_BYTES_MAX)
        if key in seen and not self._is_cut:
            self._fail(f"the key {key!r} comes twice")
        self._skip_space()
        if self._peek() != 0x3A:
            self._fail("a colon must follow the key")
        self._position += 1
        self._skip_space()
        return key

    # Values.

    def _int32(self) -> int:
        if self._peek() == 0x6E:
            self._word(b"null")
            return 0
        start = self._position
        self._number_end()
        value = parse_decimal(self._memory, start, self._position)
        if not self._is_integer or not -0x7FFFFFFF - 1 <= value <= 0x7FFFFFFF:
            self._fail("an integer of 32 bits must stand here")
        return value

    def _text_or_null(self, absent: str) -> str:
        if self._peek() == 0x22:
            excess = self._excess
            text = self._string(_VALUE_BYTES_MAX)
            self._excess = excess  # nothing is decided by a remark, so half of one does no harm
            return text
        self._word(b"null")
        return absent

    def _word(self, word: bytes) -> None:
        """One of the three words of JSON."""
        size = min(len(word), self._end - self._position)
        if bytes_at(self._memory, self._position, size) != word:
            self._fail("no value that may stand here")
        self._position += size

    def _number(self) -> str:
        """The text of a number, as it stands."""
        start = self._position
        self._number_end()
        if self._position - start > NUMBER_BYTES_MAX:
            self._fail(f"a number longer than {NUMBER_BYTES_MAX} characters")
        text = text_at(self._memory, start, self._position)
        # Below 19 digits nothing is beyond 64 bits.
        if (len(text) > 18 or not self._is_integer) and not is_bounded(text, self._is_integer):
            self._fail("a number beyond 64 bits")
        return text

    def _number_end(self) -> None:
        """Step over a number and note whether it is an integer."""
        if self._peek() == 0x2D:
            self._position += 1
        if self._peek() == 0x30:
            self._position += 1
        else:
            self._digits()
        self._is_integer = True
        if self._peek() == 0x2E:
            self._is_integer = False
            self._position += 1
            self._digits()
        if self._peek() | 0x20 == 0x65:
            self._is_integer = False
            self._position += 1
            byte = self._peek()
            if byte == 0x2B or byte == 0x2D:
                self._position += 1
            self._digits()

    def _digits(self) -> None:
        start = self._position
        while 0x30 <= self._peek() <= 0x39:
            self._position += 1
        if self._position == start:
            self._fail("no value that may stand here")

    def _string(self, bytes_max: int) -> str:
        start = self._position + 1
        position = start
        self._is_cut = False
        while True:
            position = plain_end(self._memory, position, self._end)
            if position - start > bytes_max:
                self._position = self._quote_after(position) + 1
                return self._cut(bytes_at(self._memory, start, bytes_max + 1), bytes_max)
            if position == self._end:
                self._fail("a string that does not end")
            byte = self._memory[position]
            if byte == 0x22:
                break
            if byte == 0x5C:
                return self._escaped_string(start, position, bytes_max)
            if byte < 0x20:
                self._position = position
                self._fail("a control character in a string")
            position += 1  # of a longer character, judged below with the whole string
        try:
            text = text_at(self._memory, start, position)
        except UnicodeDecodeError:
            self._fail("a string that is not UTF-8")
        self._position = position + 1
        return text

    def _escaped_string(self, start: int, position: int, bytes_max: int) -> str:
        """A string whose first escape is at `position`."""
        parts = bytearray(bytes_at(self._memory, start, position - start))
        while True:
            self._position = position
            if position == self._end:
                self._fail("a string that does not end")
            byte = self._memory[position]
            if byte == 0x22:
                break
            if byte < 0x20:
                self._fail("a control character in a string")
            if byte == 0x5C:
                parts += self._escape()
                position = self._position
            else:
                # At least one byte, which may belong to a longer character.
                run_end = plain_end(self._memory, position + 1, self._end)
                parts += bytes_at(self._memory, position, run_end - position)
                position = run_end
            self._pieces_left -= 1
            if self._pieces_left < 0:
                self._exceed(f"more than {PIECES_MAX} escapes")
            if len(parts) > bytes_max or self._pieces_left < 0:
                self._position = self._quote_after(position) + 1
                return self._cut(bytes(parts[: bytes_max + 1]), bytes_max)
        self._position += 1
        try:
            # An escape gives whole characters, so it cannot mend a broken one beside it.
            return parts.decode("utf-8")
        except UnicodeDecodeError:
            self._fail("a string that is not UTF-8")

    def _escape(self) -> bytes:
        """The UTF-8 of one escape, or of a pair that stands for one character."""
        if self._end - self._position < 2:
            self._fail("a string that does not end")
        byte = self._memory[self._position + 1]
        if byte != 0x75:
            single = _ESCAPES.get(byte)
            if single is None:
                self._fail("an escape that JSON does not know")
            self._position += 2
            return single
        unit = self._unit()
        if 0xD800 <= unit < 0xDC00:
            if self._end - self._position < 2 or self._memory[self._position] != 0x5C:
                self._fail("half a surrogate pair")
            low = self._unit()
            if not 0xDC00 <= low < 0xE000:
                self._fail("half a surrogate pair")
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        elif 0xDC00 <= unit < 0xE000:
            self._fail("half a surrogate pair")
        return chr(unit).encode()

    def _unit(self) -> int:
        """The four hexadecimal digits of an escape, which the cursor is at."""
        if self._end - self._position < 6 or self._memory[self._position + 1] != 0x75:
            self._fail("an escape without its four digits")
        unit = 0
        for index in range(self._position + 2, self._position + 6):
            digit = hex_digit(self._memory[index])
            if digit < 0:
                self._fail("an escape without its four digits")
            unit = unit << 4 | digit
        self._position += 6
        return unit

    # Bytes beyond a limit.

    def _exceed(self, what: str) -> None:
        """Note the first limit that was passed."""
        if not self._excess:
            self._excess = what

    def _cut(self, beginning: bytes, bytes_max: int) -> str:
        """The beginning of a string that is too long, one byte above the limit."""
        self._is_cut = True
        self._exceed(f"a name or value of more than {bytes_max} bytes")
        return beginning.decode("utf-8", "replace")

    def _pass_members(self) -> None:
        """Step over the members that are too many, and over the end of their object."""
        self._exceed(f"more than {_FIELDS_MAX} fields")
        self._pass(False)
        self._position += 1

    def _pass(self, is_value: bool) -> None:
        """Step over the rest of an object, up to its end, or over one value of it."""
        depth = 0
        while True:
            byte = self._peek()
            if byte == 0x22:
                self._position = self._quote_after(self._position + 1)
            elif byte == 0x7B or byte == 0x5B:
                depth += 1
            elif byte == 0x7D or byte == 0x5D:
                if depth == 0:
                    return
                depth -= 1
            elif byte == 0x2C and depth == 0 and is_value:
                return
            elif self._position == self._end:
                self._fail("an object that does not end")
            self._position += 1

    def _quote_after(self, position: int) -> int:
        """Where the string that `position` is in ends."""
        while True:
            if position >= self._end:
                self._fail("a string that does not end")
            byte = self._memory[position]
            if byte == 0x22:
                return position
            # Whatever stands after a backslash, a quote too, is passed over with it.
            position += 2 if byte == 0x5C else 1

    # Steps.

    def _peek(self) -> int:
        """The byte at the cursor, 0 at the end: a zero byte is good nowhere either."""
        return self._memory[self._position] if self._position < self._end else 0

    def _skip_space(self) -> None:
        while self._position < self._end:
            byte = self._memory[self._position]
            if byte != 0x20 and byte != 0x0A and byte != 0x0D and byte != 0x09:
                return
            self._position += 1

    def _fail(self, reason: str) -> NoReturn:
        raise RemoteProtocolError(f"JSON header: {reason}, at byte {self._position - self._start}")
