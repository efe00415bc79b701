"""Small web servers on a thread: a page of text, or any handler of the standard library's.

with served_text("aerobee_query_rows_total{query=\\"q\\"} 1") as address: …
"""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TextHandler(BaseHTTPRequestHandler):
    """Answers with a text, whatever it is asked for."""

    kind = "text/plain"

    def do_GET(self) -> None:
        body = self.text().encode()
        self.send_response(self.status())
        self.send_header("content-type", self.kind)
        self.send_header("content-length", str(len(body)))
        for name, value in self.more_headers():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def text(self) -> str:
        raise NotImplementedError

    def status(self) -> int:
        return 200

    def more_headers(self) -> tuple[tuple[str, str], ...]:
        return ()

    def log_message(self, *_: object) -> None:
        """Nothing: a test shows what went wrong."""


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def served_text(text: str) -> Iterator[str]:
    class Page(TextHandler):
        def text(self) -> str:
            return text

    with serving(Page) as address:
        yield address
