"""Settings of `aerobee up`: a name server and brokers, everything in one folder, in small files.

    DIR/namesrv/            the name server's
    DIR/store/              the first master's: broker-a
    DIR/store-b/            the second one's: broker-b, its ports ten above; and so on
    DIR/store-a-slave-1/    the first slave's of broker-a, its ports ten above the last master's
    DIR/store-b-slave-1/    the first slave's of broker-b; then all second slaves
    DIR/store-n0/           the first member's of a Raft group, its ports ten below the next one's

Roles are defaults: a role that `aerobee broker promote` or `demote` saved in a store stays.

Variables that begin with `AEROBEE_NAMESRV_` and `AEROBEE_BROKER_` apply here, too. In an existing
folder the size of log files stays as it is, so that a folder of an older version can be used.
"""

import os
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aerobee.app.settings import broker_settings, nameserver_settings
from aerobee.app.settings.broker_settings import PORT, BrokerSettings
from aerobee.app.settings.config import BadConfig, Given
from aerobee.app.settings.nameserver_settings import NameServerSettings
from aerobee.model.broker_role import MASTER_ID, BrokerRole

BROKERS_MAX = 26
SLAVES_MAX = 9
SYNC = "sync"
ASYNC = "async"
RAFT = "raft"
NODES = 3
NODES_MAX = 9
COPIES_WANTED = 2
"""With `--replication sync`: the master and one slave, however many there are."""
PORT_STEP = 10
GRPC_PORT = 8081
_FIRST_STORE = "store"
# A folder to try things out should not look like half a gigabyte.
_SMALL_FILES = {
    "mappedFileSizeCommitLog": str(16 << 20),
    "mappedFileSizeConsumeQueue": "600000",
    "maxHashSlotNum": "100000",
    "maxIndexNum": "400000",
    "mappedFileSizeTimerLog": str(68 * 20_000),
}
# What is worth trying out.
_ALLOWED = {"recallMessageEnable": "true"}
_PLACE = "aerobee up"


@dataclass(frozen=True, slots=True)
class UpFlags:
    """The flags of the command line."""

    folder: str
    host: str | None = None
    port: str | None = None
    nameserver_port: str | None = None
    brokers: int = 1
    slaves: int = 0
    """Of each master."""
    replication: str | None = None
    """SYNC, ASYNC or RAFT; None: nothing is said, and masters do not wait for slaves."""
    beside: Mapping[str, str] | None = None
    """Settings of every broker that count if nothing else is said."""
    insecure: str | None = None
    """"true": open to other machines though nobody is asked who it is."""
    nodes: int | None = None
    """Members of a Raft group; None: NODES, if RAFT is wanted."""

    @property
    def members(self) -> int:
        """The number of members of a Raft group; 0: there is none."""
        if self.replication != RAFT:
            return 0
        return NODES if self.nodes is None else self.nodes


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """The settings of a member of a Raft group, and what they were read from: it runs in a process
    of its own, which reads them again."""

    settings: BrokerSettings
    told: tuple[Given, ...]
    """Settings that hold whatever the environment says."""
    defaults: tuple[Given, ...]
    """Settings that hold if nothing else is said."""


@dataclass(frozen=True, slots=True)
class UpSettings:
    nameserver: NameServerSettings
    brokers: tuple[BrokerSettings, ...]
    """All masters, then all first slaves, and so on; or the members of a Raft group."""
    members: tuple[MemberSettings, ...] = ()
    """The same brokers, if they are a Raft group."""


def read_settings(flags: UpFlags, environment: Mapping[str, str]) -> UpSettings:
    """Read all settings. BadConfig lists everything that is wrong, of the name server and of the
    brokers."""
    mistakes: list[str] = []
    nameserver: NameServerSettings | None = None
    brokers: list[BrokerSettings] = []
    members: list[MemberSettings] = []
    mistakes += _wrong_counts(flags)
    try:
        nameserver = _nameserver(flags, environment)
    except BadConfig as error:
        mistakes += error.mistakes
    try:
        if flags.members:
            members = [] if mistakes else _members(flags, environment)
            brokers = [one.settings for one in members]
        else:
            brokers = _masters_and_slaves(flags, environment)
    except BadConfig as error:
        mistakes += error.mistakes
    if mistakes or nameserver is None:
        raise BadConfig(mistakes)
    return UpSettings(nameserver, tuple(brokers), tuple(members))


