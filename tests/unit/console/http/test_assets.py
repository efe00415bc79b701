import asyncio
import gzip
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from aerobee.console.http.assets import Assets
from aerobee.console.http.endpoints import Entrance


def _assets(folder: Path) -> Assets:
    (folder / "index.html").write_text("<p>page</p>")
    (folder / "app-1.js").write_text("script")
    (folder / "app-1.js.gz").write_bytes(gzip.compress(b"script"))
    (folder / "secret.txt").write_text("no")
    (folder.parent / "outside.js").write_text("no")
    return Assets(Entrance(None, None, frozenset(), False), str(folder))  # type: ignore[arg-type]


def _get(assets: Assets, path: str, encoding: str = "", host: str = "localhost") -> Response:
    headers = [(b"host", host.encode()), (b"accept-encoding", encoding.encode())]
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
        assert page.body == b"<p>page</p>"
        assert page.headers["cache-control"] == "no-cache"


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
