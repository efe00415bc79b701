"""Every server of Aerobee, each in a process of its own, and every port of them by its name.

with running_fleet(folder, settings, target) as fleet:
    fleet.ports["HA"], fleet.log("HA")
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from aerobee.protocol.remoting.remoting_command import RemotingCommand, encode
from aerobee.raft.frames import Hello, encode_frame
from tests.hostile.server import Running
from tests.http2_kit import HELLO
from tests.interop.replication.brokers import steady_port

SERVERS = ("nameserver", "broker", "member", "proxy", "console")
PORTS = {
    "name server": "nameserver",
    "name server metrics": "nameserver",
    "broker": "broker",
    "fast port": "broker",
    "gRPC": "broker",
    "HA": "broker",
    "broker metrics": "broker",
    "Raft": "member",
    "proxy": "proxy",
    "proxy metrics": "proxy",
    "console": "console",
}
"""Every port, and the server that it is of."""
PREFIXES = {
    "nameserver": "AEROBEE_NAMESRV_",
    "broker": "AEROBEE_BROKER_",
    "member": "AEROBEE_BROKER_",
    "proxy": "AEROBEE_PROXY_",
    "console": "AEROBEE_CONSOLE_",
}
_PAGES = {"METRICS_EXPORTER_TYPE": "PROM", "METRICS_PROM_EXPORTER_PORT": "0"}
_SMALL = {
    "TIMER_WHEEL_ENABLE": "false",
    "MAPPED_FILE_SIZE_COMMIT_LOG": "4194304",
    "MAPPED_FILE_SIZE_CONSUME_QUEUE": "20000",
    "MAX_HASH_SLOT_NUM": "1000",
    "MAX_INDEX_NUM": "4000",
}
"""Files that are quickly made."""

Settings = Mapping[str, str]


class Fleet(NamedTuple):
    servers: dict[str, Running]
    ports: dict[str, int]

    def log(self, port: str) -> str:
        """All that the server of this port has logged so far."""
        return self.servers[PORTS[port]].log()


@contextmanager
def running_fleet(
    folder: Path, settings: Callable[[str], Settings], target: Callable[[int], str]
) -> Iterator[Fleet]:
    """`settings` gives those of a server, by what follows the prefix of its variables; `target`
    the address of a name server on this port, as the console is told it."""

    def started(name: str, *words: str, **more: str) -> Running:
        given = {**settings(name), **more}
        told = {PREFIXES[name] + key: text for key, text in given.items()}
        return stack.enter_context(stopped(Running(folder / name, *words, **told)))

    with ExitStack() as stack:
        names = started("nameserver", "nameserver", "start", **_PAGES)
        where = ("-n", f"127.0.0.1:{names.ports['nameserver']}")
        ports = {
            "name server": names.ports["nameserver"],
            "name server metrics": names.ports["metrics"],
        }
        at = steady_port()
        words: tuple[str, ...] = ("broker", "start", "--port", str(at), *where)
        words = (*words, "--store", str(folder / "store"))
        broker = started("broker", *words, **_PAGES, **_SMALL, GRPC_SERVER_PORT="0")
        ports |= {"broker": at, "fast port": at - 2, "HA": at + 1, "gRPC": broker.ports["gRPC"]}
        ports["broker metrics"] = broker.ports["metrics"]
        at = steady_port()
        group = {
            "ENABLE_DLEGER_COMMIT_LOG": "true",
            "D_LEGER_PEERS": f"n0-127.0.0.1:{at + 1};n1-127.0.0.1:1",
            "D_LEGER_SELF_ID": "n0",
        }
        words = ("broker", "start", "--port", str(at), "--store", str(folder / "member-store"))
        member = started("member", *words, **group, **_SMALL)
        ports["Raft"] = at + 1
        proxy = started("proxy", "proxy", "start", *where, **_PAGES)
        ports |= {"proxy": proxy.ports["proxy"], "proxy metrics": proxy.ports["metrics"]}
        words = ("console", "-n", target(ports["name server"]), "--data", str(folder / "data"))
        console = started("console", *words)
        ports["console"] = next(iter(console.ports.values()))
        servers = (names, broker, member, proxy, console)
        yield Fleet(dict(zip(SERVERS, servers, strict=True)), ports)


@contextmanager
def stopped(server: Running) -> Iterator[Running]:
    """A server that is stopped afterwards, as it should be."""
    with server.process:
        try:
            yield server
            assert server.stop() == 0, server.log()[-4000:]
        finally:
            server.process.kill()


def greeting(port: str) -> bytes:
    """What is said at a port that whoever may come in is answered."""
    if port in ("HA",):
        return bytes(8)  # "I have nothing yet"
    if port == "Raft":
        return encode_frame(Hello(1, "broker-a"))
    if "metrics" in port or port == "console":
        path = "healthz" if "metrics" in port else "api"
        return f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    if port in ("gRPC", "proxy"):
        return HELLO
    return b"".join(encode(RemotingCommand(105, opaque=1, ext_fields={"topic": "x"})))
