"""MemberDoors: a way to each member of a Raft group that can be closed: members reach each other
through proxies of this process.

    member n0, 127.0.1.1:P0                 the address of n1 in dLegerPeers: 127.0.0.1:P1
         └─ dials 127.0.0.1:P1 ─▶ door of n1 ─▶ 127.0.1.2:P1, member n1

Clients go directly to brokers, so that a leader that is cut off still has clients. A cut carries
nothing and tells nobody: connections look alive on both sides. Who dials is known by the first
frame, its Hello. The door of a member whose process has ended is shut, so that whoever dials is
refused, as without a proxy.
"""

import asyncio
import contextlib
from collections.abc import Sequence

from aerobee.raft.frames import Hello, RaftFrameReader

OUTER_HOST = "127.0.0.1"
_CHUNK_BYTES = 1 << 16


def inner_host(node: int) -> str:
    """The address that a member listens on: any address of 127.0.0.0/8 is this machine."""
    return f"127.0.1.{node + 1}"


class MemberDoors:
    """D1. After `close` nothing of it runs."""

    def __init__(self, ports: Sequence[int]) -> None:
        """`ports`: the Raft port of each member, by its number."""
        self._ports = ports
        self._servers: dict[int, asyncio.Server] = {}
        self._links: dict[int, set[asyncio.Task[None]]] = {
            node: set() for node in range(len(ports))
        }
        self._cut: set[int] = set()
        self._joined = asyncio.Event()
        self._joined.set()

    async def open(self, node: int) -> None:
        """Have a member be reached."""
        if node in self._servers:
            return

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._links[node].add(task)
            try:
                with (
                    contextlib.suppress(OSError, asyncio.CancelledError),
                    contextlib.closing(writer),
                ):
                    await self._serve(node, reader, writer)
            finally:
                self._links[node].discard(task)

        self._servers[node] = await asyncio.start_server(serve, OUTER_HOST, self._ports[node])

    def shut(self, node: int) -> None:
        """Refuse whoever dials a member: its process has ended."""
        server = self._servers.pop(node, None)
        if server is not None:
            server.close()
        for task in self._links[node]:
            task.cancel()

    async def close(self) -> None:
        tasks = [task for links in self._links.values() for task in links]
        for node in range(len(self._ports)):
            self.shut(node)
        await asyncio.gather(*tasks, return_exceptions=True)

    def cut(self, node: int) -> None:
        """Carry nothing between a member and the others any more."""
        self._cut.add(node)
        self._joined.clear()

    def join(self, node: int) -> None:
        """Undo `cut`."""
        self._cut.discard(node)
        if not self._cut:
            self._joined.set()

    async def _serve(
        self, node: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        begun, dialer = await _hello(reader)
        ways: set[asyncio.Task[None]] = set()
        await self._passable({dialer, node})
        there, back = await asyncio.open_connection(inner_host(node), self._ports[node])
        try:
            with contextlib.closing(back):
                back.write(begun)
                ways = {
                    asyncio.create_task(self._carry(reader, back, {dialer, node})),
                    asyncio.create_task(self._carry(there, writer, {dialer, node})),
                }
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _passable(self, ends: set[int]) -> None:
        while ends & self._cut:
            await self._joined.wait()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ends: set[int]
    ) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            await self._passable(ends)
            writer.write(data)
            await writer.drain()


async def _hello(reader: asyncio.StreamReader) -> tuple[bytes, int]:
    """The first bytes of a link, and the number of the member that dialed it."""
    frames, begun = RaftFrameReader(), b""
    while data := await reader.read(_CHUNK_BYTES):
        begun += data
        frames.receive(data)
        if frames.advance() and isinstance(frames.message, Hello):
            return begun, frames.message.node
    raise ConnectionError("a link that says nothing")