def _masters_and_slaves(flags: UpFlags, environment: Mapping[str, str]) -> list[BrokerSettings]:
    brokers: list[BrokerSettings] = []
    for broker_id in range(MASTER_ID, min(flags.slaves, SLAVES_MAX) + 1):
        for number in range(min(flags.brokers, BROKERS_MAX)):
            first = brokers[0] if brokers else None
            brokers.append(_broker(flags, environment, number, broker_id, first))
    return brokers


def _members(flags: UpFlags, environment: Mapping[str, str]) -> list[MemberSettings]:
    """Return the members of a Raft group: those of the first broker, with other ports and stores.
    Members speak on the port after that of their broker."""
    first = _broker(flags, environment, 0, MASTER_ID, None)
    host = "127.0.0.1" if first.listen.host in ("", "0.0.0.0", "::") else first.listen.host
    ports = [first.listen.port + PORT_STEP * node for node in range(flags.members)]
    peers = ";".join(f"n{node}-{host}:{port + 1}" for node, port in enumerate(ports))
    roots = [os.path.join(flags.folder, f"{_FIRST_STORE}-n{node}") for node in range(len(ports))]
    sizes = {key: text for root in roots for key, text in _log_file_size(root).items()}
    members = []
    for node, root in enumerate(roots):
        told = [
            Given("storePathRootDir", root, "--store"),
            *_given("bindAddress", flags.host, "--host"),
            *_given("insecure", flags.insecure, "--insecure"),
            *_ports_above(first, node, MASTER_ID),
            Given("enableDLegerCommitLog", "true", "--replication"),
            Given("dLegerPeers", peers, "--nodes"),
            Given("dLegerSelfId", f"n{node}", "--nodes"),
        ]
        defaults = {**_SMALL_FILES, **sizes, **_ALLOWED, **_monitor(flags), **(flags.beside or {})}
        given = [Given(key, text, _PLACE) for key, text in defaults.items()]
        settings = broker_settings.read_settings(None, environment, told, given)
        members.append(MemberSettings(settings, tuple(told), tuple(given)))
    return members


def store_folder(folder: str, number: int, broker_id: int = MASTER_ID) -> str:
    """Return the folder of a broker's store; the first master's has no suffix."""
    letter = string.ascii_lowercase[number]
    if broker_id != MASTER_ID:
        name = f"{_FIRST_STORE}-{letter}-slave-{broker_id}"
    else:
        name = _FIRST_STORE if number == 0 else f"{_FIRST_STORE}-{letter}"
    return os.path.join(folder, name)


def brokers_kept(folder: str) -> int:
    """Return how many masters have a store in a folder."""
    found = (at for at in range(BROKERS_MAX) if os.path.isdir(store_folder(folder, at)))
    return max(found, default=-1) + 1


def slaves_kept(folder: str) -> int:
    """Return how many slaves of one master have a store in a folder."""
    found = (
        broker_id
        for broker_id in range(MASTER_ID + 1, SLAVES_MAX + 1)
        if any(os.path.isdir(store_folder(folder, at, broker_id)) for at in range(BROKERS_MAX))
    )
    return max(found, default=0)


def _wrong_counts(flags: UpFlags) -> list[str]:
    mistakes = []
    if not 1 <= flags.brokers <= BROKERS_MAX:
        mistakes.append(f"--brokers must be from 1 to {BROKERS_MAX}, not {flags.brokers}")
    if not 0 <= flags.slaves <= SLAVES_MAX:
        mistakes.append(f"--slaves must be from 0 to {SLAVES_MAX}, not {flags.slaves}")
    if flags.replication == RAFT:
        return mistakes + _wrong_members(flags)
    if flags.nodes is not None:
        mistakes.append("--nodes has no group to be in: write --replication raft, too")
    if flags.replication is not None and flags.slaves == 0:
        mistakes.append(
            f"--replication {flags.replication} has no slaves to copy to: "
            f"write --slaves 1 --replication {flags.replication}, or leave --replication out"
        )
    return mistakes


