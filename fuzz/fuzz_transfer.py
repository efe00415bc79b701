"""Any bytes in any chunks give reports and pieces of a log, or ProtocolError: in every chunking.

The first bytes choose the chunks and the largest body; the rest is the stream, once of a slave and
once of a master. A stream of random bytes rarely has a second packet, so it is tried again with the
sizes put right.
"""

import struct

from aerobee.errors import RemoteProtocolError
from aerobee.replication.transfer import HEADER_BYTES, OFFSET_MAX, ReportReader, TransferReader


def check(data: bytes) -> None:
    """Any bytes in any chunks give reports and pieces of a log, or ProtocolError."""
    if len(data) < 3:
        return
    body_bytes_max = 4 * data[0]
    stream = data[3:]
    assert _reports([stream]) == _reports(cut(stream, data[1]))
    for packets in (stream, _mended(stream)):
        whole = _pieces([packets], body_bytes_max)
        assert _pieces(cut(packets, data[1]), body_bytes_max) == whole
        assert _pieces(cut(packets, data[2]), body_bytes_max) == whole


def _reports(chunks: list[bytes]) -> list[int | str]:
    reader = ReportReader()
    found: list[int | str] = []
    try:
        for chunk in chunks:
            reader.receive(chunk)
            while reader.advance():
                assert 0 <= reader.log_offset <= OFFSET_MAX
                found.append(reader.log_offset)
    except RemoteProtocolError as error:
        found.append(str(error))
    return found


def _pieces(chunks: list[bytes], body_bytes_max: int) -> list[object]:
    """Every byte with its log offset, and every heartbeat."""
    reader = TransferReader(body_bytes_max)
    found: list[object] = []
    try:
        for chunk in chunks:
            reader.receive(chunk)
            while reader.advance():
                assert len(reader.data) <= body_bytes_max
                assert len(reader._head) < HEADER_BYTES
                assert 0 <= reader.log_offset <= OFFSET_MAX - len(reader.data)
                if not reader.data:
                    found.append(reader.log_offset)
                found += [(reader.log_offset + i, byte) for i, byte in enumerate(reader.data)]
    except RemoteProtocolError as error:
        found.append(str(error))
    return found


def cut(stream: bytes, seed: int) -> list[bytes]:
    """Some thirty chunks of sizes that go up and down with the seed."""
    size_max = 2 + len(stream) // 16
    chunks = []
    start = 0
    size = 1 + seed % size_max
    while start < len(stream):
        chunks.append(stream[start : start + size])
        start += size
        size = 1 + (size * 7 + seed) % size_max
    return chunks


def _mended(stream: bytes) -> bytes:
    """The stream as packets whose offsets and sizes are in reach."""
    mended = bytearray(stream)
    position = 0
    while len(mended) - position >= HEADER_BYTES:
        size = min(mended[position + HEADER_BYTES - 1], len(mended) - position - HEADER_BYTES)
        struct.pack_into(">qi", mended, position, mended[position + 7], size)
        position += HEADER_BYTES + size
    return bytes(mended)
