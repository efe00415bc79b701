import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from aerobee.console.history.web_text import fetch_text
from aerobee.errors import NoAnswer


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("location", "/good")
        else:
            self.send_response(200 if self.path == "/good" else 500)
        self.end_headers()
        self.wfile.write("gut ✓".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Elsewhere)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_good_answer_is_its_text(address: str) -> None:
    assert asyncio.run(fetch_text(f"{address}/good", 10.0)) == "gut ✓"


@pytest.mark.parametrize(("path", "status"), [("/bad", 500), ("/moved", 302)])
def test_another_status_is_no_answer_and_a_redirect_is_not_followed(
    address: str, path: str, status: int
) -> None:
    with pytest.raises(NoAnswer, match=str(status)):
        asyncio.run(fetch_text(f"{address}{path}", 10.0))


def test_nobody_there_is_no_answer() -> None:
    with pytest.raises(NoAnswer, match="does not answer"):
        asyncio.run(fetch_text("http://127.0.0.1:1/", 10.0))
