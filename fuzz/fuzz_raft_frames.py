"""Any bytes in any chunks give Raft messages that encode to the same bytes, or ProtocolError.

The first byte chooses the chunks. Random bytes rarely have a right checksum, so they are tried
again as the heads of frames whose prefix is put right.
"""

import struct
from zlib import crc32

from aerobee.errors import RemoteProtocolError
from aerobee.raft.frames import VERSION, Framed, RaftFrameReader, encode_frame
from aerobee.raft.state_file import decode_state, encode_state

BODY_BYTES_MAX = 1024


def check(data: bytes) -> None:
    """Any bytes in any chunks give messages that encode to the same bytes, or ProtocolError."""
    if len(data) < 3:
        return
    stream = data[1:]
    for frames in (stream, _framed(stream)):
        whole = _read([frames])
        assert _read(_cut(frames, 1 + data[0])) == whole
        for message, body in whole[0]:
            assert encode_frame(message) + body in frames
    try:
        state = decode_state(b"ARft" + struct.pack(">I", crc32(stream)) + stream)
    except ValueError:
        return
    assert encode_state(state)[8:] == stream


def _read(chunks: list[bytes]) -> tuple[list[tuple[Framed, bytes]], str]:
    reader = RaftFrameReader(BODY_BYTES_MAX)
    found: list[tuple[Framed, bytes]] = []
    try:
        for chunk in chunks:
            reader.receive(chunk)
            while reader.advance():
                assert len(reader.body) <= BODY_BYTES_MAX
                found.append((reader.message, reader.body))
    except RemoteProtocolError as error:
        return found, str(error)
    return found, ""


def _cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[start : start + size] for start in range(0, len(stream), size)]


def _framed(stream: bytes) -> bytes:
    """One frame with the bytes as its kind, its head and its body."""
    kind, split = stream[0] % 12, stream[1] % len(stream)
    head, body = stream[2 : 2 + split], stream[2 + split :]
    prefix = struct.pack(">IHBB", len(body), len(head), kind, VERSION)
    return prefix + struct.pack(">I", crc32(head, crc32(prefix))) + head + body
