"""Assets: the files of the pages, sent from the folder that they were built into.

A path that is no file and not of the API gives the one page of the application: addresses of things
in it are deep links. Names of built files contain a hash of their content, so that browsers keep
them. A file has a compressed twin (`NAME.gz`) beside it.

The page itself is asked for anew: it comes with its visitor's session, so that it can ask for what
it shows at once. Where a cluster is slow to answer, it comes without.
"""

import asyncio
import html
import json
import os
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from aerobee.console.http.action import Record
from aerobee.console.http.endpoints import Entrance, error_response
from aerobee.console.http.guard import check_host
from aerobee.console.http.problem import Problem, not_found
from aerobee.errors import AerobeeError

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "assets")
PAGE = "index.html"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_SESSION = b'<meta name="session" content="">'
SESSION_SECONDS = 0.5
_FOREVER = "public, max-age=31536000, immutable"
_NOT_BUILT = "the pages are not built: make install; the API is at /api\n"


class AssetFile(NamedTuple):
    path: str
    kind: str
    has_twin: bool


class Assets:
    """Serves files by names that were read once: no name of a request reaches the disk."""

    def __init__(self, entrance: Entrance, folder: str = FOLDER) -> None:
        self._entrance = entrance
        self._files = dict(_files_in(folder))

    async def serve(self, request: Request) -> Response:
        try:
            check_host(request.headers.get("host", ""), self._entrance.hosts)
            return await self._answer(request)
        except Problem as problem:
            return error_response(problem)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path
        if path == "/api" or path.startswith("/api/"):
            raise not_found(f"there is no {request.method} {path}", hint="GET /api lists all calls")
        name = path.removeprefix("/assets/") if path.startswith("/assets/") else path[1:]
        found = self._files.get(name)
        if found is None and path.startswith("/assets/"):
            raise not_found(f"there is no file {name!r}")
        is_page = found is None or name == PAGE
        found = self._files.get(PAGE) if is_page else found
        if found is None:
            return PlainTextResponse(_NOT_BUILT, 404)
        return await self._page(found, request) if is_page else _sent(found, request)

    async def _page(self, file: AssetFile, request: Request) -> Response:
        with open(file.path, "rb") as opened:
            text = opened.read()
        told = html.escape(json.dumps(await self._session(request)))
        named = _SESSION.replace(b'""', f'"{told}"'.encode()) if told != "null" else _SESSION
        headers = {"cache-control": "no-store"}
        return Response(text.replace(_SESSION, named), headers=headers, media_type=file.kind)

    async def _session(self, request: Request) -> Record | None:
        """Return the session of a visitor; None: it takes too long."""
        address = request.client.host if request.client is not None else ""
        doorman = self._entrance.doorman
        visitor = doorman.visitor(request.cookies.get(self._entrance.cookie, ""), address)
        try:
            async with asyncio.timeout(SESSION_SECONDS):
                return await doorman.told(visitor)
        except (AerobeeError, TimeoutError):
            return None


def _sent(file: AssetFile, request: Request) -> Response:
    headers = {"cache-control": _FOREVER, "vary": "accept-encoding"}
    path = file.path
    if file.has_twin and "gzip" in request.headers.get("accept-encoding", ""):
        path += ".gz"
        headers["content-encoding"] = "gzip"
    with open(path, "rb") as opened:  # some tens of kilobytes, in the page cache
        return Response(opened.read(), headers=headers, media_type=file.kind)


def _files_in(folder: str) -> list[tuple[str, AssetFile]]:
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            kind = _KINDS.get(os.path.splitext(name)[1])
            if kind is not None:
                path = os.path.join(place, name)
                known = os.path.relpath(path, folder).replace(os.sep, "/")
                found.append((known, AssetFile(path, kind, f"{name}.gz" in names)))
    return found
