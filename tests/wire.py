"""Frames as real clients write them, for tests of the wire.

Headers are built as text by hand, never by the code under test.
"""

import json
import struct
from collections.abc import Callable, Iterable
from typing import Any

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


# What readers say, as plain values: for the compiled module and for its uncompiled twin, whose
# classes are not the same.


def header_values(header: Any) -> dict[str, Any]:
    names = ("code", "flag", "opaque", "version", "language", "remark", "ext_fields")
    values = {name: getattr(header, name) for name in names}
    values["serialize_type"] = header.serialize_type
    return values | {"excess": header.excess} if header.excess else values


def send_values(header: Any, draft: Any) -> dict[str, Any]:
    return {
        "code": header.code,
        "flag": header.flag,
        "opaque": header.opaque,
        "version": header.version,
        "default_topic_queue_nums": header.default_topic_queue_nums,
        "max_reconsume_times": header.max_reconsume_times,
        "is_unit_mode": header.is_unit_mode,
        "topic": draft.topic,
        "queue_id": draft.queue_id,
        "message_flag": draft.flag,
        "sys_flag": draft.sys_flag,
        "born_timestamp": draft.born_timestamp,
        "reconsume_times": draft.reconsume_times,
        "prepared_offset": draft.prepared_offset,
        "is_batch": draft.is_batch,
        "properties": draft.properties_text(),
        "body_size": draft.body_size,
    }


class Wire:
    """One face of the wire modules: as imported, or their uncompiled twins."""

    def __init__(self, load: Callable[[str], Any]) -> None:
        self.frame = load("aerobee.protocol.remoting.frame")
        self.command_header = load("aerobee.protocol.remoting.command_header")
        self.json_scan = load("aerobee.protocol.remoting.json_scan")
        self.header_json = load("aerobee.protocol.remoting.header_json")
        self.header_binary = load("aerobee.protocol.remoting.header_binary")
        self.send_header = load("aerobee.protocol.send.send_header")
        self.message_draft = load("aerobee.protocol.message.message_draft")
        self.protocol_error = load("aerobee.errors").ProtocolError

    def frames(self, chunks: Iterable[bytes], limits: tuple[int, int]) -> list[Any]:
        """Every frame that the chunks bring; the last item is an error, or how much is pending."""
        reader = self.frame.FrameReader(self.frame.FrameLimits(*limits))
        found: list[Any] = []
        try:
            for chunk in chunks:
                reader.receive(chunk)
                while reader.advance():
                    found.append((reader.serialize_type, reader.header(), bytes(reader.body())))
        except self.protocol_error as error:
            return [*found, str(error)]
        return [*found, reader.pending_size()]

    def header(self, read: Callable[..., None], data: bytes) -> dict[str, Any] | None:
        """What a reader of headers says, or None where it refuses."""
        header = self.command_header.CommandHeader()
        try:
            read(memoryview(data), 0, len(data), header)
        except self.protocol_error:
            return None
        return header_values(header)

    def command(self, values: dict[str, Any]) -> Any:
        """A header with these values, which have no excess."""
        given = dict(values)
        return self.command_header.CommandHeader(given.pop("code"), **given)

    def current(self, data: bytes) -> Any:
        """A reader whose current frame is `data`."""
        reader = self.frame.FrameReader()
        reader.receive(data)
        assert reader.advance()
        return reader

    def scans(self, frames: Iterable[bytes]) -> list[dict[str, Any] | None]:
        """What one SendHeader says of frames that come one after another."""
        header = self.send_header.SendHeader()
        draft = self.message_draft.MessageDraft()
        return [
            send_values(header, draft) if header.scan(self.current(data), draft) else None
            for data in frames
        ]

    def taken(self, data: bytes) -> dict[str, Any] | None:
        """What the general codec and `take` say of a send, or None where they refuse."""
        frames = self.current(data)
        codec = self.header_binary if frames.serialize_type else self.header_json
        read = codec.decode_binary_header if frames.serialize_type else codec.decode_json_header
        header = self.command_header.CommandHeader()
        send = self.send_header.SendHeader()
        draft = self.message_draft.MessageDraft()
        try:
            read(frames.view, frames.header_start, frames.header_end, header)
            if header.code not in (10, 310, 320) or header.is_response:
                return None
            send.take(header, frames, draft)
        except self.protocol_error:
            return None
        return send_values(send, draft)
