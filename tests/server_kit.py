"""A real server process, for tests that wait: one on their own loop would wait for them."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import aerobee
from aerobee.errors import TopicNotFound
from tests.client_kit import session_of
from tests.process_kit import Started


class Server:
    """Where it is, and how to fill it."""

    def __init__(
        self, name_server: str, store: Path = Path("nowhere"), broker_port: int = 0
    ) -> None:
        self.name_server = name_server
        self.store = store
        """The folder of its broker's store, where it has one."""
        self.broker_port = broker_port

    def connect(self) -> aerobee.Client:
        """A client that waits for as long as a busy machine takes."""
        return aerobee.connect(self.name_server, timeout=60, connect_timeout=60)

    def send(self, topic: str, bodies: list[bytes], **options: object) -> list[aerobee.Receipt]:
        async def send() -> list[aerobee.Receipt]:
            async with self.connect() as client:
                receipts = [
                    await client.send(topic, body, **options)  # type: ignore[arg-type]
                    for body in bodies
                ]
                await _is_known(client, topic)
                return receipts

        return asyncio.run(send())

    def create(self, topic: str, *, queues: int, on: str | None = None) -> None:
        """Make a topic, or set the number of its queues anew."""

        async def create() -> None:
            async with self.connect() as client:
                await client.admin.topics.create(topic, queues=queues, on=on)

        asyncio.run(create())

    def delete(self, topic: str) -> None:
        async def delete() -> None:
            async with self.connect() as client:
                await client.admin.topics.delete(topic)

        asyncio.run(delete())


async def _is_known(client: aerobee.Client, topic: str) -> None:
    """A name server hears of a new topic a moment after the first send."""
    while True:
        with contextlib.suppress(TopicNotFound):
            await session_of(client).routes.refresh(topic)
            return


class RestartableServer(Server):
    """A server that can be killed, and comes back with what it had, where it was."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._ports = {"nameserver": 0, "broker": 0}
        self._start()
        super().__init__(f"127.0.0.1:{self._ports['nameserver']}")

    def _start(self) -> None:
        ports = ("--port", str(self._ports["broker"]))
        more = ("--nameserver-port", str(self._ports["nameserver"]))
        self._process = Started(
            self._home, "up", "--store", str(self._home / "data"), *ports, *more
        )
        self._ports = self._process.ports()

    def kill(self) -> None:
        self._process.stop(signal.SIGKILL)

    def up_again(self) -> None:
        """Killed, and started."""
        self.kill()
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.stop()


@contextlib.contextmanager
def running_server(home: Path, *more: str, **environment: str) -> Iterator[Server]:
    """`aerobee up` on free ports, with more flags."""
    flags = ("--store", str(home / "data"), "--port", "0", "--nameserver-port", "0")
    with Started(home, "up", *flags, *more, **environment) as process:
        ports = process.ports()
        name_server = f"127.0.0.1:{ports['nameserver']}"
        yield Server(name_server, home / "data" / "store", ports["broker"])
        process.stop()


@contextlib.contextmanager
def running_broker(server: Server, home: Path, name: str) -> Iterator[None]:
    """One more broker beside a server's own."""
    config = home / "broker.conf"
    config.write_text(f"brokerName={name}\nmappedFileSizeCommitLog=16777216\n")
    flags = ("--store", str(home / "store"), "--port", "0", "-n", server.name_server)
    with Started(home, "broker", "start", "-c", str(config), *flags) as process:
        process.ports()
        yield
        process.stop()
