"""The client's side of HTTP/2, by hand: frames to send, and the frames that came back."""

from typing import NamedTuple

from aerobee.protocol.grpc.framing import frame_message
from aerobee.protocol.http2.connection import PREFACE
from aerobee.protocol.http2.frames import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    SETTINGS,
    frame,
)
from aerobee.protocol.http2.header_shape import HeaderField
from aerobee.protocol.http2.hpack import HeaderDecoder, encode_headers

HELLO = PREFACE + frame(SETTINGS, 0, 0)


class Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes


def frames_in(data: bytes) -> list[Frame]:
    """The frames of a server's output; half a frame at the end is left out."""
    found = []
    position = 0
    while len(data) - position >= 9:
        size = int.from_bytes(data[position : position + 3], "big")
        start = position + 9
        if len(data) < start + size:
            break
        stream = int.from_bytes(data[position + 5 : start], "big")
        found.append(
            Frame(data[position + 3], data[position + 4], stream, data[start : start + size])
        )
        position = start + size
    return found


def call_headers(path: str, *more: HeaderField) -> list[HeaderField]:
    return [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *more,
    ]


def open_stream(stream: int, path: str, *more: HeaderField, flags: int = 0) -> bytes:
    block = encode_headers(call_headers(path, *more))
    return frame(HEADERS, END_HEADERS | flags, stream, block)


def unary(stream: int, path: str, message: bytes, *more: HeaderField) -> bytes:
    """A whole call with one message."""
    data = frame(DATA, END_STREAM, stream, frame_message(message))
    return open_stream(stream, path, *more) + data


def headers_in(frames: list[Frame], stream: int) -> list[dict[str, str]]:
    """The fields of each header block of a stream."""
    decoder = HeaderDecoder(1 << 16)
    return [
        dict(decoder.decode(one.payload))
        for one in frames
        if one.kind == HEADERS and one.stream == stream
    ]
