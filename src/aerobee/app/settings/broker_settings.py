"""Settings of a broker process: RocketMQ's `broker.conf`, variables that begin with
`AEROBEE_BROKER_`, flags, and changes that administrators made by request.

    defaults  <  NAMESRV_ADDR  <  file (-c)  <  changes  <  environment  <  flags

The operator's file is only read; changes are in the store, `config/aerobee.properties`. A key of
RocketMQ whose other values would promise a feature that is missing here (a slave's copy, a
password) may only have the value that is true here; other keys without effect are reported and
ignored.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aerobee.app.settings.audit_settings import AUDIT_SETTINGS, USUAL_AUDIT, AuditConfig
from aerobee.app.settings.config import (
    INSECURE_SETTING,
    PATH,
    Given,
    ListenConfig,
    Reading,
    exposure,
    given_in_environment,
    given_in_file,
)
from aerobee.app.settings.monitor_settings import (
    MONITOR_SETTINGS,
    MonitorConfig,
    page_mistakes,
    pages_at,
)
from aerobee.app.settings.rocketmq_names import BROKER_NAMES
from aerobee.app.settings.setting_kinds import (
    ADDRESSES,
    HOST,
    NAME,
    BytesOfUnits,
    Delays,
    Only,
    Percent,
)
from aerobee.app.settings.tls_settings import TLS_KEYS, given_in_tls_file, with_our_names
from aerobee.model.broker_role import MASTER_ID, BrokerRole, RoleChange
from aerobee.model.setting import TEXT, TRUTH, Choice, Setting, Whole, texts
from aerobee.net.tls_config import PLAIN, TlsConfig, TlsMode
from aerobee.net.tls_config import SETTINGS as TLS_SETTINGS
from aerobee.net.tls_config import SHOWN_SETTINGS as SHOWN_TLS_SETTINGS
from aerobee.replication.config import SETTINGS as REPLICATION_SETTINGS
from aerobee.replication.config import ReplicationConfig, Severity, contradictions
from aerobee.replication.group_config import (
    GROUP_SETTINGS,
    SECOND_NAMES,
    RaftGroupConfig,
    group_mistakes,
)
from aerobee.service.access.config import CLASS_SETTINGS, AccessClasses, AccessConfig
from aerobee.service.access.config import SETTINGS as ACCESS_SETTINGS
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.storage.config import FlushMode, StorageConfig

PREFIX = "AEROBEE_BROKER_"
PORT = 10911
VIP_PORT_STEP = 2
"""Java clients send to the port so much below the broker's: the same service is there."""
DELAY_LEVELS_MAX = 18
NO_GRPC = -1

_INT32_MAX = 2**31 - 1
_UNIT_BYTES = 20
_FLUSH_MS_MAX = 60_000
_BUSY_MS_MAX = 3_600_000


class PortKind:
    """A port with another one two below it."""

    def read(self, text: str) -> int:
        if text.isascii() and text.isdigit():
            port = int(text[:6])
            if port == 0 or VIP_PORT_STEP < port < 65536:
                return port
        raise ValueError(f"0 or a whole number from {VIP_PORT_STEP + 1} to 65535")

    def write(self, value: int) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class BrokerNames:
    """The name, cluster and host of a broker, before its address is known."""

    name: str = "broker-a"
    cluster: str = "DefaultCluster"
    host: str = ""
    """Where clients reach it; empty: where it listens, or this machine's address."""
    ha_port: int = 0
    """Where slaves get the log. 0: the port after the broker's own, or another if that is taken."""
    grpc_port: int = NO_GRPC
    """Where clients of gRPC are served. 0: any free port; NO_GRPC: nowhere."""
    broker_id: int = MASTER_ID
    """A master's is 0 whatever is said; those of its slaves are larger."""


