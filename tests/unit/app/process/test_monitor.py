import asyncio
from base64 import b64encode
from collections.abc import Iterator, Mapping

from aerobee.app.process.monitor import STARTING, Monitor, process_metrics
from aerobee.app.process.safety import Safety
from aerobee.app.settings.config import ListenConfig
from aerobee.model.metric import Metric, Sample, counter
from aerobee.net.http_listener import Page
from aerobee.ports.clock import Now
from aerobee.sim.clock import SimClock


class Watched:
    """A service that says what a test wants it to."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.missing: list[str] = []

    @property
    def labels(self) -> Mapping[str, str]:
        return {"node_id": "b"}

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield counter("in_total", "In", [Sample({"topic": "T"}, now.monotonic_ms)])

    def ailments(self, now: Now) -> list[str]:
        return self.wrong

    def obstacles(self, now: Now) -> list[str]:
        return self.wrong + self.missing

    asks_who_looks = False

    def may_look(self, name: str, password: str, source: str, now: Now) -> bool:
        return (name, password, source) == ("ops", "the-password", "127.0.0.1")


def shown(monitor: Monitor, path: str) -> tuple[int, str]:
    page: Page = monitor.pages()[path]()
    return page.status.value, b"".join(page.pieces).decode()


def started(watch: Watched, connections: int = 0) -> Monitor:
    monitor = Monitor(SimClock())
    monitor.show(watch, lambda: connections)
    return monitor


def test_while_it_starts_it_is_well_and_not_ready() -> None:
    monitor = Monitor(SimClock())
    assert shown(monitor, "/healthz") == (200, "ok\n")
    assert shown(monitor, "/readyz") == (503, f"{STARTING}\n")
    assert shown(monitor, "/metrics")[0] == 200


def test_health_and_readiness_say_what_is_wrong() -> None:
    watch = Watched()
    monitor = started(watch)
    assert shown(monitor, "/healthz") == (200, "ok\n")
    assert shown(monitor, "/readyz") == (200, "ok\n")
    watch.missing = ["nobody knows it"]
    assert shown(monitor, "/healthz") == (200, "ok\n")
    assert shown(monitor, "/readyz") == (503, "nobody knows it\n")
    watch.wrong = ["the disk is full", "it hangs"]
    assert shown(monitor, "/healthz") == (503, "the disk is full\nit hangs\n")


def test_metrics_are_the_services_and_the_processs() -> None:
    monitor = started(Watched(), connections=3)
    status, text = shown(monitor, "/metrics")
    assert status == 200
    assert 'in_total{node_id="b",topic="T"} ' in text
    assert 'aerobee_connections{node_id="b"} 3\n' in text
    assert 'process_cpu_seconds_total{node_id="b"} ' in text
    assert 'aerobee_insecure{node_id="b"} 0\n' in text
    monitor.show_safety(Safety(is_exposed=True))
    assert 'aerobee_insecure{node_id="b"} 1\n' in shown(monitor, "/metrics")[1]


def test_a_process_tells_of_its_memory_and_files() -> None:
    found = {metric.name: next(iter(metric.samples)).value for metric in process_metrics(5.0)}
    assert found["process_start_time_seconds"] == 5.0
    memory, files = found["process_resident_memory_bytes"], found["process_open_fds"]
    assert isinstance(memory, int)
    assert memory > 1 << 20
    assert isinstance(files, int)
    assert files >= 3


def test_metrics_ask_who_looks_where_the_service_does() -> None:
    async def test() -> list[bytes]:
        watch = Watched()
        monitor = started(watch)
        address = await monitor.listen(ListenConfig(0, "127.0.0.1"))
        port = int(address.rpartition(":")[2])

        async def status(path: str, login: bytes = b"") -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            more = b"Authorization: Basic " + b64encode(login) + b"\r\n" if login else b""
            writer.write(b"GET %b HTTP/1.1\r\n%b\r\n" % (path.encode(), more))
            said = await reader.read()
            writer.close()
            assert (b"WWW-Authenticate: Basic" in said) == (b" 401 " in said)
            return said.split(b" ")[1]

        found = [await status("/metrics")]
        watch.asks_who_looks = True
        found += [await status(path) for path in ("/metrics", "/healthz", "/readyz", "/x")]
        for login in (b"ops:the-password", b"ops:wrong", b"ops", b"\xff:the-password"):
            found.append(await status("/metrics", login))
        await monitor.close()
        return found

    assert asyncio.run(test()) == [
        *(b"200", b"401", b"200", b"200", b"404"),
        *(b"200", b"401", b"401", b"401"),
    ]
