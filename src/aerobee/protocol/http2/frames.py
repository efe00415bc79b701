"""Frames of HTTP/2 (RFC 9113, section 4): header, types, and those that a server writes.

size 3 bytes │ type 1 │ flags 1 │ stream 4 (31 bits) │ payload
"""

from collections.abc import Iterable
from enum import IntEnum

FRAME_HEADER_BYTES = 9
FRAME_BYTES_MAX = 16384
"""The largest payload that a peer may send: the default of HTTP/2, which is not changed."""

DATA = 0
HEADERS = 1
PRIORITY = 2
RST_STREAM = 3
SETTINGS = 4
PUSH_PROMISE = 5
PING = 6
GOAWAY = 7
WINDOW_UPDATE = 8
CONTINUATION = 9

END_STREAM = 0x1
ACK = 0x1
END_HEADERS = 0x4
PADDED = 0x8
HAS_PRIORITY = 0x20

HEADER_TABLE_SIZE = 1
ENABLE_PUSH = 2
MAX_CONCURRENT_STREAMS = 3
INITIAL_WINDOW_SIZE = 4
MAX_FRAME_SIZE = 5
MAX_HEADER_LIST_SIZE = 6


class ErrorCode(IntEnum):
    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return frame_header(len(payload), kind, flags, stream) + payload


def frame_header(size: int, kind: int, flags: int, stream: int) -> bytes:
    return (size << 48 | kind << 40 | flags << 32 | stream).to_bytes(9, "big")


def settings_frame(values: Iterable[tuple[int, int]]) -> bytes:
    payload = b"".join([key.to_bytes(2, "big") + value.to_bytes(4, "big") for key, value in values])
    return frame(SETTINGS, 0, 0, payload)


def window_frame(stream: int, size: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, size.to_bytes(4, "big"))


def reset_frame(stream: int, code: ErrorCode) -> bytes:
    return frame(RST_STREAM, 0, stream, code.to_bytes(4, "big"))


def goaway_frame(last_stream: int, code: ErrorCode, reason: str) -> bytes:
    payload = last_stream.to_bytes(4, "big") + code.to_bytes(4, "big") + reason.encode()[:200]
    return frame(GOAWAY, 0, 0, payload)
