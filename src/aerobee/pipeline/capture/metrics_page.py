"""HTTP page `/metrics` of a capture, for Prometheus.

It listens on loopback only; the text is made for each request.
"""

import contextlib
from collections.abc import AsyncIterator

from aerobee.errors import Misuse
from aerobee.net.http_listener import HttpListener, Page
from aerobee.net.listener import bind, port_of
from aerobee.pipeline.capture.meter import Meter
from aerobee.protocol.text.metric_text import CONTENT_TYPE, metrics_text


@contextlib.asynccontextmanager
async def metrics_page(
    meter: Meter, name: str, port: int, host: str = "127.0.0.1"
) -> AsyncIterator[int]:
    """Serve `/metrics` while the block lasts; yields the port. Port 0: any free one. Misuse:
    taken."""

    def page() -> Page:
        return Page(metrics_text(meter.metrics(), {"capture": name}), content_type=CONTENT_TYPE)

    listener = HttpListener({"/metrics": page})
    try:
        sockets = bind(host, port)
    except OSError as error:
        raise Misuse(
            f"port {port}: {error.strerror}", hint="another --metrics-port; 0 is any that is free"
        ) from error
    found = port_of(sockets[0])
    await listener.start(sockets)
    try:
        yield found
    finally:
        await listener.stop()
