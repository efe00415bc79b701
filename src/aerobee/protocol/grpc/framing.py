"""gRPC over HTTP/2: messages in the data of a stream, headers of calls, and trailers of answers.

message   compressed 1 byte (0) │ size 4 bytes │ protobuf
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.grpc.codes import RpcStatus
from aerobee.protocol.http2.header_shape import HeaderField
from aerobee.protocol.http2.hpack import encode_headers

PREFIX_BYTES = 5
_UNITS_MS = {"H": 3_600_000.0, "M": 60_000.0, "S": 1_000.0, "m": 1.0, "u": 1e-3, "n": 1e-6}
_PLAIN = frozenset(range(0x20, 0x7F)) - {ord("%")}

ANSWER_HEADERS = encode_headers([(":status", "200"), ("content-type", "application/grpc")])
OK_TRAILERS = encode_headers([("grpc-status", "0")])
NOT_GRPC = encode_headers([(":status", "415")])
"""The answer to a request that is no call of gRPC."""


class MessageTooLong(RemoteProtocolError):
    """A message is larger than is taken, or all that come together are."""


class GrpcMessageReader:
    """Cuts the data of one stream into messages."""

    __slots__ = ("_bytes_max", "_parts", "_wanted", "held")

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._parts: list[bytes] = []
        self._wanted = PREFIX_BYTES
        self.held = 0
        """Bytes of a message that has not come whole."""

    def receive(self, data: bytes) -> Sequence[bytes]:
        """The messages that are whole now. RemoteProtocolError: the stream cannot go on."""
        if self.held + len(data) < self._wanted:  # nothing is joined before it is enough
            if data:
                self._parts.append(data)
                self.held += len(data)
            return ()
        if self._parts:
            data = b"".join([*self._parts, data])
            self._parts.clear()
        messages = []
        position, end = 0, len(data)
        while end - position >= PREFIX_BYTES:
            size = int.from_bytes(data[position + 1 : position + PREFIX_BYTES], "big")
            if data[position] != 0:
                raise RemoteProtocolError("a compressed message: no encoding was offered")
            if size > self._bytes_max:
                raise MessageTooLong(f"a message of {size} bytes, at most {self._bytes_max} fit")
            if end - position < PREFIX_BYTES + size:
                break
            messages.append(data[position + PREFIX_BYTES : position + PREFIX_BYTES + size])
            position += PREFIX_BYTES + size
        self.held = end - position
        self._wanted = PREFIX_BYTES
        if self.held:
            self._parts.append(data[position:])
            if self.held >= PREFIX_BYTES:
                self._wanted = PREFIX_BYTES + int.from_bytes(
                    data[position + 1 : position + PREFIX_BYTES], "big"
                )
        return messages


def frame_message(message: bytes) -> bytes:
    return len(message).to_bytes(PREFIX_BYTES, "big") + message


class CallHeaders(NamedTuple):
    """The headers of a call."""

    path: str
    metadata: Mapping[str, str]
    """All fields; of several with one name, the last."""
    timeout_ms: int | None
    """The client gives up after this time; None: never."""


def read_call_headers(fields: Sequence[HeaderField]) -> CallHeaders | None:
    """The headers of a call; None: it is no call of gRPC."""
    found = dict(fields)
    if found.get(":method") != "POST" or not found.get(":path", "").startswith("/"):
        return None
    if not found.get("content-type", "").startswith("application/grpc"):
        return None
    return CallHeaders(found[":path"], found, _timeout_ms(found.get("grpc-timeout", "")))


def _timeout_ms(text: str) -> int | None:
    digits, unit = text[:-1], text[-1:]
    if unit not in _UNITS_MS or not digits.isascii() or not digits.isdigit() or len(digits) > 8:
        return None
    return int(int(digits) * _UNITS_MS[unit])


def error_trailers(status: RpcStatus, message: str) -> bytes:
    """Trailers after data."""
    if status is RpcStatus.OK:
        return OK_TRAILERS
    return encode_headers(
        [("grpc-status", str(int(status))), ("grpc-message", _percent_encoded(message[:500]))]
    )


def _percent_encoded(message: str) -> str:
    return "".join([chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in message.encode()])
