import asyncio
import gzip
import html
import json
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from aerobee.console.http.action import Record
from aerobee.console.http.assets import Assets
from aerobee.console.http.endpoints import Entrance
from aerobee.console.session.visitor import Role, Visitor
from aerobee.errors import Misuse


class Door:
    """Knows one visitor by the token `t`; its cluster may be silent."""

    def __init__(self, *, is_silent: bool = False) -> None:
        self._is_silent = is_silent

    def visitor(self, token: str, address: str) -> Visitor:
        return Visitor(address, Role.ADMIN if token == "t" else None, "<a&\"b'>")

    async def told(self, visitor: Visitor) -> Record:
        if self._is_silent:
            raise Misuse("nobody answers")
        return {"user": visitor.user, "has_role": visitor.role is not None}


def _assets(folder: Path, door: Door | None = None) -> Assets:
    (folder / "index.html").write_text('<meta name="session" content=""><p>page</p>')
    (folder / "app-1.js").write_text("script")
    (folder / "app-1.js.gz").write_bytes(gzip.compress(b"script"))
    (folder / "secret.txt").write_text("no")
    (folder.parent / "outside.js").write_text("no")
    entrance = Entrance(door or Door(), None, frozenset(), False)  # type: ignore[arg-type]
    return Assets(entrance, str(folder))


def _get(assets: Assets, path: str, encoding: str = "", host: str = "localhost") -> Response:
    headers = [(b"host", host.encode()), (b"accept-encoding", encoding.encode())]
    headers.append((b"cookie", b"aerobee=t"))
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "query_string": b""}
    return asyncio.run(assets.serve(Request(scope)))


def test_files_are_kept_for_ever_and_the_page_is_asked_for_anew(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assets = _assets(tmp_path / "a")
    script = _get(assets, "/assets/app-1.js")
    assert script.body == b"script"
    assert "immutable" in script.headers["cache-control"]
    for path in ("/", "/topics/orders", "/index.html"):
        page = _get(assets, path)
        assert bytes(page.body).endswith(b"<p>page</p>")
        assert page.headers["cache-control"] == "no-store"


def test_the_page_has_its_visitors_session_as_text_that_is_no_markup(tmp_path: Path) -> None:
    page = bytes(_get(_assets(tmp_path), "/").body).decode()
    content = page.removeprefix('<meta name="session" content="').removesuffix('"><p>page</p>')
    assert not set(content) & set("<>'\"")
    assert json.loads(html.unescape(content)) == {"user": "<a&\"b'>", "has_role": True}


def test_a_silent_cluster_does_not_keep_the_page(tmp_path: Path) -> None:
    page = _get(_assets(tmp_path, Door(is_silent=True)), "/")
    assert page.body == b'<meta name="session" content=""><p>page</p>'


def test_a_browser_that_takes_gzip_gets_the_compressed_twin(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    told = _get(_assets(tmp_path / "a"), "/assets/app-1.js", "gzip, br")
    assert told.headers["content-encoding"] == "gzip"
    assert gzip.decompress(bytes(told.body)) == b"script"


def test_nothing_but_built_files_is_sent(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assets = _assets(tmp_path / "a")
    for path in ("/assets/secret.txt", "/assets/../outside.js", "/assets//etc/passwd"):
        assert _get(assets, path).status_code == 404, path
    assert _get(assets, "/api/nothing").status_code == 404
    assert _get(assets, "/", host="evil.example").status_code == 403


def test_without_built_files_the_page_says_what_to_do(tmp_path: Path) -> None:
    assets = Assets(Entrance(None, None, frozenset(), False), str(tmp_path))  # type: ignore[arg-type]
    told = _get(assets, "/")
    assert told.status_code == 404
    assert b"make install" in bytes(told.body)
