import asyncio
import contextlib
import logging
import socket
import struct

import pytest

from aerobee.net.replica_channel import LINKS_MAX, WRITE_HIGH_BYTES
from aerobee.net.tls_faults import HELLO_TO_PLAIN
from aerobee.ports.replica_link import READY_BYTES
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite, OpenLink, Peer, ReadLink
from tests.net_kit import EchoService, LinkedEcho, Running, in_loop


class Linked(Running):
    """A driver whose service has links."""

    def __init__(self) -> None:
        self.echo = LinkedEcho()
        super().__init__(service=self.echo)
        self.links = self.echo.links
        self._writers: list[asyncio.StreamWriter] = []

    async def __aexit__(self, *reason: object) -> None:
        await super().__aexit__(*reason)
        for writer in self._writers:
            writer.close()

    def do(self, *effects: object) -> None:
        """Have the service ask for these, at once."""
        self.echo.effects += effects  # type: ignore[arg-type]
        self.driver.tick_soon()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, LinkId]:
        reader, writer = await self.knock()
        return reader, writer, await self.links.hear("open")

    async def knock(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.ha_port)
        self._writers.append(writer)
        return reader, writer


def test_bytes_of_a_link_reach_the_service_and_its_writes_the_peer() -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, writer, link = await server.connect()
            assert server.links.peers[link] == Peer(*writer.get_extra_info("sockname"))
            assert link not in server.links.dialed
            writer.write(b"12345678")
            assert await server.links.hear("bytes") == link
            assert server.links.received[link] == b"12345678"
            server.do(LinkWrite(link, [b"head", memoryview(b"a body")[2:]]))
            assert await reader.readexactly(8) == b"headbody"
            writer.close()
            assert await server.links.hear("closed") == link

    in_loop(test)


def test_a_link_that_is_not_to_be_read_keeps_the_bytes_of_its_peer_until_it_is() -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, writer, link = await server.connect()
            server.do(ReadLink(link, False), LinkWrite(link, [b"now"]))
            assert await reader.readexactly(3) == b"now"
            writer.write(b"12345678")
            await writer.drain()
            _, other, second = await server.connect()  # by then the bytes above would be here
            other.write(b"x")
            assert await server.links.hear("bytes") == second
            assert server.links.received[link] == b""
            server.do(ReadLink(link, True))
            assert await server.links.hear("bytes") == link
            assert server.links.received[link] == b"12345678"

    in_loop(test)


def test_links_are_no_channels_and_channels_no_links() -> None:
    async def test() -> None:
        async with Linked() as server:
            _, writer, _ = await server.connect()
            assert server.driver.connections() == 0
            assert server.service.opened == []
            writer.close()
            await server.links.hear("closed")

    in_loop(test)


def test_what_bytes_of_a_link_lead_to_is_settled_after_the_round() -> None:
    async def test() -> None:
        async with Linked() as server:
            _, writer, _ = await server.connect()
            before = server.echo.settled
            writer.write(b"x")
            await server.links.hear("bytes")
            # Once the loop has come round.
            await asyncio.gather(*(asyncio.create_task(nothing()) for _ in range(3)))
            assert server.echo.settled > before
            writer.close()

    async def nothing() -> None:
        pass

    in_loop(test)


def test_a_link_that_the_service_closes_is_dropped_at_once() -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, _, link = await server.connect()
            server.do(LinkWrite(link, [bytes(50 << 20)]), CloseLink(link, "enough"))
            assert await server.links.hear("closed") == link
            with pytest.raises((asyncio.IncompleteReadError, ConnectionResetError)):
                await reader.readexactly(50 << 20)
            server.do(LinkWrite(link, [b"x"]), CloseLink(link, "again"))  # nothing

    in_loop(test)


def test_a_link_is_dialed_and_the_service_is_told() -> None:
    async def test() -> None:
        async with Linked() as master, Linked() as slave:
            address = f"127.0.0.1:{master.ha_port}"
            slave.do(OpenLink(address))
            near = await slave.links.hear("open")
            far = await master.links.hear("open")
            assert near in slave.links.dialed
            assert str(slave.links.peers[near]) == address
            assert slave.links.own_ends[near] == str(master.links.peers[far])
            slave.do(LinkWrite(near, [b"report"]))
            await master.links.hear("bytes")
            assert master.links.received[far] == b"report"

    in_loop(test)


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1:1", "127.0.0.1", "127.0.0.1:70000", "no such host.invalid:5", "a:b", "", ".:5"],
)
def test_a_link_that_cannot_be_dialed_is_told_with_a_reason(address: str) -> None:
    async def test() -> None:
        async with Linked() as server:
            server.do(OpenLink(address))
            failed, reason = await server.links.failed.get()
            assert failed == address
            assert reason

    in_loop(test)


def test_a_link_is_not_ready_again_for_a_few_bytes_but_for_many() -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, writer, link = await server.connect()
            small = READY_BYTES // 4
            for count in range(1, 4):
                server.do(LinkWrite(link, [bytes(small)]))
                await reader.readexactly(small)
                assert server.links.ready == 0, count
            server.do(LinkWrite(link, [bytes(small)]))
            assert await server.links.hear("ready") == link
            await reader.readexactly(small)
            writer.close()

    in_loop(test)


