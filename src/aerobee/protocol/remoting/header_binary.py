"""The binary ("ROCKETMQ") form of a header, big-endian.

    0      2      3         5        9      13            17
    +------+------+---------+--------+------+-------------+--------+----------+-----------+
    | code | lang | version | opaque | flag | remark size | remark | ext size | ext       |
    | i16  | i8   | i16     | i32    | i32  | i32         | UTF-8  | i32      | fields    |
    +------+------+---------+--------+------+-------------+--------+----------+-----------+

    ext field: key size i16, key, value size i32, value; until the ext size is used up

Every size is compared with what is left before it is believed, and the fields must end where the
header does. The code has 16 bits: pop requests (200050 and up) cannot be written in this form.
The limits are those of the JSON form, and fields beyond them are cut or passed over as there. A
language number without a name reads as OTHER.
"""

from typing import TYPE_CHECKING, NoReturn

from aerobee.errors import LocalProtocolError, Misuse, RemoteProtocolError
from aerobee.protocol.remoting.command_header import (
    BINARY_TYPE,
    FIELDS_MAX,
    KEY_BYTES_MAX,
    LANGUAGES,
    OTHER_LANGUAGE,
    VALUE_BYTES_MAX,
    CommandHeader,
)

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import address, bytes_at, load_i16, load_i32
    from aerobee.protocol.text.json_bytes import text_at

HEADER_BYTES_MIN = 21


def is_compiled() -> bool:
    return cython.compiled


def decode_binary_header(view: memoryview, start: int, end: int, header: CommandHeader) -> None:
    """Fill `header` from the bytes at [start, end)."""
    if not 0 <= start <= end <= len(view):
        raise Misuse(f"[{start}, {end}) is not within {len(view)} bytes")
    memory = address(view)
    position = start
    if end - position < HEADER_BYTES_MIN:
        _fail(f"{end - position} bytes; at least {HEADER_BYTES_MIN} are needed")
    header.code = load_i16(memory, position)
    language = memory[position + 2]
    header.language = LANGUAGES[language if language < len(LANGUAGES) else OTHER_LANGUAGE]
    header.version = load_i16(memory, position + 3)
    header.opaque = load_i32(memory, position + 5)
    header.flag = load_i32(memory, position + 9)
    size = load_i32(memory, position + 13)
    position += 17
    # Four bytes after the remark are the ext size.
    if size < 0 or end - position - 4 < size:
        _fail(f"a remark of {size} bytes where {end - position - 4} are left")
    header.excess = ""
    if size <= VALUE_BYTES_MAX:
        header.remark = _text(memory, position, position + size)
    else:
        header.remark = _beginning(memory, position, VALUE_BYTES_MAX)
    position += size
    size = load_i32(memory, position)
    position += 4
    if size != end - position:
        _fail(f"ext fields of {size} bytes where {end - position} are left")
    header.ext_fields = _ext_fields(memory, position, end, header)
    header.serialize_type = BINARY_TYPE


def _ext_fields(
    memory: memoryview, position: int, end: int, header: CommandHeader
) -> dict[str, str]:
    fields: dict[str, str] = {}
    while position < end:
        if len(fields) == FIELDS_MAX:
            header.excess = header.excess or f"more than {FIELDS_MAX} fields"
            break
        if end - position < 2:
            _fail("a key size that is cut off")
        size = load_i16(memory, position)
        position += 2
        # Four bytes after the key are the value size.
        if size < 0 or end - position - 4 < size:
            _fail(f"a key of {size} bytes where {end - position} are left")
        if size <= KEY_BYTES_MAX:
            key = _text(memory, position, position + size)
            if key in fields:
                _fail(f"the key {key!r} comes twice")
        else:
            key = _cut(memory, position, KEY_BYTES_MAX, header)
        position += size
        size = load_i32(memory, position)
        position += 4
        if size < 0 or end - position < size:
            _fail(f"a value of {size} bytes where {end - position} are left")
        if size <= VALUE_BYTES_MAX:
            fields[key] = _text(memory, position, position + size)
        else:
            fields[key] = _cut(memory, position, VALUE_BYTES_MAX, header)
        position += size
    return fields


def _cut(memory: memoryview, position: int, bytes_max: int, header: CommandHeader) -> str:
    """The beginning of a text that is too long, one byte above the limit, so that its length shows
    it."""
    header.excess = header.excess or f"a name or value of more than {bytes_max} bytes"
    return _beginning(memory, position, bytes_max + 1)


def _beginning(memory: memoryview, position: int, size: int) -> str:
    return bytes_at(memory, position, size).decode("utf-8", "replace")


def _text(memory: memoryview, position: int, end: int) -> str:
    try:
        return text_at(memory, position, end)
    except UnicodeDecodeError:
        _fail("text that is not UTF-8")


def _fail(reason: str) -> NoReturn:
    raise RemoteProtocolError(f"binary header: {reason}")


def encode_binary_header(header: CommandHeader) -> bytes:
    """The bytes of a header; LocalProtocolError where the form has no room for a value."""
    language = header.language
    number = LANGUAGES.index(language) if language in LANGUAGES else OTHER_LANGUAGE
    fields = []
    for key, value in header.ext_fields.items():
        key_bytes = _bytes(key)
        value_bytes = _bytes(value)
        fields.append(_number(len(key_bytes), 2))
        fields.append(key_bytes)
        fields.append(_number(len(value_bytes), 4))
        fields.append(value_bytes)
    ext = b"".join(fields)
    remark = _bytes(header.remark)
    return b"".join(
        (
            _number(header.code, 2),
            _number(number, 1),
            _number(header.version, 2),
            _number(header.opaque, 4),
            _number(header.flag, 4),
            _number(len(remark), 4),
            remark,
            _number(len(ext), 4),
            ext,
        )
    )


def _number(value: int, size: int) -> bytes:
    try:
        return value.to_bytes(size, "big", signed=True)
    except OverflowError as error:
        raise LocalProtocolError(
            f"{value} does not fit the {size * 8} bits that a binary header has for it",
            hint="pop requests need a JSON header",
        ) from error


def _bytes(text: str) -> bytes:
    if not isinstance(text, str):
        raise LocalProtocolError(f"{text!r} in a header; its fields are text")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"a header with half a surrogate pair: {text!r}") from error
