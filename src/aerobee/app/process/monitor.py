"""Monitor serves the HTTP pages of a process: metrics, health, readiness.

    /metrics   Prometheus's text format
    /healthz   200 `ok`, or 503 and the problems, a line each
    /readyz    the same, for load balancers; 503 while it starts

They are served as soon as the ports are bound: opening a store may take minutes, and must not look
like a process that hangs.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from http import HTTPStatus

from aerobee.app.process.lifecycle import explained, warn_if_open
from aerobee.app.process.process_figures import cpu_seconds, memory
from aerobee.app.process.safety import Safety
from aerobee.app.settings.config import ListenConfig
from aerobee.model.metric import Metric, Sample, counter, single_gauge
from aerobee.net.http_listener import HttpListener, Login, Page, Pages
from aerobee.net.listener import bind, port_of
from aerobee.ports.clock import Clock
from aerobee.ports.service import Peer
from aerobee.ports.watch import AskingWatch
from aerobee.protocol.text.metric_text import CONTENT_TYPE, metrics_text

METRICS = "/metrics"
STARTING = "it has not started yet"

_FILES = "/proc/self/fd"


class Monitor:
    """The pages of one process; before `show`, only the state "starting"."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._watch: AskingWatch | None = None
        self._connections: Callable[[], int] = lambda: 0
        self._started = time.time()
        self._safety = Safety()
        self._listener: HttpListener | None = None

    def show_safety(self, safety: Safety) -> None:
        """Show what guards the ports, and serve by TLS, if they do."""
        self._safety = safety

    async def listen(self, at: ListenConfig) -> str:
        """Start serving; returns the address. CannotStart: the port is taken."""
        self._listener = HttpListener(
            self.pages(), tls=self._safety.tls_state, may_read=self._may_read
        )
        hint = "choose another with metricsPromExporterPort; 0 is any that is free"
        with explained(at, hint=hint):
            sockets = bind(at.host, at.port)
            await self._listener.start(sockets)
        if not self._safety.asks:
            warn_if_open(sockets)
        return str(Peer(at.host, port_of(sockets[0])))

    async def close(self) -> None:
        """Stop serving. May be called twice."""
        if self._listener is not None:
            await self._listener.stop()

    def show(self, watch: AskingWatch, connections: Callable[[], int]) -> None:
        """Show a started service, and its number of connections."""
        self._watch = watch
        self._connections = connections

    def hide(self) -> None:
        """The service is about to stop: show the state "starting" until there is another."""
        self._watch = None
        self._connections = lambda: 0

    def _may_read(self, path: str, login: Login | None, source: str) -> bool:
        """Metrics name topics and groups: where users are asked who they are, they are asked here,
        too. While it starts there is nothing to see."""
        watch = self._watch
        if path != METRICS or watch is None or not watch.asks_who_looks:
            return True
        if login is None:
            return False
        return watch.may_look(login.name, login.password, source, self._clock.now())

    def pages(self) -> Pages:
        return {METRICS: self._metrics, "/healthz": self._health, "/readyz": self._readiness}

    def _metrics(self) -> Page:
        watch = self._watch
        labels = watch.labels if watch is not None else {}
        return Page(metrics_text(self._all(), labels), content_type=CONTENT_TYPE)

    def _all(self) -> Iterator[Metric]:
        if self._watch is not None:
            yield from self._watch.metrics(self._clock.now())
        yield single_gauge(
            "aerobee_connections", "Connections of clients and tools", self._connections()
        )
        yield from self._safety.metrics()
        yield from process_metrics(self._started)

    def _health(self) -> Page:
        watch = self._watch
        return _judged(watch.ailments(self._clock.now()) if watch is not None else [])

    def obstacles(self) -> list[str]:
        """The reasons why the service is not ready; none: it is."""
        watch = self._watch
        return watch.obstacles(self._clock.now()) if watch is not None else [STARTING]

    def _readiness(self) -> Page:
        return _judged(self.obstacles())


def _judged(wrong: Sequence[str]) -> Page:
    if not wrong:
        return Page([b"ok\n"])
    return Page(["".join(f"{line}\n" for line in wrong).encode()], HTTPStatus.SERVICE_UNAVAILABLE)


def process_metrics(started: float) -> Iterator[Metric]:
    """Return metrics of this process, under the names that Prometheus's own clients use."""
    yield counter(
        "process_cpu_seconds_total",
        "Time on a processor",
        [Sample({}, cpu_seconds())],
    )
    yield single_gauge("process_start_time_seconds", "When it started, since 1970", started)
    held = memory()
    if held is None:
        return  # not every system tells
    files = len(os.listdir(_FILES))
    yield single_gauge("process_resident_memory_bytes", "Memory", held.resident)
    yield single_gauge("process_open_fds", "Open files and connections", files)
