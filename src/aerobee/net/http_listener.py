"""A small HTTP server for pages that are read by machines: metrics, health.

It answers GET and HEAD, one request a connection, and closes. Pages come in pieces: between two of
them the rest of the loop has its turn, and a reader that is slow is waited for. Whatever a peer can
draw out or make large has a bound: the number of connections, the size of a request, the time that
a request may take to come and an answer to be read.
"""

import asyncio
import contextlib
import logging
import socket
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import NamedTuple, cast

from aerobee.net.tls_door import TlsDoor
from aerobee.net.tls_faults import HELLO, HELLO_TO_PLAIN
from aerobee.net.tls_state import TlsState

_log = logging.getLogger(__name__)

REQUEST_BYTES_MAX = 8 << 10
REQUEST_SECONDS_MAX = 5.0
ANSWER_SECONDS_MAX = 30.0
CONNECTIONS_MAX = 32
WRITE_HIGH_BYTES = 256 << 10
BACKLOG = 64

_END = b"\r\n\r\n"
_PLAIN_TEXT = "text/plain; charset=utf-8"


class Page(NamedTuple):
    pieces: Iterable[bytes]
    status: HTTPStatus = HTTPStatus.OK
    content_type: str = _PLAIN_TEXT


Pages = Mapping[str, Callable[[], Page]]
"""By path; each is made when it is asked for."""


class Login(NamedTuple):
    """A name and a password, as browsers and Prometheus send them (basic authentication)."""

    name: str
    password: str


MayRead = Callable[[str, Login | None, str], bool]
"""Whether a path may be read with a login, from an address."""


class HttpLimits(NamedTuple):
    request_bytes_max: int = REQUEST_BYTES_MAX
    request_seconds_max: float = REQUEST_SECONDS_MAX
    answer_seconds_max: float = ANSWER_SECONDS_MAX
    connections_max: int = CONNECTIONS_MAX


