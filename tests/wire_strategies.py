"""Headers and streams for property tests: good ones, and good ones with some bytes changed."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tests.wire import JAVA_FIELDS, LONG_NAMES, binary_header, frame, java_header

INT32 = st.integers(-(2**31), 2**31 - 1)
# Any text that UTF-8 can hold, with a taste for what JSON must escape.
TEXT = st.text(
    st.one_of(st.sampled_from('\x00\x01\x02"\\/\n\x7f'), st.characters(codec="utf-8")), max_size=40
)
NAMES = st.text(st.characters(codec="utf-8"), max_size=20)


def header_values() -> st.SearchStrategy[dict[str, Any]]:
    """What any header may say."""
    return st.fixed_dictionaries(
        {
            "code": INT32,
            "flag": INT32,
            "opaque": INT32,
            "version": INT32,
            "language": st.sampled_from(["JAVA", "GO", "CPP", "OTHER", "NODE_JS"]),
            "remark": TEXT,
            "ext_fields": st.dictionaries(NAMES, TEXT, max_size=8),
        }
    )


_NUMBERS = st.one_of(st.integers(-(2**64), 2**64), st.floats(allow_nan=False, allow_infinity=False))
_LEAVES = st.one_of(st.none(), st.booleans(), _NUMBERS, TEXT)
_TREES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4)
)


@st.composite
def json_headers(draw: st.DrawFn) -> bytes:
    """JSON text that is a header, or nearly one: any value may stand anywhere."""
    known = {
        "code": _NUMBERS | INT32,
        "flag": INT32,
        "opaque": INT32 | st.none(),
        "version": INT32 | TEXT,
        "language": TEXT | st.none() | INT32,
        "remark": TEXT | st.none(),
        "extFields": st.dictionaries(NAMES, _LEAVES, max_size=6) | _TREES,
    }
    keys = draw(st.lists(st.sampled_from([*known, "x", "y"]), max_size=9))
    parts = []
    for key in keys:
        value = json.dumps(draw(known.get(key, _TREES)), ensure_ascii=draw(st.booleans()))
        parts.append(f"{json.dumps(key)}: {value}")
    text = "{" + draw(st.sampled_from([",", ", ", " ,\n"])).join(parts) + "}"
    return text.encode("utf-8", "replace")


@st.composite
def send_fields(draw: st.DrawFn) -> dict[str, str]:
    """The fields of a send by letter, some changed, some gone, some more."""
    changed = {
        "b": st.sampled_from(["T", "%RETRY%g", "", "é", "x" * 300]),
        "d": st.sampled_from(["", "8", "x"]),
        "e": st.integers(-5, 20).map(str) | st.sampled_from(["007", "2147483648", "-", "1_0"]),
        "f": INT32.map(str),
        "g": st.integers(-(2**65), 2**65).map(str),
        "h": INT32.map(str),
        "i": TEXT,
        "j": INT32.map(str) | st.just(""),
        "k": st.sampled_from(["true", "TRUE", "1", "0", "no"]),
        "l": INT32.map(str),
        "m": st.sampled_from(["true", "True", "1", "0", "é"]),
    }
    fields = dict(JAVA_FIELDS)
    for letter in draw(st.sets(st.sampled_from(sorted(changed)), max_size=4)):
        fields[letter] = draw(changed[letter])
    for letter in draw(st.sets(st.sampled_from(sorted(fields)), max_size=1)):
        del fields[letter]
    return fields | draw(st.dictionaries(st.sampled_from(["ns", "AccessKey", "o"]), TEXT))


@st.composite
def send_frames(draw: st.DrawFn) -> bytes:
    """The frame of a send, in either form, by either names."""
    fields = draw(send_fields())
    code = draw(st.sampled_from([310, 310, 320, 10, 325]))
    if code == 10:
        fields = {LONG_NAMES.get(letter, letter): value for letter, value in fields.items()}
    opaque = draw(INT32)
    body = draw(st.binary(max_size=20))
    if draw(st.booleans()):
        return frame(binary_header(code, fields, opaque=opaque), body, 1)
    header = java_header(code, fields, opaque=opaque)
    for letter in draw(st.sets(st.sampled_from("defhjl"), max_size=3)):
        # As C++ and Node write numbers.
        header = header.replace(
            f'"{letter}":"{fields.get(letter)}"'.encode(),
            f'"{letter}":{fields.get(letter)}'.encode(),
        )
    return frame(header, body)


@st.composite
def edited(draw: st.DrawFn, source: st.SearchStrategy[bytes]) -> bytes:
    """Bytes of `source` with up to three small edits."""
    data = bytearray(draw(source))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 3))] = draw(
            st.sampled_from(
                [b"", b'"', b"\\", b",", b"}", b"{", b"0", b"\xff", b"\x00", b" ", b"u"]
            )
            | st.binary(max_size=3)
        )
    return bytes(data)


def framed_again(data: bytes) -> bytes:
    """An edited frame with its length words put right; what is short stays short."""
    if len(data) < 8:
        return frame(data)
    size = min(int.from_bytes(data[5:8], "big"), len(data) - 8)
    return frame(data[8 : 8 + size], data[8 + size :], data[4] & 1)


@st.composite
def chunkings(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    """The stream in pieces of any sizes."""
    cuts = draw(st.lists(st.integers(0, len(stream)), max_size=12).map(sorted))
    bounds = [0, *cuts, len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]
