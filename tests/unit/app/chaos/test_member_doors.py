import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from aerobee.app.chaos.member_doors import OUTER_HOST, MemberDoors, inner_host
from aerobee.raft.frames import Hello, encode_frame
from tests.interop.replication.brokers import steady_port
from tests.net_kit import in_loop
from tests.process_kit import SECONDS_MAX

HELLO = encode_frame(Hello(0, "broker-a", "127.0.0.1:7"))


@contextlib.asynccontextmanager
async def two_members() -> AsyncIterator[tuple[MemberDoors, int]]:
    """The doors of two members, of which the second says everything back; and its port."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            while data := await reader.read(100):
                writer.write(data)

    ports = [steady_port(), steady_port()]
    doors = MemberDoors(ports)
    async with (
        await asyncio.start_server(echo, inner_host(1), ports[1]),
        asyncio.timeout(SECONDS_MAX),
    ):
        await doors.open(1)
        try:
            yield doors, ports[1]
        finally:
            await doors.close()


def test_a_link_carries_both_ways_until_it_is_cut_and_again_when_it_is_joined() -> None:
    async def test() -> None:
        async with two_members() as (doors, port):
            reader, writer = await asyncio.open_connection(OUTER_HOST, port)
            writer.write(HELLO)
            assert await reader.readexactly(len(HELLO)) == HELLO
            for node in (0, 1):
                doors.cut(node)
                writer.write(b"lost?")
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await reader.read(1)
                doors.join(node)
                assert await reader.readexactly(5) == b"lost?"
            writer.close()

    in_loop(test)


def test_the_door_of_a_member_that_has_ended_refuses() -> None:
    async def test() -> None:
        async with two_members() as (doors, port):
            reader, writer = await asyncio.open_connection(OUTER_HOST, port)
            writer.write(HELLO)
            await reader.readexactly(len(HELLO))
            doors.shut(1)
            assert await reader.read() == b""
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(OUTER_HOST, port)
            await doors.open(1)
            _, again = await asyncio.open_connection(OUTER_HOST, port)
            for one in (writer, again):
                one.close()

    in_loop(test)