def test_a_link_whose_peer_does_not_read_is_ready_when_it_has_read() -> None:
    async def test() -> None:
        async with Linked() as server:
            with socket.create_connection(("127.0.0.1", server.ha_port)) as peer:
                link = await server.links.hear("open")
                size = 32 << 20  # more than the system takes
                server.do(
                    LinkWrite(link, [bytes(READY_BYTES)]),
                    LinkWrite(link, [bytes(size - READY_BYTES)]),
                )
                other, other_writer, other_link = await server.connect()
                server.do(LinkWrite(other_link, [bytes(READY_BYTES)]))
                await other.readexactly(READY_BYTES)
                assert await server.links.hear("ready") == other_link
                assert server.links.ready == 1
                other_writer.close()
                await asyncio.to_thread(drain, peer, size)
                assert await server.links.hear("ready") == link

    in_loop(test)


def drain(peer: socket.socket, size: int) -> None:
    while size > 0:
        got = len(peer.recv(1 << 20))
        assert got
        size -= got


def test_a_writer_that_goes_on_when_ready_keeps_a_link_busy_in_bounded_memory() -> None:
    async def test() -> None:
        async with Linked() as server:
            window, total = 1 << 20, 64 << 20
            left = total

            def write(link: LinkId) -> Effects:
                nonlocal left
                size = min(window, left)
                left -= size
                return [LinkWrite(link, [bytes(size)])] if size else []

            server.links.reactions = {"open": write, "ready": write}
            reader, writer, _ = await server.connect()
            channel = next(iter(server.driver._links._channels.values()))  # type: ignore[union-attr]
            held_max = 0
            while total:
                total -= len(await reader.readexactly(min(total, 256 << 10)))
                assert channel._transport is not None
                held_max = max(held_max, channel._transport.get_write_buffer_size())
            assert held_max <= window + WRITE_HIGH_BYTES
            assert server.links.ready >= 60
            writer.close()

    in_loop(test)


def test_one_link_too_many_is_refused_and_the_others_go_on() -> None:
    async def test() -> None:
        async with Linked() as server:
            writers = []
            for _ in range(LINKS_MAX):
                reader, writer, link = await server.connect()
                server.do(LinkWrite(link, [b"known"]))
                assert await reader.readexactly(5) == b"known"
                writers.append(writer)
            reader, _ = await server.knock()
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read(1) == b""
            writers[-1].write(b"x")
            assert await server.links.hear("bytes") == link
            assert len(server.links.peers) == LINKS_MAX
            # One that the service dials has its answer all the same.
            async with Linked() as master:
                server.do(OpenLink(f"127.0.0.1:{master.ha_port}"))
                assert await server.links.hear("open") in server.links.dialed

    in_loop(test)


def test_a_crowd_of_strangers_does_not_lock_a_slave_out() -> None:
    async def test() -> None:
        async with Linked() as server:
            known, own, slave = await server.connect()
            server.do(LinkWrite(slave, [b"known"]))
            assert await known.readexactly(5) == b"known"
            strangers = [await server.connect() for _ in range(LINKS_MAX - 1)]
            strangers[0][1].write(b"nothing right")
            assert await server.links.hear("bytes") == strangers[0][2]
            _, late = await server.knock()
            assert await server.links.hear("closed") == strangers[0][2]
            new = await server.links.hear("open")
            late.write(b"a proof")
            own.write(b"a report")
            assert {await server.links.hear("bytes") for _ in range(2)} == {slave, new}
            assert await strangers[0][0].read() == b""

    in_loop(test)


def test_a_tls_hello_on_a_plain_link_is_closed_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, writer, link = await server.connect()
            writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01")
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
            assert await server.links.hear("closed") == link
            assert server.links.received[link] == b""

    with caplog.at_level(logging.INFO):
        in_loop(test)
    assert HELLO_TO_PLAIN in caplog.text


def test_a_reset_of_the_peer_closes_its_link_only() -> None:
    async def test() -> None:
        async with Linked() as server:
            _, writer, link = await server.connect()
            rude = socket.create_connection(("127.0.0.1", server.ha_port))
            other = await server.links.hear("open")
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            rude.close()
            assert await server.links.hear("closed") == other
            writer.write(b"x")
            assert await server.links.hear("bytes") == link
            writer.close()

    in_loop(test)


def test_small_writes_are_not_held_back_by_the_system() -> None:
    async def test() -> None:
        async with Linked() as server:
            _, writer, link = await server.connect()
            channel = server.driver._links._channels[link]  # type: ignore[union-attr]
            assert channel._transport is not None
            made = channel._transport.get_extra_info("socket")
            assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            writer.close()

    in_loop(test)


def test_a_stop_ends_links_and_dialing_and_tells_the_service_of_it() -> None:
    async def test() -> None:
        async with Linked() as server:
            reader, _, link = await server.connect()
            server.do(OpenLink("192.0.2.1:5"))  # nobody answers there
        assert await server.links.hear("closed") == link
        with contextlib.suppress(ConnectionResetError):
            assert await reader.read(1) == b""
        with socket.create_server(("127.0.0.1", server.ha_port)):
            pass

    in_loop(test)


def test_without_links_nobody_listens_on_the_ha_port() -> None:
    async def test() -> None:
        async with Running(service=EchoService()) as server:
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection("127.0.0.1", server.ha_port)

    in_loop(test)