def _wrong_members(flags: UpFlags) -> list[str]:
    mistakes = []
    if not 1 <= flags.members <= NODES_MAX:
        mistakes.append(f"--nodes must be from 1 to {NODES_MAX}, not {flags.members}")
    if flags.brokers != 1 or flags.slaves != 0:
        mistakes.append("--replication raft runs one group: leave --brokers and --slaves out")
    if flags.port == "0":
        mistakes.append("--port 0 is no port that other members could know: write another one")
    return mistakes


def _nameserver(flags: UpFlags, environment: Mapping[str, str]) -> NameServerSettings:
    return nameserver_settings.read_settings(
        None,
        environment,
        [
            Given("kvConfigPath", f"{flags.folder}/namesrv/kvConfig.json", "--store"),
            Given("configStorePath", f"{flags.folder}/namesrv/namesrv.properties", "--store"),
            *_given("bindAddress", flags.host, "--host"),
            *_given("insecure", flags.insecure, "--insecure"),
            *_given("listenPort", flags.nameserver_port, "--nameserver-port"),
        ],
    )


def _broker(
    flags: UpFlags,
    environment: Mapping[str, str],
    number: int,
    broker_id: int,
    first: BrokerSettings | None,
) -> BrokerSettings:
    root = store_folder(flags.folder, number, broker_id)
    told = [
        Given("storePathRootDir", root, "--store"),
        *_given("bindAddress", flags.host, "--host"),
        *_given("insecure", flags.insecure, "--insecure"),
        *_given("listenPort", flags.port, "--port"),
    ]
    if flags.brokers > 1:
        told.append(Given("brokerName", f"broker-{string.ascii_lowercase[number]}", "--brokers"))
    if first is not None:
        told += _ports_above(first, broker_id * flags.brokers + number, broker_id)
    defaults = {
        **_SMALL_FILES,
        # A slave's log is its master's byte for byte, the ends of its files among them.
        **_log_file_size(store_folder(flags.folder, number)),
        **_log_file_size(root),
        **_ALLOWED,
        **_monitor(flags),
        **_grpc(flags),
        **_role(flags, broker_id),
        **(flags.beside or {}),
    }
    return broker_settings.read_settings(
        None, environment, told, [Given(key, text, _PLACE) for key, text in defaults.items()]
    )


def _ports_above(first: BrokerSettings, steps: int, broker_id: int) -> Iterable[Given]:
    """Return ports so many steps above those of the first broker; 0 stays 0."""
    for key, port in (
        ("listenPort", first.listen.port),
        ("haListenPort", first.names.ha_port),
        ("grpcServerPort", first.names.grpc_port),
        ("metricsPromExporterPort", first.monitor.port),
    ):
        above = port + PORT_STEP * steps if port > 0 else port
        yield Given(key, str(above), "--brokers" if broker_id == MASTER_ID else "--slaves")


def _role(flags: UpFlags, broker_id: int) -> dict[str, str]:
    if flags.slaves == 0:
        return {}
    total = {"totalReplicas": str(1 + flags.slaves)}
    if broker_id != MASTER_ID:
        return {**total, "brokerRole": BrokerRole.SLAVE.value, "brokerId": str(broker_id)}
    if flags.replication == SYNC:
        wanted = {"inSyncReplicas": str(COPIES_WANTED)}
        return {**total, **wanted, "brokerRole": BrokerRole.SYNC_MASTER.value}
    return {**total, "brokerRole": BrokerRole.ASYNC_MASTER.value}


def _log_file_size(root: str) -> dict[str, str]:
    """Return the file size of an existing log: all its files have the same."""
    try:
        with os.scandir(f"{root}/commitlog") as entries:
            size = max((entry.stat().st_size for entry in entries), default=0)
    except OSError:
        return {}
    return {"mappedFileSizeCommitLog": str(size)} if size else {}


def _monitor(flags: UpFlags) -> dict[str, str]:
    """Turn the metrics page on by default; with another name server port than the default, on any
    free port, because another cluster may run here."""
    told = {"metricsExporterType": "PROM"}
    if flags.port not in (None, str(PORT)):
        told["metricsPromExporterPort"] = "0"
    return told


def _grpc(flags: UpFlags) -> dict[str, str]:
    """Serve gRPC on its usual port; with another port than the default, on any free one."""
    is_usual = flags.port in (None, str(PORT))
    return {"grpcServerPort": str(GRPC_PORT if is_usual else 0)}


def _given(key: str, text: str | None, place: str) -> list[Given]:
    return [] if text is None else [Given(key, text, place)]
