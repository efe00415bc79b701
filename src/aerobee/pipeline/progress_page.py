"""HTTP page `/metrics` of the queries that run in this process.

It is served by a thread, because a driver has no event loop; the thread ends with `close`. The page
listens on loopback by default: there is no authentication.
"""

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aerobee.errors import Misuse
from aerobee.protocol.text.metric_text import CONTENT_TYPE


class ProgressPage:
    def __init__(self, text: Callable[[], bytes], port: int, host: str = "127.0.0.1") -> None:
        """Start serving this text. Misuse: the port is taken. Port 0: any free one."""
        try:
            self._server = _Server(text, host, port)
        except OSError as error:
            raise Misuse(
                f"metrics cannot be shown on {host}:{port}: {error.strerror}",
                hint="choose another port; 0 is any that is free",
            ) from None
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="aerobee-progress", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for whoever reads

    def __init__(self, text: Callable[[], bytes], host: str, port: int) -> None:
        super().__init__((host, port), _Handler)
        self.text = text


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.split("?")[0] != "/metrics":
            self.send_error(HTTPStatus.NOT_FOUND, explain="metrics are at /metrics")
            return
        assert isinstance(self.server, _Server)
        text = self.server.text()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: requests of a page of metrics are not worth a line."""