class RequestRefused(Exception):
    """The request is not one that is served here."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status)
        self.status = status


class HttpRequest(NamedTuple):
    method: str
    path: str
    version: str
    login: Login | None


class HttpListener:
    def __init__(
        self,
        pages: Pages,
        limits: HttpLimits | None = None,
        tls: TlsState | None = None,
        may_read: MayRead = lambda path, login, source: True,
    ) -> None:
        self._pages = pages
        self._may_read = may_read
        self._tls = tls if tls is not None and tls.pages is not None else None
        self._limits = limits or HttpLimits()
        self._servers: list[asyncio.Server] = []
        self._door: TlsDoor | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # Those whose request has not come whole, the oldest first.
        self._reading: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, sockets: Sequence[socket.socket]) -> None:
        """Serve on bound sockets, which are the listener's from now on."""
        loop = asyncio.get_running_loop()
        accept: Callable[[], asyncio.BaseProtocol] = self._make_stream
        if self._tls is not None:
            tls = self._tls
            self._door = TlsDoor(accept, tls, lambda: tls.pages)
            accept = self._door.accept
        for bound in sockets:
            self._servers.append(await loop.create_server(accept, sock=bound, backlog=BACKLOG))

    def _make_stream(self) -> asyncio.StreamReaderProtocol:
        reader = asyncio.StreamReader(limit=self._limits.request_bytes_max)
        return asyncio.StreamReaderProtocol(reader, self._accept)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        if self._door is not None:
            self._door.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= self._limits.connections_max and not self._dismiss_oldest():
            writer.transport.abort()
            return
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        self._reading[task] = writer
        task.add_done_callback(self._forget)

    def _dismiss_oldest(self) -> bool:
        """Give the room of the oldest connection that has asked for nothing to a new one: a crowd
        that says nothing must not lock monitoring out."""
        for task, writer in self._reading.items():
            self._forget(task)
            task.cancel()
            writer.transport.abort()
            return True
        return False

    def _forget(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._reading.pop(task, None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=WRITE_HIGH_BYTES)
        try:
            await self._answer(reader, writer)
        except (TimeoutError, OSError, asyncio.IncompleteReadError):
            writer.transport.abort()  # too slow, or gone
        except Exception:
            _log.exception("a page could not be made")
            writer.transport.abort()  # half a page must not look like a whole one
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version = "HTTP/1.1"
        is_head = False
        try:
            async with asyncio.timeout(self._limits.request_seconds_max):
                request = await _read_request(reader, self._limits.request_bytes_max)
            self._reading.pop(cast("asyncio.Task[None]", asyncio.current_task()), None)
            version = request.version
            is_head = request.method == "HEAD"
            source = str((writer.get_extra_info("peername") or ("",))[0])
            page = self._page(request, source)
        except RequestRefused as refused:
            page = Page([f"{refused.status.phrase}\n".encode()], refused.status)
        async with asyncio.timeout(self._limits.answer_seconds_max):
            await _write_page(writer, page, version, is_head=is_head)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _page(self, request: HttpRequest, source: str) -> Page:
        make = self._pages.get(request.path)
        if make is None:
            raise RequestRefused(HTTPStatus.NOT_FOUND)
        if request.method not in ("GET", "HEAD"):
            raise RequestRefused(HTTPStatus.METHOD_NOT_ALLOWED)
        if not self._may_read(request.path, request.login, source):
            raise RequestRefused(HTTPStatus.UNAUTHORIZED)
        return make()


async def _read_request(reader: asyncio.StreamReader, bytes_max: int) -> HttpRequest:
    head = b""
    while _END not in head[:bytes_max]:
        if len(head) >= bytes_max:
            raise RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        piece = await reader.read(bytes_max)
        if not piece:
            raise asyncio.IncompleteReadError(head, None)
        head += piece
        if head.startswith(HELLO):  # the answer tells its client that nobody speaks TLS here
            _log.info("closing a connection: %s", HELLO_TO_PLAIN)
            raise RequestRefused(HTTPStatus.BAD_REQUEST)
    return parse_request(head.partition(_END)[0] + _END)


def parse_request(head: bytes) -> HttpRequest:
    """What is asked for, and by whom; no other header matters here."""
    line = head.partition(b"\r\n")[0]
    words = line.split(b" ")
    if len(words) != 3 or words[2] not in (b"HTTP/1.0", b"HTTP/1.1") or not line.isascii():
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    method, target, version = (word.decode() for word in words)
    if not target.startswith("/"):
        raise RequestRefused(HTTPStatus.BAD_REQUEST)
    return HttpRequest(method, target.partition("?")[0], version, _login_in(head))


def _login_in(head: bytes) -> Login | None:
    """The login of basic authentication; None: there is none that can be read."""
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        kind, _, text = value.strip().partition(b" ")
        if name.strip().lower() == b"authorization" and kind.lower() == b"basic":
            try:
                user, colon, password = b64decode(text.strip(), validate=True).partition(b":")
                if colon:
                    return Login(user.decode(), password.decode())
            except ValueError:
                return None
    return None


async def _write_page(
    writer: asyncio.StreamWriter, page: Page, version: str, *, is_head: bool
) -> None:
    """In chunks where the peer knows them, so that half a page is not taken for a whole one."""
    is_chunked = version == "HTTP/1.1"
    head = [
        f"HTTP/1.1 {page.status.value} {page.status.phrase}",
        f"Content-Type: {page.content_type}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if page.status is HTTPStatus.UNAUTHORIZED:
        head.append('WWW-Authenticate: Basic realm="aerobee", charset="UTF-8"')
    if is_chunked:
        head.append("Transfer-Encoding: chunked")
    writer.write("\r\n".join(head).encode() + _END)
    if is_head:
        return
    for piece in page.pieces:
        if piece:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
        await writer.drain()
        await asyncio.sleep(0)  # others of the loop come first
    if is_chunked:
        writer.write(b"0\r\n\r\n")