@dataclass(frozen=True, slots=True)
class BrokerLinks:
    nameservers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokerPaths:
    """The files of a broker: in one folder, under RocketMQ's names."""

    root: str = os.path.expanduser("~/store")
    commit_log: str = ""
    consume_queue: str = ""
    index: str = ""
    checkpoint: str = ""
    abort: str = ""

    def __post_init__(self) -> None:
        for setting in PATH_SETTINGS[1:]:
            given = os.path.expanduser(getattr(self, setting.field))
            wanted = os.path.join(self.root, _PLACES[setting.field])
            if given and os.path.abspath(given) != os.path.abspath(wanted):
                raise ValueError(
                    f"{setting.key} must be {wanted}, not {given}: "
                    "everything is in the folder storePathRootDir"
                )

    @property
    def changes(self) -> str:
        """The file with settings that administrators changed by request, and nothing else."""
        return f"{self.root}/config/aerobee.properties"


@dataclass(frozen=True, slots=True)
class KeyPath:
    key: str = ""
    """The file with the key under which passwords are stored, of mode 0600; made at the first
    start. Empty: config/access.key in the store."""


@dataclass(frozen=True, slots=True)
class DiskPatience:
    busy_ms_max: int = StorageConfig().flush_lag_ms_max
    """For how long a disk may be busy before appends are refused: twice the interval at least."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Settings that have only one valid value here."""

    has_controller: str = "false"
    store_type: str = "default"
    plug_in: str = ""
    has_acl: str = "false"
    migrates_acl: str = "false"
    asks_address_server: str = "false"
    asks_dns: str = "false"


_PLACES = {
    "commit_log": "commitlog",
    "consume_queue": "consumequeue",
    "index": "index",
    "checkpoint": "checkpoint",
    "abort": "abort",
}
_NO_CONTROLLER = "brokers elect their leader themselves: see enableDLegerCommitLog"
_NO_ACL_FILE = "convert plain_acl.yml once, with `aerobee auth import`"
_SAY_WHERE = "give the addresses with namesrvAddr"

