"""A name server, a master and its slaves as real processes, each broker with its own network place.

    group = Group(folder, network, Mode(slaves=2, copies=2))
    group.master.kill(); group.promote(); group.bring_back(old)

A broker keeps its place and its store over all its lives. `copies` is inSyncReplicas: 1 is an
ASYNC_MASTER.
"""

import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from aerobee.client.admin.admin import admin
from aerobee.model.replica_status import FOLLOWING, MasterStatus, ReplicaStatus, SlaveStatus
from aerobee.protocol.bodies.ha_status import decode_ha_status
from aerobee.protocol.bodies.small_tables import decode_text_table
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from tests.cli_kit import Said, aerobee_here
from tests.fault.replication.network import Network, Place
from tests.hostile.server import pull_fields
from tests.interop.features.servers import ServerProcess
from tests.interop.features.waiting import until
from tests.wire_client import WireClient

NAME = "broker-a"
TOPIC = "orders"
QUEUES = 4
SECONDS_MAX = 120
SILENCE_SECONDS = 2.0
SLAVE_TIMEOUT_SECONDS = 1.0
LOG_FILE_BYTES = 4 << 20

_ANSWER_SECONDS_MAX = 10
_SETTINGS: Mapping[str, object] = {
    "brokerClusterName": "DefaultCluster",
    "brokerName": NAME,
    "autoCreateTopicEnable": "false",
    "mappedFileSizeCommitLog": LOG_FILE_BYTES,
    "haSendHeartbeatInterval": 500,
    "haHousekeepingInterval": int(1000 * SILENCE_SECONDS),
    "slaveTimeout": int(1000 * SLAVE_TIMEOUT_SECONDS),
    "registerNameServerPeriod": 10_000,
    "maxTransferCountOnMessageInMemory": 1000,
    "maxTransferBytesOnMessageInMemory": 4 << 20,
    "osPageCacheBusyTimeOutMills": 600_000,  # a busy machine says nothing of the code under test
}


class Mode(NamedTuple):
    slaves: int = 2
    copies: int = 2
    flush: str = "ASYNC_FLUSH"
    spares: int = 0
    """Places for brokers that join later."""

    @property
    def role(self) -> str:
        return "SYNC_MASTER" if self.copies > 1 else "ASYNC_MASTER"

    @property
    def spare(self) -> int:
        """Slaves that may fail while sends go on."""
        return self.slaves - (self.copies - 1)

    def __str__(self) -> str:
        return f"{self.role}-{self.copies}-of-{1 + self.slaves}-{self.flush}"


class Broker:
    def __init__(self, number: int, group: "Group", store: Path) -> None:
        self.number = number
        self.place = group.network.place(number)
        self.store = store
        self._group = group
        self._folder = group.folder / f"broker-{number}"
        self._lives = 0
        self._process: ServerProcess | None = None
        self.has_saved_role = False
        """Whether its role was changed by request: it keeps it whatever its file says."""

    @property
    def address(self) -> str:
        return f"{self.place.host}:{self.place.port}"

    @property
    def is_running(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *, is_master: bool) -> None:
        self._lives += 1
        folder = self._folder / f"life-{self._lives}"
        folder.mkdir(parents=True)
        host = self.place.host
        settings = {
            **_SETTINGS,
            "bindAddress": host,
            **self._group.guards(),
            "brokerIP1": host,
            "listenPort": self.place.port,
            "storePathRootDir": self.store,
            "namesrvAddr": self._group.name_server,
            **self.role_settings(is_master=is_master),
        }
        config = folder / "broker.conf"
        config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        command = [*self.place.command, sys.executable, "-m", "aerobee.cli.main"]
        command += ["broker", "start", "-c", str(config)]
        self._process = ServerProcess("broker", folder, command, "ready: broker ")

    def role_settings(self, *, is_master: bool) -> dict[str, object]:
        mode = self._group.mode
        return {
            "haListenPort": self.place.port + 1,
            "brokerRole": mode.role if is_master else "SLAVE",
            "brokerId": 0 if is_master else self.number + 1,
            "haMasterAddress": "" if is_master else self._group.network.master_ha(self.number),
            "inSyncReplicas": mode.copies,
            "flushDiskType": mode.flush,
        }

    # Faults.

    def kill(self) -> None:
        if self._process is not None:
            self._process.end(signal.SIGKILL)
            self._process = None

    def stop(self) -> None:
        """A planned stop."""
        assert self._process is not None
        self._process.end(signal.SIGTERM)
        self._process = None

    def begin_stop(self) -> None:
        """Ask for a planned stop; `until_stopped` waits for it."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def until_stopped(self) -> None:
        assert self._process is not None
        self._process.wait()
        self._process = None

    def freeze(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        until(self.is_frozen, SECONDS_MAX, "it is stopped")

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def is_frozen(self) -> bool:
        stat = Path(f"/proc/{self.pid}/stat").read_text()
        return stat.rpartition(") ")[2].startswith("T")

    # Questions.

    def client(self, seconds_max: float = _ANSWER_SECONDS_MAX) -> WireClient:
        return self._group.client(self.place, seconds_max)

    def status(self) -> ReplicaStatus:
        with self.client() as client:
            answer = client.ask(RequestCode.GET_BROKER_HA_STATUS)
        assert answer.code == 0, answer.remark
        return decode_ha_status(bytes(answer.body))

    def log_range(self) -> tuple[int, int]:
        """The first and the last log offset."""
        with self.client() as client:
            answer = client.ask(RequestCode.GET_BROKER_RUNTIME_INFO)
        figures = decode_text_table(bytes(answer.body))
        return int(figures["commitLogMinOffset"]), int(figures["commitLogMaxOffset"])

    def log_end(self) -> int:
        return self.log_range()[1]

    def follows(self) -> bool:
        try:
            status = self.status()
        except (OSError, AssertionError):  # it is being built anew
            return False
        return isinstance(status, SlaveStatus) and status.state == FOLLOWING

    def has_topic(self) -> bool:
        with self.client() as client:
            answer = client.ask(RequestCode.PULL_MESSAGE, pull_fields(TOPIC, "readers", 0))
        return answer.code != ResponseCode.TOPIC_NOT_EXIST

    def own_bytes(self) -> int:
        """Memory that is not of mapped files."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return 1024 * int(text.partition("RssAnon:")[2].split()[0])

    def said(self) -> str:
        """Everything it has logged in all its lives."""
        files = sorted(self._folder.glob("life-*/broker.err"))
        return "".join(file.read_text(errors="replace") for file in files)


