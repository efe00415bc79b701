"""Any bytes are a message or ProtocolError; a message is written so that it is read back the same.

The first byte chooses the kind of message. The same bytes are also cut into messages of gRPC, whole
and in chunks.
"""

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.grpc import calls
from aerobee.protocol.grpc.framing import GrpcMessageReader
from aerobee.protocol.grpc.wire import decode, encode

KINDS = (
    calls.SendMessageRequest,
    calls.ReceiveMessageRequest,
    calls.TelemetryCommand,
    calls.AckMessageRequest,
    calls.ChangeInvisibleDurationRequest,
    calls.QueryRouteRequest,
    calls.HeartbeatRequest,
)
MESSAGE_BYTES_MAX = 512


def check(data: bytes) -> None:
    """Any bytes are a message or ProtocolError; a message is written so that it is read back."""
    if not data:
        return
    kind, buffer = KINDS[data[0] % len(KINDS)], data[1:]
    whole = _messages([buffer])
    chunks = [buffer[at : at + 1 + data[0]] for at in range(0, len(buffer), 1 + data[0])]
    cut = _messages(chunks)
    assert whole[1] == cut[1]
    assert whole[1] or whole[0] == cut[0]
    try:
        message = decode(kind, buffer)
    except RemoteProtocolError:
        return
    written = encode(message)
    assert encode(decode(kind, written)) == written


def _messages(chunks: list[bytes]) -> tuple[list[bytes], str]:
    reader = GrpcMessageReader(MESSAGE_BYTES_MAX)
    found: list[bytes] = []
    try:
        for chunk in chunks:
            found += reader.receive(chunk)
            assert reader.held <= MESSAGE_BYTES_MAX + 5
    except RemoteProtocolError as error:
        return found, str(error)
    return found, ""