LISTEN_SETTINGS = (
    Setting("listenPort", "port", PortKind()),
    Setting("bindAddress", "host", HOST),
    INSECURE_SETTING,
)
NAME_SETTINGS = (
    Setting("brokerName", "name", NAME),
    Setting("brokerClusterName", "cluster", NAME),
    Setting("brokerIP1", "host", HOST),
    Setting("haListenPort", "ha_port", Whole(0, 65535)),
    Setting("grpcServerPort", "grpc_port", Whole(NO_GRPC, 65535)),
    Setting("brokerId", "broker_id", Whole(0, _INT32_MAX)),
)
LINK_SETTINGS = (Setting("namesrvAddr", "nameservers", ADDRESSES),)
PATH_SETTINGS = (
    Setting("storePathRootDir", "root", PATH),
    Setting("storePathCommitLog", "commit_log", TEXT),
    Setting("storePathConsumeQueue", "consume_queue", TEXT),
    Setting("storePathIndex", "index", TEXT),
    Setting("storeCheckpoint", "checkpoint", TEXT),
    Setting("abortFile", "abort", TEXT),
)
STORAGE_SETTINGS = (
    Setting("mappedFileSizeCommitLog", "log_file_bytes", Whole(4096, _INT32_MAX)),
    Setting(
        "mappedFileSizeConsumeQueue", "queue_file_units", BytesOfUnits(_UNIT_BYTES, _INT32_MAX)
    ),
    Setting("maxHashSlotNum", "index_slots", Whole(1, 100_000_000)),
    Setting("maxIndexNum", "index_units", Whole(2, 100_000_000)),
    Setting("messageIndexEnable", "index_enabled", TRUTH),
    Setting("enabledAppendPropCRC", "record_crc", TRUTH),
    Setting("messageDelayLevel", "delay_levels_ms", Delays(DELAY_LEVELS_MAX)),
    Setting("flushDiskType", "flush_mode", Choice(FlushMode)),
    Setting("flushIntervalCommitLog", "flush_interval_ms", Whole(1, _FLUSH_MS_MAX)),
    Setting("diskSpaceCleanForciblyRatio", "disk_used_ratio_clean", Percent(10, 100)),
    Setting("diskSpaceWarningLevelRatio", "disk_used_ratio_full", Percent(10, 100)),
    Setting("deleteCommitLogFilesInterval", "delete_interval_ms", Whole(1, 60_000)),
    Setting("compactionScheduleInternal", "compaction_interval_ms", Whole(1, _INT32_MAX)),
    Setting("maxOffsetMapSize", "compaction_map_bytes", Whole(1, _INT32_MAX)),
)
PATIENCE_SETTINGS = (
    Setting("osPageCacheBusyTimeOutMills", "busy_ms_max", Whole(100, _BUSY_MS_MAX)),
)
FIXED_SETTINGS = (
    Setting("enableControllerMode", "has_controller", Only("false", _NO_CONTROLLER)),
    Setting("storeType", "store_type", Only("default", "there is one kind of store")),
    Setting("messageStorePlugIn", "plug_in", Only("", "there is one kind of store")),
    Setting("aclEnable", "has_acl", Only("false", _NO_ACL_FILE)),
    Setting("migrateAuthFromV1Enabled", "migrates_acl", Only("false", _NO_ACL_FILE)),
    Setting("fetchNamesrvAddrByAddressServer", "asks_address_server", Only("false", _SAY_WHERE)),
    Setting("fetchNameSrvAddrByDnsLookup", "asks_dns", Only("false", _SAY_WHERE)),
)
KEY_SETTINGS = (Setting("authKeyPath", "key", TEXT),)
ALL_SETTINGS = (
    *LISTEN_SETTINGS,
    *NAME_SETTINGS,
    *LINK_SETTINGS,
    *MONITOR_SETTINGS,
    *AUDIT_SETTINGS,
    *PATH_SETTINGS,
    *STORAGE_SETTINGS,
    *REPLICATION_SETTINGS,
    *GROUP_SETTINGS,
    *PATIENCE_SETTINGS,
    *FIXED_SETTINGS,
    *ACCESS_SETTINGS,
    *CLASS_SETTINGS,
    *KEY_SETTINGS,
    *TLS_SETTINGS,
    *SETTINGS,
)
_ROLE_SETTINGS = tuple(
    one for one in REPLICATION_SETTINGS if one.key in ("brokerRole", "haMasterAddress")
)
IGNORED = BROKER_NAMES - {setting.key for setting in ALL_SETTINGS} - {*TLS_KEYS}
_REASONS = {
    "enableSingleTopicRegister": "a topic that changed is always registered alone",
    "enableSplitRegistration": "all topics fit into one registration",
    "lockInStrictMode": "a queue lock needs the broker that is asked, no majority",
}
WITHOUT_EFFECT = {key: _REASONS.get(key, "") for key in IGNORED}
"""Told to a tool that asks to change one of them."""


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """All settings of a broker process."""

    listen: ListenConfig
    names: BrokerNames
    nameservers: tuple[str, ...]
    monitor: MonitorConfig
    paths: BrokerPaths
    storage: StorageConfig
    replication: ReplicationConfig
    raft: RaftGroupConfig
    service: BrokerConfig
    access: AccessConfig
    """Without the key."""
    key_path: str
    changes: Mapping[str, str]
    """What the file of changes says, as it says it."""
    ignored: Sequence[str]
    warnings: Sequence[str]
    """Settings that promise less than they seem to, with what to write instead."""
    effective: str
    tls: TlsConfig = PLAIN
    audit: AuditConfig = USUAL_AUDIT

    @property
    def pages_at(self) -> ListenConfig:
        """Where the monitoring page is."""
        asks, encrypts = self.access.authenticates, self.tls.mode is TlsMode.ENFORCING
        return pages_at(self.monitor, self.listen, asks=asks, encrypts=encrypts)

    @property
    def is_exposed(self) -> bool:
        """Whether other machines may reach it, and nobody is asked who it is."""
        return self.listen.is_open and not (self.access.authenticates or self.tls.authenticates)

    @property
    def broker_id(self) -> int:
        return MASTER_ID if self.replication.role.is_master else self.names.broker_id

    def with_role(self, change: RoleChange | None) -> "BrokerSettings":
        """The settings of the same broker in another role; None: in the same."""
        if change is None:
            return self
        address = change.master_address
        names = replace(self.names, broker_id=change.broker_id)
        replication = replace(self.replication, role=change.role, master_ha_address=address)
        return replace(self, names=names, replication=replication)

    @property
    def group(self) -> str:
        """The name of the Raft group."""
        return self.raft.group or self.names.name

    def as_member(self, *, leads: bool) -> "BrokerSettings":
        """The settings of the same broker as the leader or a follower of its Raft group."""
        role = BrokerRole.SYNC_MASTER if leads else BrokerRole.SLAVE
        return self.with_role(RoleChange(role, MASTER_ID if leads else self.raft.broker_id))

    def role_texts(self) -> dict[str, str]:
        """The settings that say which role the broker has."""
        return {
            **texts(self.replication, _ROLE_SETTINGS),
            **texts(self.names, [one for one in NAME_SETTINGS if one.key == "brokerId"]),
        }

    def shown(self) -> dict[str, str]:
        """Settings, besides the service's own, that clients may read: no path."""
        return {
            **texts(self.listen, LISTEN_SETTINGS),
            **texts(self.names, NAME_SETTINGS),
            **texts(BrokerLinks(self.nameservers), LINK_SETTINGS),
            **texts(self.monitor, MONITOR_SETTINGS),
            **texts(self.storage, STORAGE_SETTINGS),
            **texts(self.replication, REPLICATION_SETTINGS),
            **texts(self.raft, GROUP_SETTINGS),
            **texts(Fixed(), FIXED_SETTINGS),
            **texts(self.access, ACCESS_SETTINGS),
            **texts(self.tls, SHOWN_TLS_SETTINGS),
        }


