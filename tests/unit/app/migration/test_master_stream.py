import asyncio
import hashlib
import itertools
from collections.abc import Sequence

import pytest

from aerobee.app.migration.log_ranges import PIECE_BYTES, LogRange
from aerobee.app.migration.master_stream import NoStream, piece_hashes
from aerobee.errors import RemoteProtocolError
from aerobee.replication.transfer import REPORT_BYTES, encode_header

LOG = bytes(range(251)) * (3 * PIECE_BYTES // 251)


def packet(offset: int, data: bytes) -> bytes:
    return encode_header(offset, len(data)) + data


async def hashes(wanted: LogRange, sent: Sequence[bytes]) -> list[tuple[LogRange, str]]:
    """The hashes of what a master sends, which then closes the link if more is read."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = int.from_bytes(await reader.readexactly(REPORT_BYTES), "big")
        assert asked == wanted.start
        writer.writelines(sent)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return [one async for one in piece_hashes(address, wanted)]


def test_each_mib_is_hashed_however_the_master_cuts_its_packets() -> None:
    start, end = 100, 100 + 2 * PIECE_BYTES + 5
    cuts = [100, 101, 70_000, 70_000, PIECE_BYTES + 99, PIECE_BYTES + 300, len(LOG)]
    sent = [packet(a, LOG[a:b]) for a, b in itertools.pairwise(cuts)]
    found = asyncio.run(hashes(LogRange(start, end), sent))
    edges = [start, start + PIECE_BYTES, start + 2 * PIECE_BYTES, end]
    assert found == [
        (LogRange(a, b), hashlib.sha256(LOG[a:b]).hexdigest()) for a, b in itertools.pairwise(edges)
    ]


def test_a_gap_in_the_stream_is_not_hashed_over() -> None:
    sent = [packet(0, b"abcd"), packet(5, b"fgh")]
    with pytest.raises(RemoteProtocolError, match="offset 5 instead of 4"):
        asyncio.run(hashes(LogRange(0, 8), sent))


def test_a_master_that_closes_the_link_before_the_end_is_an_error() -> None:
    with pytest.raises(NoStream, match="does not send its log from 3 on"):
        asyncio.run(hashes(LogRange(3, 8), [packet(3, b"de")]))


def test_a_master_that_nobody_reaches_is_an_error() -> None:
    async def ask() -> None:
        async for _ in piece_hashes("127.0.0.1:1", LogRange(0, 1)):
            pass

    with pytest.raises(NoStream, match=r"no HA connection to 127\.0\.0\.1:1"):
        asyncio.run(ask())
