import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from http import HTTPStatus

import pytest

from aerobee.net.http_listener import HttpLimits, HttpListener, Page
from aerobee.net.listener import bind, port_of
from aerobee.net.tls_context import client_context
from aerobee.net.tls_faults import HELLO_TO_PLAIN
from aerobee.net.tls_state import TlsState
from tests.net_kit import in_loop
from tests.tls_kit import certificates, server_config

GET = b"GET /page HTTP/1.1\r\nHost: here\r\n\r\n"


@contextlib.asynccontextmanager
async def serving(make: Callable[[], Page], limits: HttpLimits | None = None) -> AsyncIterator[int]:
    """A listener with one page, `/page`; its port."""
    listener = HttpListener({"/page": make}, limits)
    sockets = bind("127.0.0.1", 0)
    port = port_of(sockets[0])
    await listener.start(sockets)
    try:
        yield port
    finally:
        await listener.stop()


async def said(port: int, request: bytes) -> bytes:
    """All that comes back until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        return await until_closed(reader)
    finally:
        writer.close()


async def until_closed(reader: asyncio.StreamReader) -> bytes:
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1 << 16):
            parts.append(part)
    return b"".join(parts)


def test_pages_are_served_by_tls_and_refused_without_where_that_is_asked_for() -> None:
    async def test() -> None:
        listener = HttpListener(
            {"/page": lambda: Page([b"secret"])}, None, TlsState(server_config())
        )
        sockets = bind("127.0.0.1", 0)
        await listener.start(sockets)
        port = port_of(sockets[0])
        assert await said(port, GET) == b""
        context = client_context(certificates().authority)
        context.set_alpn_protocols(["h2", "http/1.1"])  # as Prometheus comes
        reader, writer = await asyncio.open_connection("localhost", port, ssl=context)
        shown = writer.get_extra_info("ssl_object")
        assert shown.selected_alpn_protocol() == "http/1.1"
        writer.write(GET)
        assert b"secret" in await until_closed(reader)
        writer.close()
        await listener.stop()

    in_loop(test)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def unchunked(answer: bytes) -> bytes:
    """The body; it must have come whole."""
    body = b""
    rest = answer.partition(b"\r\n\r\n")[2]
    while True:
        size_text, _, rest = rest.partition(b"\r\n")
        size = int(size_text, 16)
        body += rest[:size]
        assert rest[size : size + 2] == b"\r\n"
        rest = rest[size + 2 :]
        if size == 0:
            assert rest == b""
            return body


def plain() -> Page:
    return Page([b"one\n", b"", b"two\n"])


def test_a_page_comes_in_chunks_and_whole() -> None:
    async def run() -> None:
        async with serving(plain) as port:
            answer = await said(port, GET)
        head = answer.partition(b"\r\n\r\n")[0].split(b"\r\n")
        assert head[0] == b"HTTP/1.1 200 OK"
        assert b"Content-Type: text/plain; charset=utf-8" in head
        assert b"Connection: close" in head
        assert unchunked(answer) == b"one\ntwo\n"

    in_loop(run)


def test_an_old_client_gets_it_as_it_is() -> None:
    async def run() -> None:
        async with serving(plain) as port:
            answer = await said(port, b"GET /page?name=x HTTP/1.0\r\n\r\n")
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b"chunked" not in head
        assert body == b"one\ntwo\n"

    in_loop(run)


def test_a_request_may_come_byte_by_byte() -> None:
    async def run() -> None:
        async with serving(plain) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for byte in GET:
                writer.write(bytes((byte,)))
                await writer.drain()
            assert unchunked(await until_closed(reader)) == b"one\ntwo\n"
            writer.close()

    in_loop(run)


def test_head_is_answered_without_a_body() -> None:
    async def run() -> None:
        async with serving(plain) as port:
            answer = await said(port, GET.replace(b"GET", b"HEAD"))
        assert status_of(answer) == 200
        assert answer.endswith(b"\r\n\r\n")

    in_loop(run)


def test_the_status_is_the_pages() -> None:
    async def run() -> None:
        page = Page([b"it is ill\n"], HTTPStatus.SERVICE_UNAVAILABLE)
        async with serving(lambda: page) as port:
            answer = await said(port, GET)
        assert status_of(answer) == 503
        assert unchunked(answer) == b"it is ill\n"

    in_loop(run)


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /other HTTP/1.1\r\n\r\n", 404),
        (b"POST /page HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405),
        (b"GET /page\r\n\r\n", 400),
        (b"GET /page HTTP/9.9\r\n\r\n", 400),
        (b"GET page HTTP/1.1\r\n\r\n", 400),
        (b"GET  /page HTTP/1.1\r\n\r\n", 400),
        (b"GET /p\xffge HTTP/1.1\r\n\r\n", 400),
        (b"\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
        (b"GET /page HTTP/1.1\r\nX: " + b"y" * 20_000 + b"\r\n\r\n", 431),
        (b"y" * 20_000, 431),
    ],
)
def test_what_is_not_served_is_refused_and_closed(request_bytes: bytes, status: int) -> None:
    async def run() -> None:
        async with serving(plain) as port:
            answer = await said(port, request_bytes)
            # A peer that is refused while it still writes may see a reset and not the answer.
            assert answer == b"" or status_of(answer) == status
            assert answer or status == 431
            assert unchunked(await said(port, GET)) == b"one\ntwo\n"

    in_loop(run)


def test_a_tls_hello_on_a_plain_port_is_closed_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> None:
        async with serving(plain) as port:
            assert status_of(await said(port, b"\x16\x03\x01\x02\x00\x01\x00")) == 400
            assert unchunked(await said(port, GET)) == b"one\ntwo\n"

    with caplog.at_level(logging.INFO):
        in_loop(run)
    assert HELLO_TO_PLAIN in caplog.text


def test_a_request_that_does_not_come_is_not_waited_for() -> None:
    async def run() -> None:
        async with serving(plain, HttpLimits(request_seconds_max=0.05)) as port:
            assert await said(port, b"GET /page HTTP/1.1\r\nHost: he") == b""

    in_loop(run)


def test_a_peer_that_does_not_read_is_dropped_and_the_page_ends() -> None:
    async def run() -> None:
        ended = asyncio.Event()

        def endless() -> Iterator[bytes]:
            try:
                while True:
                    yield bytes(1 << 16)
            finally:
                ended.set()

        limits = HttpLimits(answer_seconds_max=0.1)
        async with serving(lambda: Page(endless()), limits) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
            writer.write(GET)
            await ended.wait()
            assert not (await until_closed(reader)).endswith(b"0\r\n\r\n")
            writer.close()

    in_loop(run)


def test_only_so_many_are_served_at_once() -> None:
    async def run() -> None:
        async with serving(plain, HttpLimits(connections_max=2)) as port:
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
            assert await until_closed(held[0][0]) == b""  # the oldest has made room
            for reader, writer in held[1:]:
                writer.write(GET)
                assert unchunked(await until_closed(reader)) == b"one\ntwo\n"
            for _, writer in held:
                writer.close()

    in_loop(run)


def test_who_is_being_answered_makes_no_room_for_others() -> None:
    async def run() -> None:
        asked = asyncio.Event()

        def long() -> Iterator[bytes]:
            asked.set()
            while True:
                yield bytes(1 << 16)

        limits = HttpLimits(connections_max=1)
        async with serving(lambda: Page(long()), limits) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(GET)
            await asked.wait()
            assert await said(port, GET) == b""
            assert await reader.readexactly(1 << 20)
            writer.close()

    in_loop(run)


def test_others_of_the_loop_have_a_turn_between_two_pieces() -> None:
    async def run() -> None:
        turns: list[int] = []
        seen: list[int] = []

        def pieces() -> Iterator[bytes]:
            for number in range(5):
                seen.append(len(turns))
                asyncio.get_running_loop().call_soon(turns.append, number)
                yield b"x"

        async with serving(lambda: Page(pieces())) as port:
            await said(port, GET)
        assert seen == [0, 1, 2, 3, 4]

    in_loop(run)


def test_half_a_page_does_not_look_like_a_whole_one(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        def broken() -> Iterator[bytes]:
            yield b"one\n"
            raise RuntimeError("nothing comes after one")

        async with serving(lambda: Page(broken())) as port:
            answer = await said(port, GET)
        assert not answer.endswith(b"0\r\n\r\n")

    with caplog.at_level(logging.ERROR):
        in_loop(run)
    assert "a page could not be made" in caplog.text


def test_a_stop_does_not_wait_for_who_is_connected() -> None:
    async def run() -> None:
        async with serving(plain) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await until_closed(reader) == b""
        writer.close()

    in_loop(run)