def read_settings(
    file: str | None,
    environment: Mapping[str, str],
    flags: Sequence[Given],
    defaults: Sequence[Given] = (),
) -> BrokerSettings:
    """Read the settings of a broker. BadConfig lists everything that is wrong."""
    in_file = given_in_file(file) if file is not None else []
    keys = [*(setting.key for setting in ALL_SETTINGS), *SECOND_NAMES, *IGNORED, *TLS_KEYS]
    highest = _first_names([*given_in_environment(environment, PREFIX, keys), *flags])
    in_tls_file = given_in_tls_file([*in_file, *highest])
    lowest = _first_names([*defaults, *nameservers_in(environment), *in_tls_file, *in_file])
    # Where the changes are has to be known before they can be read, below the environment.
    first = Reading([*lowest, *highest], prefix=PREFIX, ignored=IGNORED)
    path = first.build(BrokerPaths(), PATH_SETTINGS).changes
    changed = given_in_file(path) if os.path.exists(path) else []
    reading = Reading([*lowest, *changed, *highest], prefix=PREFIX, ignored=IGNORED)
    listen = reading.build(ListenConfig(PORT), LISTEN_SETTINGS)
    names = reading.build(BrokerNames(), NAME_SETTINGS)
    links = reading.build(BrokerLinks(), LINK_SETTINGS)
    monitor = reading.build(MonitorConfig(), MONITOR_SETTINGS)
    paths = reading.build(BrokerPaths(), PATH_SETTINGS)
    reading.build(Fixed(), FIXED_SETTINGS)
    access = reading.build(AccessConfig(), ACCESS_SETTINGS)
    reading.build(AccessClasses(), CLASS_SETTINGS)
    key = reading.build(KeyPath(), KEY_SETTINGS).key
    tls = reading.build(TlsConfig(), TLS_SETTINGS)
    audit = reading.build(AuditConfig(), AUDIT_SETTINGS)
    service = reading.build(BrokerConfig(), SETTINGS)
    storage = replace(_storage(reading), retention_ms=service.retention_ms)
    replication = reading.build(ReplicationConfig(), REPLICATION_SETTINGS)
    raft = reading.build(RaftGroupConfig(), GROUP_SETTINGS)
    if raft.is_on:
        # What a majority has is on its disks; who leads is decided by votes.
        storage = replace(storage, flush_mode=FlushMode.SYNC)
        replication = replace(replication, role=BrokerRole.SLAVE, acts_as_master=False)
        names = replace(names, broker_id=raft.broker_id, ha_port=0)
    wrong, warnings = _contradicted(names, replication)
    wrong += _shared_ports(listen, names)
    wrong += group_mistakes(raft)
    if access.authenticates and access.inner is None and not replication.role.is_master:
        wrong.append(
            "a slave with authenticationEnabled=true needs innerClientAuthenticationCredentials: "
            "its master asks who it is"
        )
    wrong += exposure(listen, is_guarded=access.authenticates or tls.authenticates)
    encrypts = tls.mode is TlsMode.ENFORCING
    wrong += page_mistakes(monitor, asks=access.authenticates, encrypts=encrypts)
    reading.refuse(wrong)
    reading.finish()
    return BrokerSettings(
        listen,
        names,
        links.nameservers,
        monitor,
        paths,
        storage,
        replication,
        raft,
        service,
        access,
        os.path.expanduser(key) or f"{paths.root}/config/access.key",
        {key: text for key, text, _ in changed},
        reading.ignored(),
        warnings,
        reading.effective(),
        tls,
        audit,
    )


