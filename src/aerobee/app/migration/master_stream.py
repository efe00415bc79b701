"""Hashes of a master's log, computed from its HA stream.

A link asks for the log from an offset on, as a slave does, hashes each piece that comes, and closes
when it has enough. It reports its first offset only: it acknowledges nothing that a send waits for.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from aerobee.app.migration.log_ranges import PIECE_BYTES, LogRange
from aerobee.errors import AerobeeError, RemoteProtocolError
from aerobee.replication.transfer import TransferReader, encode_report

SILENCE_SECONDS_MAX = 20.0
_READ_BYTES = 1 << 18


class NoStream(AerobeeError):
    """A master does not send its log."""


async def piece_hashes(ha_address: str, wanted: LogRange) -> AsyncIterator[tuple[LogRange, str]]:
    """The SHA-256 of each MiB of a range, in order; the last piece may be shorter.

    NoStream: the master closes the link, or sends nothing. RemoteProtocolError: it sends
    something else.
    """
    digest, piece, at = hashlib.sha256(), wanted.start, wanted.start
    async with aclosing(_bytes_of(ha_address, wanted)) as stream:
        async for data in stream:
            view = memoryview(data)[: wanted.end - at]
            while view:
                room = min(piece + PIECE_BYTES, wanted.end) - at
                digest.update(view[:room])
                at += len(view[:room])
                view = view[room:]
                if at == min(piece + PIECE_BYTES, wanted.end):
                    yield LogRange(piece, at), digest.hexdigest()
                    digest, piece = hashlib.sha256(), at
            if at >= wanted.end:
                return


async def _bytes_of(ha_address: str, wanted: LogRange) -> AsyncGenerator[bytes]:
    """The bytes of the log from the begin of a range on, as they come."""
    host, _, port = ha_address.rpartition(":")
    try:
        reader, writer = await asyncio.wait_for(
            asyncio.open_connection(host.strip("[]"), int(port)), SILENCE_SECONDS_MAX
        )
    except OSError as error:
        raise NoStream(f"no HA connection to {ha_address}: {error}") from None
    try:
        writer.write(encode_report(wanted.start))
        packets, at = TransferReader(), wanted.start
        while True:
            data = await _read(reader, ha_address, wanted)
            packets.receive(data)
            while packets.advance():
                if not packets.data:
                    continue
                if packets.log_offset != at:
                    raise RemoteProtocolError(
                        f"{ha_address} sends offset {packets.log_offset} instead of {at}"
                    )
                at += len(packets.data)
                yield bytes(packets.data)
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader, ha_address: str, wanted: LogRange) -> bytes:
    try:
        data = await asyncio.wait_for(reader.read(_READ_BYTES), SILENCE_SECONDS_MAX)
    except OSError as error:  # a TimeoutError is one, too
        raise NoStream(f"{ha_address} sends nothing: {error}") from None
    if not data:
        raise NoStream(
            f"{ha_address} does not send its log from {wanted.start} on",
            hint="it may have deleted this part since: compare again",
        )
    return data