class Group:
    """Broker 0 is the first master. Everything ends with `close`."""

    def __init__(
        self,
        folder: Path,
        network: Network,
        mode: Mode,
        stores: Mapping[int, Path] | None = None,
    ) -> None:
        """`stores`: folders for the stores of some brokers."""
        self.folder = folder
        self.network = network
        self.mode = mode
        place = (sys.executable, "-m", "aerobee.cli.main", "nameserver", "start")
        home = folder / "nameserver"
        home.mkdir(parents=True)
        config = home / "namesrv.conf"
        settings = {
            "bindAddress": network.clients,
            **self.guards(),
            "kvConfigPath": home / "kv.json",
            "configStorePath": home / "namesrv.properties",
        }
        config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        command = [*place, "--port", "0", "-c", str(config)]
        self._name_server = ServerProcess("nameserver", home, command, "ready: nameserver ")
        self.name_server = self._name_server.ready_line.rpartition(" ")[2]
        given = stores or {}
        self.brokers = [
            self.made_broker(number, given.get(number, folder / f"store-{number}"))
            for number in range(1 + mode.slaves)
        ]
        self.master = self.brokers[0]
        try:
            for broker in self.brokers:
                broker.start(is_master=broker is self.master)
            self.until_followed()
            said = self.run("topic", "create", TOPIC, "--queues", str(QUEUES))
            assert said.status == 0, said.error
            self.until_topic_known()
        except BaseException:
            self.close()
            raise

    def guards(self) -> Mapping[str, object]:
        """Settings of all servers that say who gets in."""
        return {"insecure": "true"}

    @property
    def target(self) -> str:
        """What commands are told of the name server."""
        return self.name_server

    def client(self, place: Place, seconds_max: float) -> WireClient:
        return WireClient(place.port, place.host, seconds_max)

    def made_broker(self, number: int, store: Path) -> Broker:
        return Broker(number, self, store)

    @property
    def slaves(self) -> list[Broker]:
        return [broker for broker in self.brokers if broker is not self.master]

    def run(self, *words: str) -> Said:
        return aerobee_here(*words, "-n", self.target)

    def until_followed(self) -> None:
        """Until every running slave follows, and counts."""
        slaves = [one for one in self.slaves if one.is_running]
        for slave in slaves:
            until(slave.follows, SECONDS_MAX, f"broker {slave.number} follows")
        until(lambda: self.in_sync() >= len(slaves), SECONDS_MAX, "all slaves count")

    def until_topic_known(self) -> None:
        """Until slaves have copied it, which they do beside the log."""
        for broker in self.brokers:
            if broker.is_running:
                until(broker.has_topic, SECONDS_MAX, f"broker {broker.number} has the topic")

    def in_sync(self) -> int:
        status = self.master.status()
        assert isinstance(status, MasterStatus)
        return status.in_sync

    def promote(self) -> Broker:
        """Make the longest slave the master; the old one."""
        old, role = self.master, ("--role", self.mode.role)
        self._until_done("broker", "promote", NAME, *role, "--yes")
        found = until(self._found_master, SECONDS_MAX, "a slave is the master")
        assert found is not None
        self.master = found
        self.master.has_saved_role = True
        self.network.lead(self.master.number)
        return old

    def _until_done(self, *words: str) -> None:
        """Give a command until it is obeyed: name servers hear of a loss a moment later."""
        said: list[Said] = []

        def is_done() -> bool:
            said.append(self.run(*words))
            return said[-1].status == 0

        try:
            until(is_done, SECONDS_MAX, " ".join(words))
        except BaseException as error:
            raise AssertionError(said[-1].error) from error

    def _found_master(self) -> Broker | None:
        for broker in self.slaves:
            try:
                if broker.is_running and isinstance(broker.status(), MasterStatus):
                    return broker
            except (OSError, AssertionError):  # it is being built anew
                pass
        return None

    def bring_back(self, old: Broker) -> None:
        """Have an old master follow the new one."""
        old.start(is_master=False)
        if old.has_saved_role:
            asyncio.run(self._demote(old))
            old.has_saved_role = True
        until(old.follows, SECONDS_MAX, f"broker {old.number} follows")

    async def _demote(self, old: Broker) -> None:
        async with admin(self.name_server) as asking:
            await asking.replicas.change_role(
                old.address,
                "SLAVE",
                old.number + 1,
                master_address=self.master.address,
                master_ha_address=self.network.master_ha(old.number),
            )

    def close(self) -> None:
        for broker in self.brokers:
            broker.kill()
        self._name_server.end(signal.SIGKILL)