def _contradicted(
    names: BrokerNames, replication: ReplicationConfig
) -> tuple[list[str], list[str]]:
    """Return settings that do not fit together: those that are refused, and warnings."""
    found = contradictions(replication)
    wrong = [one.text for one in found if one.severity is Severity.ERROR]
    warnings = [one.text for one in found if one.severity is Severity.WARNING]
    role = replication.role
    if not role.is_master and names.broker_id == MASTER_ID:
        wrong.append("brokerRole=SLAVE needs a brokerId above 0: write brokerId=1")
    if role.is_master and names.broker_id != MASTER_ID:
        warnings.append(
            f"brokerId={names.broker_id} has no effect with brokerRole={role.value}, a master's is "
            "0: write brokerRole=SLAVE, or leave brokerId out"
        )
    return wrong, warnings


def _shared_ports(listen: ListenConfig, names: BrokerNames) -> list[str]:
    """Mistakes in ports: both sockets of one port can be bound, and only one of them is served."""
    own = {listen.port: "listenPort", listen.port - VIP_PORT_STEP: "the port two below listenPort"}
    wrong = []
    for key, port in (("haListenPort", names.ha_port), ("grpcServerPort", names.grpc_port)):
        if port <= 0:
            continue
        if port in own:
            wrong.append(f"{key}={port} is {own[port]}, too: choose another one")
        own[port] = key
    return wrong


def _first_names(given: Sequence[Given]) -> list[Given]:
    """Settings that have two names, under their first."""
    return [one._replace(key=SECOND_NAMES.get(one.key, one.key)) for one in with_our_names(given)]


def nameservers_in(environment: Mapping[str, str]) -> list[Given]:
    """Read RocketMQ's variable NAMESRV_ADDR, which its clients and brokers both use."""
    text = environment.get("NAMESRV_ADDR", "")
    return [Given("namesrvAddr", text, "environment variable NAMESRV_ADDR")] if text else []


def _storage(reading: Reading) -> StorageConfig:
    """Build the storage settings; the allowed lag of the disk grows with the flush interval."""
    patient = StorageConfig(flush_lag_ms_max=2 * _FLUSH_MS_MAX)
    found = reading.build(patient, STORAGE_SETTINGS)
    busy_ms_max = reading.build(DiskPatience(), PATIENCE_SETTINGS).busy_ms_max
    return replace(found, flush_lag_ms_max=max(busy_ms_max, 2 * found.flush_interval_ms))
