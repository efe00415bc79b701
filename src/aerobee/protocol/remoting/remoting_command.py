"""A whole command, request or response, and the frame that it is on the wire.

The cold path: every command but the sends that `send_header` reads goes through here. A command
remembers in which form its header came, because an answer goes back in the form of its request:
C++ clients understand JSON only.
"""

from collections.abc import Sequence

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.remoting.command_header import BINARY_TYPE, RESPONSE_FLAG, CommandHeader
from aerobee.protocol.remoting.frame import FrameReader, encode_frame, frame_start
from aerobee.protocol.remoting.header_binary import decode_binary_header, encode_binary_header
from aerobee.protocol.remoting.header_json import decode_json_header, encode_json_header

# What Apache 5.5.0 says of itself. Clients ask for SQL92 only of 232 and newer.
VERSION = 513
# A name that every client knows; an unknown one may fail the peer's parser.
LANGUAGE = "JAVA"


class RemotingCommand(CommandHeader):
    """A header and a body. An absent body and an empty one are the same."""

    __slots__ = ("body",)

    def __init__(
        self,
        code: int = 0,
        *,
        flag: int = 0,
        opaque: int = 0,
        version: int = VERSION,
        language: str = LANGUAGE,
        remark: str = "",
        ext_fields: dict[str, str] | None = None,
        body: bytes | memoryview = b"",
    ) -> None:
        super().__init__(
            code,
            flag=flag,
            opaque=opaque,
            version=version,
            language=language,
            remark=remark,
            ext_fields=ext_fields,
        )
        self.body = body

    def __eq__(self, other: object) -> bool:
        """Equal in meaning, body included."""
        if not isinstance(other, RemotingCommand):
            return NotImplemented
        return super().__eq__(other) and self.body == other.body

    def __ne__(self, other: object) -> bool:
        # The compiled base would answer this one by itself, without the body.
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, body of {len(self.body)} bytes)"


def decode(frames: FrameReader) -> RemotingCommand:
    """The command in the current frame; its body refers to the bytes that were received. A request
    may have an `excess`, and be answered with it; an answer must not."""
    command = RemotingCommand()
    if frames.serialize_type == BINARY_TYPE:
        decode_binary_header(frames.view, frames.header_start, frames.header_end, command)
    else:
        decode_json_header(frames.view, frames.header_start, frames.header_end, command)
    if command.excess and command.is_response:
        raise RemoteProtocolError(f"an answer whose header is too large: {command.excess}")
    command.body = frames.body()
    return command


def encode(command: RemotingCommand, parts: Sequence[memoryview] = ()) -> list[bytes | memoryview]:
    """The frame of a command in the form of its `serialize_type`, as buffers to be written; the
    body goes on with `parts`."""
    if command.serialize_type == BINARY_TYPE:
        header = encode_binary_header(command)
    else:
        header = encode_json_header(command)
    if not parts:
        return encode_frame(header, command.body, command.serialize_type)
    body_size = len(command.body) + sum(map(len, parts))
    return [frame_start(header, body_size, command.serialize_type), command.body, *parts]


def reply_to(
    request: CommandHeader,
    code: int,
    *,
    remark: str = "",
    ext_fields: dict[str, str] | None = None,
    body: bytes | memoryview = b"",
) -> RemotingCommand:
    """The answer to a request: its opaque, its form, and our own name."""
    reply = RemotingCommand(
        code,
        flag=RESPONSE_FLAG,
        opaque=request.opaque,
        remark=remark,
        ext_fields=ext_fields,
        body=body,
    )
    reply.serialize_type = request.serialize_type
    return reply
