"""Frames as real clients write them, for tests of the wire.

Headers are built as text by hand, never by the code under test.
"""

import json
import struct

# What the Java client 5.5.0 writes: compact, keys sorted, control characters as \u00XX.
JAVA_FIELDS = {
    "a": "group",
    "b": "Orders",
    "c": "TBW102",
    "d": "4",
    "e": "1",
    "f": "0",
    "g": "1794732382394",
    "h": "0",
    "i": "KEYS\x01k1\x02UNIQ_KEY\x01C00002021F384E0E2F2A49FAF0BA0001\x02TAGS\x01A\x02",
    "j": "0",
    "k": "false",
    "m": "false",
    "n": "broker-a",
}
# The same by the long names, as Go writes them.
LONG_NAMES = {
    "a": "producerGroup",
    "b": "topic",
    "c": "defaultTopic",
    "d": "defaultTopicQueueNums",
    "e": "queueId",
    "f": "sysFlag",
    "g": "bornTimestamp",
    "h": "flag",
    "i": "properties",
    "j": "reconsumeTimes",
    "k": "unitMode",
    "l": "maxReconsumeTimes",
    "m": "batch",
    "n": "bname",
}


def frame(header: bytes, body: bytes = b"", serialize_type: int = 0) -> bytes:
    word = serialize_type << 24 | len(header)
    return struct.pack(">II", 4 + len(header) + len(body), word) + header + body


def java_header(code: int, fields: dict[str, str] | None, opaque: int = 7, flag: int = 0) -> bytes:
    top: dict[str, object] = {"code": code}
    if fields is not None:
        top["extFields"] = fields
    top |= {
        "flag": flag,
        "language": "JAVA",
        "opaque": opaque,
        "serializeTypeCurrentRPC": "JSON",
        "version": 513,
    }
    return json.dumps(top, separators=(",", ":"), ensure_ascii=False).encode()


def go_header(code: int, fields: dict[str, str], opaque: int = 7) -> bytes:
    top = {
        "code": code,
        "language": "GO",
        "version": 317,
        "opaque": opaque,
        "flag": 0,
        "remark": "",
        "extFields": dict(sorted(fields.items())),
    }
    return json.dumps(top, separators=(",", ":"), ensure_ascii=False).encode()


def cpp_header(code: int, fields: dict[str, object], opaque: int = 7) -> bytes:
    """Numbers where C++ has numbers, keys sorted, and a newline that belongs to the header."""
    top = {
        "code": code,
        "extFields": dict(sorted(fields.items())),
        "flag": 0,
        "language": "CPP",
        "opaque": opaque,
        "remark": "",
        "version": 63,
    }
    return json.dumps(top, separators=(",", ":")).encode() + b"\n"


def node_header(code: int, fields: dict[str, object], opaque: int = 7) -> bytes:
    """Claims to be Java; numbers and booleans as they are, no remark."""
    top = {
        "code": code,
        "language": "JAVA",
        "opaque": opaque,
        "flag": 0,
        "version": 121,
        "extFields": fields,
    }
    return json.dumps(top, separators=(",", ":"), ensure_ascii=False).encode()


def binary_header(
    code: int,
    fields: "dict[str, str] | list[tuple[str, str]]",
    *,
    language: int = 0,
    version: int = 513,
    opaque: int = 7,
    flag: int = 0,
    remark: bytes = b"",
) -> bytes:
    pairs = fields.items() if isinstance(fields, dict) else fields
    ext = b"".join(
        struct.pack(">h", len(key.encode()))
        + key.encode()
        + struct.pack(">i", len(value.encode()))
        + value.encode()
        for key, value in pairs
    )
    return (
        struct.pack(">hbhiii", code, language, version, opaque, flag, len(remark))
        + remark
        + struct.pack(">i", len(ext))
        + ext
    )
