"""The JSON form of a header: `{"code":105,"extFields":{"topic":"T"},"flag":0,...}`.

Lenient where real clients differ: any key may be missing or null, unknown keys are skipped, ext
values may be numbers and booleans (C++ and Node send them; they become the text Java would see),
a newline may follow (C++). Strict everywhere else, because what one peer reads and another does
not is how requests are smuggled past a check: no duplicate keys, no NaN, Infinity or 1e400, no
integer beyond 64 bits, no lone surrogate, no bad UTF-8, no byte after the end, no depth above 16.
Fields beyond the limits of `command_header` are no error: they are cut or passed over, and `excess`
names the limit.

Two readers that must agree on every input: `scan_json_header`, written by hand, is the reference
and is what runs compiled; `parse_json_header` goes through the standard library's parser, which is
the faster one in the interpreter, and hands to the scanner what that parser cannot judge.
"""

import json
import re
from typing import TYPE_CHECKING, NoReturn

from aerobee.errors import LocalProtocolError, RemoteProtocolError
from aerobee.protocol.remoting.command_header import (
    FIELDS_MAX,
    KEY_BYTES_MAX,
    VALUE_BYTES_MAX,
    CommandHeader,
)
from aerobee.protocol.remoting.json_scan import (
    DEPTH_MAX,
    NUMBER_BYTES_MAX,
    is_bounded,
    reset_header,
    scan_json_header,
)

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython

# Where the standard parser is silent: a surrogate may lack its other half.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

_quoted_slowly = json.JSONEncoder(ensure_ascii=False).encode


def is_compiled() -> bool:
    return cython.compiled


def decode_json_header(view: memoryview, start: int, end: int, header: CommandHeader) -> None:
    """Fill `header` from the JSON at [start, end), by the reader that is the faster one here."""
    if cython.compiled:
        scan_json_header(view, start, end, header)
    else:
        parse_json_header(view, start, end, header)


# Writing.


def encode_json_header(header: CommandHeader) -> bytes:
    """The bytes of a header, keys in the order in which Java writes them."""
    fields = ""
    if header.ext_fields:
        pairs = []
        for key, value in header.ext_fields.items():
            pairs.append(f"{_quoted(key)}:{_quoted(value)}")
        fields = f'"extFields":{{{",".join(pairs)}}},'
    remark = f'"remark":{_quoted(header.remark)},' if header.remark else ""
    text = (
        f'{{"code":{_int32_text(header.code)},{fields}"flag":{_int32_text(header.flag)},'
        f'"language":{_quoted(header.language)},"opaque":{_int32_text(header.opaque)},{remark}'
        f'"serializeTypeCurrentRPC":"JSON","version":{_int32_text(header.version)}}}'
    )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"a header with half a surrogate pair: {text!r}") from error


def _int32_text(value: int) -> str:
    if not -(2**31) <= value < 2**31:
        raise LocalProtocolError(f"{value} in a header; its numbers have 32 bits")
    return str(int(value))


def _quoted(text: str) -> str:
    if not isinstance(text, str):
        raise LocalProtocolError(f"{text!r} in a header; Go and C++ read nothing but text there")
    return f'"{text}"' if _is_plain(text) else _quoted_slowly(text)


def _is_plain(text: str) -> bool:
    """Whether no character needs an escape. The interpreter is faster when it does not look."""
    if cython.compiled:
        for character in text:
            if character < " " or character == '"' or character == "\\":
                return False
    return cython.compiled


# Reading with the standard library.


class _Integer(str):
    """The text of a number without fraction or exponent."""

    __slots__ = ()


class _Fraction(str):
    """The text of any other number."""

    __slots__ = ()


def parse_json_header(view: memoryview, start: int, end: int, header: CommandHeader) -> None:
    """Fill `header` by the standard library's parser."""
    data = bytes(view[start:end])
    if (
        len(data) > VALUE_BYTES_MAX
        or data.count(b"{") + data.count(b"[") > DEPTH_MAX
        or _SURROGATE.search(data)
    ):
        # Strings in arrays, depth and surrogates are not shown to our hooks.
        scan_json_header(view, start, end, header)
        return
    try:
        _fill(header, _DECODER.decode(data.decode("utf-8")))
    except (ValueError, RemoteProtocolError):
        # The fault may lie behind too many fields, where the scanner passes over it.
        scan_json_header(view, start, end, header)


def _fill(header: CommandHeader, value: object) -> None:
    if not isinstance(value, dict):
        _fail("an object must begin")
    reset_header(header)
    for key in ("code", "flag", "opaque", "version"):
        setattr(header, key, _int32(value.get(key)))
    header.language = _text_or_null(value.get("language"), "JAVA")
    header.remark = _text_or_null(value.get("remark"), "")
    header.ext_fields = _ext_fields(value.get("extFields"))


def _int32(value: object) -> int:
    if value is None:
        return 0
    number = int(value) if type(value) is _Integer else 2**31
    if not -(2**31) <= number < 2**31:
        _fail("an integer of 32 bits must stand where code, flag, opaque and version are")
    return number


def _text_or_null(value: object, absent: str) -> str:
    if value is None:
        return absent
    if type(value) is not str:
        _fail("language and remark must be text")
    return value


def _ext_fields(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _fail("extFields must be an object")
    fields = {}
    for key, item in value.items():
        if type(item) is str:
            fields[key] = item
        elif isinstance(item, str):
            fields[key] = str(item)
        elif isinstance(item, bool):
            fields[key] = "true" if item else "false"
        elif item is not None:
            _fail(f"the value of {key!r} is neither text nor a number")
    return fields


def _integer(text: str) -> _Integer:
    if len(text) > NUMBER_BYTES_MAX or not is_bounded(text, True):
        _fail("a number beyond 64 bits")
    return _Integer(text)


def _fraction(text: str) -> _Fraction:
    if len(text) > NUMBER_BYTES_MAX or not is_bounded(text, False):
        _fail("a number beyond 64 bits")
    return _Fraction(text)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        _fail("a key comes twice")
    if len(pairs) > FIELDS_MAX:
        _fail(f"more than {FIELDS_MAX} keys")
    for key in value:
        if len(key) * 4 > KEY_BYTES_MAX and len(key.encode()) > KEY_BYTES_MAX:
            _fail(f"a key of {len(key.encode())} bytes; at most {KEY_BYTES_MAX} are accepted")
    return value


def _constant(text: str) -> NoReturn:
    _fail(f"{text} is no JSON")


def _fail(reason: str) -> NoReturn:
    raise RemoteProtocolError(f"JSON header: {reason}")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_int=_integer,
    parse_float=_fraction,
    parse_constant=_constant,
)
