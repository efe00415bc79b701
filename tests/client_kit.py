"""A name server and brokers in this process, on real sockets and a real disk, for client tests."""

import asyncio
import shutil
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.nameserver_process import NameServerPart
from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.config import Given
from aerobee.client.client import Client, connect
from aerobee.client.connection.session import Session
from aerobee.ports.clock import Now
from aerobee.ports.service import Service
from aerobee.protocol.message.stored_message import client_messages
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.assembly import build_broker
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.live_config import LiveConfig
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from tests.broker_kit import pull_fields
from tests.net_kit import in_loop

_SMALL = {
    "mappedFileSizeCommitLog": str(16 << 20),
    "mappedFileSizeConsumeQueue": "60000",
    "maxHashSlotNum": "1000",
    "maxIndexNum": "4000",
    # How slow the disk of a shared machine is says nothing of the code under test.
    "osPageCacheBusyTimeOutMills": "600000",
    "listenPort": "0",
    "bindAddress": "127.0.0.1",
    "brokerIP1": "127.0.0.1",
}


class LocalCluster:
    """One name server and some brokers; `broker-a` is the first."""

    def __init__(self, folder: Path, *, brokers: int = 1, **settings: str) -> None:
        """`settings` are RocketMQ's names, for every broker."""
        self._folder = folder
        self._names = [f"broker-{chr(ord('a') + number)}" for number in range(brokers)]
        self._settings = settings
        self._nameserver = NameServerPart(_nameserver_settings(folder))
        self._brokers: dict[str, BrokerPart] = {}

    @property
    def address(self) -> str:
        """Of the name server."""
        return self._nameserver.address

    async def __aenter__(self) -> "LocalCluster":
        await self._nameserver.start(_failed)
        for name in self._names:
            await self.start_broker(name)
        return self

    async def __aexit__(self, *_: object) -> None:
        for name in list(self._brokers):
            await self.stop_broker(name)
        await self.stop_nameserver()

    async def stop_nameserver(self) -> None:
        """Stopping what has stopped is nothing."""
        await self._nameserver.stop()

    async def start_broker(self, name: str, port: int = 0) -> None:
        self._brokers[name] = await self._started(name, name, 0, port)

    async def start_slave(self, name: str, broker_id: int = 1) -> str:
        """A broker with a copy of what another has now, registered as its slave; its address. It
        copies nothing more, and takes what it is sent: that is for a client to get right."""
        folder = f"{name}-{broker_id}"
        shutil.copytree(self._folder / name, self._folder / folder)
        self._brokers[folder] = await self._started(name, folder, broker_id, 0)
        return self._brokers[folder].address

    async def _started(self, name: str, folder: str, broker_id: int, port: int) -> BrokerPart:
        settings = broker_settings.read_settings(
            None,
            {},
            [
                Given("storePathRootDir", str(self._folder / folder), "test"),
                Given("brokerName", name, "test"),
                *(
                    Given(key, text, "test")
                    for key, text in {
                        **_SMALL,
                        **self._settings,
                        # The port after that one may be taken.
                        **({"listenPort": str(port), "haListenPort": _free_port()} if port else {}),
                    }.items()
                ),
            ],
            [],
        )

        def build(
            identity: BrokerIdentity,
            config: LiveConfig[BrokerConfig],
            store: Store,
            disk: MappedDisk,
            worker: ThreadDiskWorker,
            nameservers: Sequence[str],
            now: Now,
        ) -> Service:
            identity = replace(identity, broker_id=broker_id)
            return build_broker(identity, config, store, disk, worker, nameservers, now)

        broker = BrokerPart(settings, build, nameservers=lambda: [self.address])
        await broker.start(_failed)
        return broker

    async def stop_broker(self, name: str) -> None:
        await self._brokers.pop(name).stop()

    def short_pulls(self, name: str) -> int:
        """How many pulls a broker has taken by the short way."""
        life = self._brokers[name]._life
        assert life is not None
        driver = life._driver
        assert driver is not None
        count: int = driver._service._pull_assembly.fast_pull.answered  # type: ignore[attr-defined]
        return count

    def client(self) -> Client:
        """One that waits for as long as a busy machine takes."""
        return connect(self.address, timeout=60, connect_timeout=60)


def _free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return str(taken.getsockname()[1])


def _nameserver_settings(folder: Path) -> nameserver_settings.NameServerSettings:
    return nameserver_settings.read_settings(
        None,
        {},
        [
            Given("kvConfigPath", str(folder / "namesrv" / "kvConfig.json"), "test"),
            Given("configStorePath", str(folder / "namesrv" / "namesrv.properties"), "test"),
            Given("bindAddress", "127.0.0.1", "test"),
            Given("listenPort", "0", "test"),
        ],
    )


def _failed(error: BaseException) -> None:
    raise AssertionError("a server failed") from error


def with_cluster(
    folder: Path,
    test: Callable[[LocalCluster], Awaitable[None]],
    *,
    brokers: int = 1,
    **settings: str,
) -> None:
    """Run a test beside a cluster, for as long as `in_loop` lets it."""

    async def run() -> None:
        async with LocalCluster(folder, brokers=brokers, **settings) as cluster:
            await test(cluster)

    in_loop(run)


def session_of(client: Client) -> Session:
    """What is inside a client, for tests of its parts."""
    return client._session


def complaints_of_the_loop() -> list[str]:
    """What the running loop complains of from now on: errors that nobody heard of."""
    complaints: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, told: complaints.append(str(told)))
    return complaints


async def turn() -> None:
    """Let the loop go round once."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(done.set_result, None)
    await done


async def until(is_so: Callable[[], bool]) -> None:
    """Come back as soon as something is so; the test's own time limit ends a wait in vain."""
    while not is_so():
        await turn()


async def turns(count: int) -> None:
    for _ in range(count):
        await turn()


async def bodies_of(client: Client, topic: str) -> list[bytes]:
    """What a topic holds, queue by queue."""
    session = session_of(client)
    route = await session.routes.refresh(topic)
    found = []
    for queue in route.readable:
        address = route.address(queue.broker_name)
        assert address is not None
        offset = "0"
        while True:
            fields = pull_fields(topic=topic, queueId=queue.queue_id, queueOffset=offset)
            answer = await session.ask(address, RemotingCommand(11, ext_fields=fields | _AT_ONCE))
            if answer.code != 0:
                break
            found += [one.body for one in client_messages(bytes(answer.body))]
            offset = answer.ext_fields["nextBeginOffset"]
    return found


_AT_ONCE = {"suspendTimeoutMillis": "0", "sysFlag": "4"}
