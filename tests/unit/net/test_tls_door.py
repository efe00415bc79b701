"""Doors of ports that speak TLS: wrong ways in, half-open connections, crowds."""

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from collections.abc import AsyncIterator

import pytest

from aerobee.errors import ConnectionLost
from aerobee.net.line import open_line
from aerobee.net.tls_config import Asked, TlsMode
from aerobee.net.tls_context import client_context
from aerobee.net.tls_door import ADDRESS_MAX, CROWD_MIN, HALF_OPEN_MAX, TlsDoor
from aerobee.net.tls_faults import explained_tls
from aerobee.net.tls_layer import TlsLayer
from aerobee.net.tls_state import TlsState
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from tests.net_kit import ECHO, Running, in_loop, turn
from tests.process_kit import SECONDS_MAX
from tests.tls_kit import Pair, certificates, old_client_context, server_config


async def ask(port: int, tls: ssl.SSLContext | None, host: str = "localhost") -> bytes:
    """An echo, or the error."""
    line = await open_line(f"{host}:{port}", tls=tls)
    try:
        answer = await line.ask(RemotingCommand(ECHO, body=b"hello"), SECONDS_MAX)
        return bytes(answer.body)
    finally:
        line.close()


def ours(**others: str) -> ssl.SSLContext:
    return client_context(certificates().authority, **others)


def test_a_request_by_tls_is_answered_and_large_ones_are_whole() -> None:
    async def test() -> None:
        async with Running(tls=server_config()) as server:
            line = await open_line(f"127.0.0.1:{server.port}", tls=ours())
            body = bytes(range(256)) * 8_000
            answers = [
                line.ask(RemotingCommand(ECHO, body=one), SECONDS_MAX)
                for one in (b"small", body, b"small again")
            ]
            assert [bytes((await one).body) for one in answers] == [b"small", body, b"small again"]
            line.close()
            assert server.tls.handshakes == 1

    in_loop(test)


WRONG_SERVERS = {
    "wrong CA": ("stranger", "authority that is not known"),
    "expired": ("expired", "has expired"),
    "self-signed": ("self_signed", "signed by itself"),
    "wrong host": ("elsewhere", "of another host"),
}


@pytest.mark.parametrize("way", WRONG_SERVERS)
def test_a_server_with_a_wrong_certificate_gets_no_request(way: str) -> None:
    pair, words = WRONG_SERVERS[way]
    shown: Pair = getattr(certificates(), pair)

    async def test() -> None:
        async with Running(tls=server_config(shown)) as server:
            with pytest.raises(ssl.SSLError) as caught:
                await ask(server.port, ours())
            assert words in explained_tls(caught.value)
            assert server.service.opened == []

    in_loop(test)


def test_an_old_version_of_tls_is_refused() -> None:
    async def test() -> None:
        async with Running(tls=server_config()) as server:
            with pytest.raises(ssl.SSLError) as caught:
                await ask(server.port, old_client_context())
            assert "versions of TLS that we speak" in explained_tls(caught.value)
            assert server.service.opened == []
            assert server.tls.failures == 1

    in_loop(test)


def test_plain_text_to_a_port_for_tls_is_refused_and_both_sides_say_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def test() -> None:
        async with Running(tls=server_config()) as server:
            with caplog.at_level(logging.INFO), pytest.raises(ConnectionLost, match="rmqs://"):
                await ask(server.port, None)
            assert server.service.opened == []
            assert server.tls.plain_refusals == 1
        assert "plain text on a port that speaks TLS only" in caplog.text

    in_loop(test)


