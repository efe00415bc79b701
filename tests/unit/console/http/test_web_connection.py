"""Connections of browsers that say nothing, a byte now and then, or something else than HTTP."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from aerobee.console.http.web_connection import Waiting, WebConnection
from tests.net_kit import turn
from tests.process_kit import SECONDS_MAX

SOON = 0.2
WHOLE = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"


async def application(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    await send(start)
    await send({"type": "http.response.body", "body": b"ok"})


def at_a_server(
    test: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    seconds_max: float = SOON,
    connections_max: int = 400,
) -> None:
    waiting: Waiting = {}

    async def live() -> None:
        config = uvicorn.Config(application, lifespan="off", ws="none", log_config=None)
        told = {"config": config, "server_state": ServerState(), "app_state": {}}
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: WebConnection(
                waiting, seconds_max=seconds_max, connections_max=connections_max, **told
            ),
            "127.0.0.1",
            0,
        )
        async with server, asyncio.timeout(SECONDS_MAX):
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            await test(reader, writer)
            writer.close()
            while waiting:
                await turn()

    asyncio.run(live())


@pytest.mark.parametrize("begun", [b"", WHOLE[:9], BODY, BODY + b"1234", WHOLE + WHOLE[:9]])
def test_a_request_that_does_not_come_whole_is_not_waited_for(begun: bytes) -> None:
    async def test(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        heard = b""
        with contextlib.suppress(ConnectionError):
            heard = await reader.read()
        assert heard.count(b"200 OK") == begun.count(b"\r\n\r\n") - begun.count(b"POST")

    at_a_server(test)


def test_a_byte_now_and_then_gives_no_more_time() -> None:
    async def test(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = asyncio.ensure_future(reader.read())
        for byte in WHOLE * 100:
            writer.write(bytes([byte | 0x20 if byte == 13 else byte]))
            if (await asyncio.wait({ended}, timeout=SOON / 10))[0]:
                break
        assert ended.done()
        ended.exception()

    at_a_server(test)


def test_an_answer_may_take_longer_than_a_request(caplog: pytest.LogCaptureFixture) -> None:
    async def test(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):  # whole ones, one after the other, on the same connection
            writer.write(BODY + b"12345")
            assert await reader.readuntil(b"ok")

    at_a_server(test, SECONDS_MAX)


def test_a_tls_hello_is_closed_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    async def test(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00")
        with contextlib.suppress(ConnectionError):
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")

    with caplog.at_level(logging.INFO):
        at_a_server(test, SECONDS_MAX)
    assert "a TLS hello on a plain connection" in caplog.text


def test_where_there_are_too_many_the_oldest_that_has_said_nothing_makes_room() -> None:
    async def test(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        at = writer.get_extra_info("peername")
        writer.write(WHOLE)
        assert await reader.readuntil(b"ok")
        crowd = [await asyncio.open_connection(*at) for _ in range(6)]
        for silent, _ in crowd[:3]:
            with contextlib.suppress(ConnectionError):
                assert await silent.read() == b""
        for spoken, last in crowd[3:]:
            last.write(WHOLE)
            assert await spoken.readuntil(b"ok")
        writer.write(WHOLE)  # it has asked for something, and is kept
        assert await reader.readuntil(b"ok")
        for _, one in crowd:
            one.close()

    at_a_server(test, SECONDS_MAX, connections_max=4)
