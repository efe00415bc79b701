"""Links by TLS: the certificate of a slave names a host, and the right one."""

import asyncio
import ssl
from dataclasses import replace

import pytest

from aerobee.net.tls_context import client_context
from aerobee.net.tls_peers import names_in, refusal_of_link
from aerobee.ports.service import LinkWrite, OpenLink
from tests.net_kit import LinkedEcho, Running, in_loop
from tests.tls_kit import Pair, certificates, server_config


def test_names_are_those_of_hosts() -> None:
    said = (("DNS", "A.example"), ("IP Address", "10.0.0.1"), ("email", "x@y"))
    assert names_in({"subjectAltName": said}) == ["a.example", "10.0.0.1"]
    assert names_in({}) == []


async def knock(server: Running, shown: Pair | None) -> bytes:
    """What an HA port says to one who shows a certificate."""
    context = client_context(certificates().authority, *(shown or ()))
    reader, writer = await asyncio.open_connection("localhost", server.ha_port, ssl=context)
    try:
        return await reader.read(5)
    except (ssl.SSLError, ConnectionResetError):
        return b""
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(
    ("shown", "peers", "is_let_in"),
    [
        ("host", (), True),
        ("host", ("localhost",), True),
        ("host", ("*.example",), False),
        ("elsewhere", ("*.example",), True),
        ("client", (), False),
        ("expired", (), False),
        ("stranger", (), False),
        ("", (), False),
    ],
)
def test_only_a_host_whose_name_is_wanted_copies_the_log(
    shown: str, peers: tuple[str, ...], is_let_in: bool
) -> None:
    async def test() -> None:
        echo = LinkedEcho()
        echo.links.reactions["open"] = lambda link: [LinkWrite(link, [b"hello"])]
        config = replace(server_config(), peers=peers)
        async with Running(service=echo, tls=config) as server:
            pair = getattr(certificates(), shown) if shown else None
            assert await knock(server, pair) == (b"hello" if is_let_in else b"")
            assert bool(echo.links.peers) == is_let_in

    in_loop(test)


def test_a_link_is_opened_by_tls_and_carries_a_log_whole() -> None:
    async def test() -> None:
        log = bytes(range(256)) * 10_000
        master, slave = LinkedEcho(), LinkedEcho()
        master.links.reactions["open"] = lambda link: [LinkWrite(link, [memoryview(log)])]
        async with (
            Running(service=master, tls=server_config()) as at,
            Running(service=slave, tls=server_config()) as other,
        ):
            slave.effects = [OpenLink(f"localhost:{at.ha_port}")]
            other.driver.tick_soon()
            link = await slave.links.hear("open")
            while len(slave.links.received[link]) < len(log):
                await slave.links.hear("bytes")
            assert slave.links.received[link] == log

    in_loop(test)


def test_a_master_whose_certificate_is_of_another_host_is_not_followed() -> None:
    async def test() -> None:
        slave = LinkedEcho()
        async with (
            Running(service=LinkedEcho(), tls=server_config(certificates().elsewhere)) as at,
            Running(service=slave, tls=server_config()) as other,
        ):
            slave.effects = [OpenLink(f"localhost:{at.ha_port}")]
            other.driver.tick_soon()
            _, reason = await slave.links.failed.get()
            assert "of another host" in reason

    in_loop(test)


def test_a_certificate_that_was_not_checked_names_nobody() -> None:
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).wrap_bio(
        ssl.MemoryBIO(), ssl.MemoryBIO(), server_side=True
    )
    with pytest.raises(ValueError, match="handshake"):
        refusal_of_link(server_config(), shown)