def test_tls_to_a_plain_port_is_refused_and_says_why(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        async with Running() as server:
            with caplog.at_level(logging.INFO), pytest.raises(OSError, match=r".*") as caught:
                await ask(server.port, ours())
            assert "hung up in the middle of a handshake" in explained_tls(caught.value)
        assert "a TLS hello on a plain connection" in caplog.text

    in_loop(test)


def test_a_client_without_a_certificate_is_refused_where_one_is_needed() -> None:
    async def test() -> None:
        async with Running(tls=server_config(asks_clients=Asked.REQUIRE)) as server:
            with pytest.raises(ConnectionLost, match="wants a certificate of ours"):
                await ask(server.port, ours())
            assert server.service.opened == []
            shown = certificates().client
            assert await ask(server.port, ours(certificate=shown[0], key=shown[1])) == b"hello"

    in_loop(test)


def test_a_clients_certificate_of_another_authority_is_refused() -> None:
    async def test() -> None:
        async with Running(tls=server_config(asks_clients=Asked.OPTIONAL)) as server:
            shown = certificates().stranger
            with pytest.raises(ConnectionLost, match="does not know the authority"):
                await ask(server.port, ours(certificate=shown[0], key=shown[1]))
            assert server.service.opened == []
            assert await ask(server.port, ours()) == b"hello"  # none is needed

    in_loop(test)


def test_in_permissive_mode_the_first_byte_tells_tls_from_plain_text() -> None:
    async def test() -> None:
        async with Running(tls=server_config(mode=TlsMode.PERMISSIVE)) as server:
            assert await ask(server.port, None) == b"hello"
            assert await ask(server.port, ours()) == b"hello"
            assert (server.tls.handshakes, server.tls.plain_refusals) == (1, 0)

    in_loop(test)


class Silent(asyncio.Protocol):
    made = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        Silent.made += 1


@contextlib.asynccontextmanager
async def _listening(seconds: float) -> AsyncIterator[tuple[TlsDoor, TlsState, int]]:
    state = TlsState(server_config())
    door = TlsDoor(Silent, state, lambda: state.service, handshake_seconds_max=seconds)
    server = await asyncio.get_running_loop().create_server(door.accept, "127.0.0.1", 0)
    try:
        yield door, state, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        door.close()


async def _heard(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other side hangs up."""
    with contextlib.suppress(ConnectionResetError):
        return await reader.read()
    return b""


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


@pytest.mark.parametrize("said", [b"", b"\x16", b"\x16\x03\x01\x00"])
def test_a_handshake_that_is_not_over_in_time_is_given_up(said: bytes) -> None:
    async def test() -> None:
        async with _listening(0.05) as (_, state, port):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(said)
            assert await _heard(reader) == b""
            await _close(writer)
        assert state.handshakes == 0
        assert state.failures == (1 if said else 0)

    in_loop(test)


def test_a_door_that_closes_gives_up_what_is_half_open() -> None:
    async def test() -> None:
        async with _listening(SECONDS_MAX) as (door, _, port):
            ends = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            ends[0][1].write(b"\x16")
            while door.half_open() < 3:
                await turn()
            door.close()
            for reader, writer in ends:
                assert await _heard(reader) == b""
                await _close(writer)

    in_loop(test)


def test_a_crowd_of_handshakes_waits_in_a_row_and_comes_in() -> None:
    """More work than a slice holds: nobody is lost, and requests of others go in between."""

    async def test() -> None:
        async with Running(tls=server_config()) as server:
            first = await open_line(f"127.0.0.1:{server.port}", tls=ours())
            crowd = [asyncio.ensure_future(ask(server.port, ours())) for _ in range(60)]
            while not all(one.done() for one in crowd):
                answer = await first.ask(RemotingCommand(ECHO, body=b"x"), SECONDS_MAX)
                assert bytes(answer.body) == b"x"
            assert [one.result() for one in crowd] == [b"hello"] * 60
            first.close()

    in_loop(test)


def test_one_half_open_connection_too_many_is_refused() -> None:
    state = TlsState(server_config())
    door = TlsDoor(Silent, state, lambda: state.service)
    firsts = [door.accept() for _ in range(HALF_OPEN_MAX + 1)]
    assert [door.opened(one) for one in firsts[-2:]] == [True, True]  # type: ignore[arg-type]
    for one in firsts[:-2]:
        door.opened(one)  # type: ignore[arg-type]
    assert not door.opened(firsts[-1])  # type: ignore[arg-type]


def test_a_peer_that_is_gone_at_once_leaves_nothing_behind() -> None:
    async def test() -> None:
        async with _listening(SECONDS_MAX) as (door, _, port):
            for said in (b"", b"\x16\x03"):
                with socket.create_connection(("127.0.0.1", port)) as gone:
                    gone.sendall(said)
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            while door.half_open() != 1:  # the last one
                await turn()
            await _close(writer)

    in_loop(test)


def test_who_waits_for_a_turn_has_cost_nothing_and_addresses_take_turns() -> None:
    async def test() -> None:
        made: list[asyncio.Protocol] = []

        def make() -> asyncio.Protocol:
            made.append(asyncio.Protocol())
            return made[-1]

        state = TlsState(server_config())
        door = TlsDoor(make, state, lambda: state.service)
        loop = asyncio.get_running_loop()
        door._slice_end = time.monotonic() + 1_000.0  # used up, and none follows for a long time
        first = door.accept
        server = await loop.create_server(first, "0.0.0.0", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            crowd = [await _greet(port, "127.0.0.1") for _ in range(5)]
            while len(door._waiting.get("127.0.0.1", ())) < 5:
                await turn()
            late = await _greet(port, "127.0.0.2")
            while "127.0.0.2" not in door._waiting:
                await turn()
            assert (made, door.half_open()) == ([], 6)
            turns = []
            while door._waiting:
                door._slice_end, door._slice_left = time.monotonic() + 1_000.0, 1e-9  # one step
                before = {source: len(row) for source, row in door._waiting.items()}
                door._next_slice()
                after = {source: len(door._waiting.get(source, ())) for source in before}
                turns += [source for source in before if after[source] < before[source]]
            assert turns == ["127.0.0.1", "127.0.0.2", *["127.0.0.1"] * 4]
            assert len(made) == 6
            for one in (*crowd, late):
                await _close(one)
            door.close()

    in_loop(test)


async def _greet(port: int, source: str) -> asyncio.StreamWriter:
    """A connection that has said the first message of a handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    shaking = ours().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        shaking.do_handshake()
    _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
    writer.write(outgoing.read())
    return writer


def test_one_address_does_not_take_all_the_room() -> None:
    async def test() -> None:
        state = TlsState(server_config())
        door = TlsDoor(asyncio.Protocol, state, lambda: state.service)
        server = await asyncio.get_running_loop().create_server(door.accept, "0.0.0.0", 0)
        port = server.sockets[0].getsockname()[1]
        async with server:
            held = []
            for number in range(CROWD_MIN + 1):
                source = f"127.0.1.{number % 50 + 1}"
                held.append(
                    await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
                )
            for _ in range(ADDRESS_MAX):
                held.append(await asyncio.open_connection("127.0.0.1", port))
            while door.half_open() < CROWD_MIN + 1 + ADDRESS_MAX:
                await turn()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            await _close(writer)
            assert state.failures == 1
            other = await asyncio.open_connection("127.0.0.1", port, local_addr=("127.0.2.1", 0))
            while door.half_open() < CROWD_MIN + 2 + ADDRESS_MAX:
                await turn()
            door.close()
            for _, one in (*held, other):
                await _close(one)

    in_loop(test)


def test_handshakes_wait_while_their_share_of_the_loop_is_used_up() -> None:
    async def test() -> None:
        state = TlsState(server_config())
        door = TlsDoor(asyncio.Protocol, state, lambda: state.service)
        assert state.service is not None
        layers = [TlsLayer(door, asyncio.Protocol(), state.service, None) for _ in range(2)]
        assert door.may_shake(layers[0])
        # The step took longer than a slice, which none follows for a long time.
        door._step_began -= 1.0
        door._slice_end = time.monotonic() + 1_000.0
        assert not door.may_shake(layers[1])
        door._slice_end = 0.0
        assert door.may_shake(layers[1])

    in_loop(test)
