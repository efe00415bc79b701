"""ReplicationConfig: the settings of replication, frozen, and RocketMQ's names for them.

`contradictions` names combinations that promise what they do not hold, each with the line to write
instead: an ERROR is no reason to run, a WARNING may be meant.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from aerobee.model.broker_role import BrokerRole
from aerobee.model.setting import TRUTH, Choice, Setting, Whole

APACHE_BODY_BYTES_MAX = (4 << 20) - 12
"""Apache's slave reads a packet with its header into a buffer of 4 MiB."""

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
_DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class ReplicationConfig:
    role: BrokerRole = BrokerRole.ASYNC_MASTER
    master_ha_address: str = ""
    """The master's HA address, `host:port`. Empty: name servers tell it."""
    transfer_bytes: int = 1 << 20
    """Body of a transfer packet. Smaller: Apache's slaves, which take a packet whole, answer
    sooner; catching up costs more."""
    heartbeat_interval_ms: int = 5_000
    """How often an idle link is written to, by both sides."""
    silence_ms_max: int = 20_000
    """A link on which nothing comes for so long is closed."""
    gap_bytes_max: int = 256 << 20
    """A slave that is further behind is not in sync."""
    total_replicas: int = 1
    """Brokers of this name, the master included; 1 if nobody has said."""
    in_sync_replicas: int = 1
    """SYNC_MASTER: a send is acknowledged when so many brokers have it, the master included."""
    in_sync_replicas_min: int = 1
    """With `adapts_in_sync`: never fewer than this."""
    adapts_in_sync: bool = False
    """A send waits for the slaves that are in sync, if they are fewer than `in_sync_replicas`."""
    slave_timeout_ms: int = 3_000
    """How long a send waits for slaves before it is told that its copies are not known."""
    begins_at_last_file: bool = False
    """An empty slave gets the last log file only, as from Apache's master; otherwise everything."""
    limits_rate: bool = False
    rate_bytes: int = 100 << 20
    """Bytes a second for each slave, if `limits_rate`."""
    serves_reads: bool = True
    """A slave answers pulls. RocketMQ's default is false, and its consumers then stop while there
    is no master."""
    memory_percent: int = 40
    """A reader that is further behind than this part of memory is sent to a slave."""
    acts_as_master: bool = False
    """The slave with the smallest id goes on with delays, transactions and pop while there is no
    master."""
    escapes_remotely: bool = False
    """Messages of these duties are stored on another master."""
    skips_pre_online: bool = False
    """A returning master serves at once, without asking the slave that stood in for it."""
    broker_heartbeat_ms: int = 1_000
    """With `acts_as_master`: how often name servers hear of this broker."""
    broker_silence_ms_max: int = 10_000
    """With `acts_as_master`: a name server that hears nothing for so long counts it as gone."""
    members_interval_ms: int = 1_000
    """With `acts_as_master`: how often name servers are asked which brokers of this name live."""
    checks_offsets_in_slave: bool = False
    """A slave does not correct offsets that its log does not reach yet."""

    @property
    def returns_isolated(self) -> bool:
        """Whether a master that starts asks its slaves before it serves."""
        wants = self.acts_as_master and self.total_replicas > 1 and not self.skips_pre_online
        return wants and self.role.is_master


class HaAddress:
    """An address `host:port`, or nothing."""

    def read(self, text: str) -> str:
        host, _, port = text.rpartition(":")
        is_number = port.isascii() and port.isdigit() and 0 < int(port) <= 65535
        if text and not (host.strip("[]") and is_number):
            raise ValueError("an address like 10.0.0.7:10912, or empty")
        return text

    def write(self, value: str) -> str:
        return value


SETTINGS = (
    Setting("brokerRole", "role", Choice(BrokerRole)),
    Setting("haMasterAddress", "master_ha_address", HaAddress()),
    Setting("haTransferBatchSize", "transfer_bytes", Whole(1024, APACHE_BODY_BYTES_MAX)),
    Setting("haSendHeartbeatInterval", "heartbeat_interval_ms", Whole(10, _DAY_MS)),
    Setting("haHousekeepingInterval", "silence_ms_max", Whole(20, _DAY_MS)),
    Setting("haMaxGapNotInSync", "gap_bytes_max", Whole(1, _INT64_MAX)),
    Setting("totalReplicas", "total_replicas", Whole(1, 64)),
    Setting("inSyncReplicas", "in_sync_replicas", Whole(1, 64)),
    Setting("minInSyncReplicas", "in_sync_replicas_min", Whole(1, 64)),
    Setting("enableAutoInSyncReplicas", "adapts_in_sync", TRUTH),
    Setting("slaveTimeout", "slave_timeout_ms", Whole(1, 600_000)),
    Setting("syncFromLastFile", "begins_at_last_file", TRUTH),
    Setting("haFlowControlEnable", "limits_rate", TRUTH),
    Setting("maxHaTransferByteInSecond", "rate_bytes", Whole(1024, _INT64_MAX)),
    Setting("slaveReadEnable", "serves_reads", TRUTH),
    Setting("accessMessageInMemoryMaxRatio", "memory_percent", Whole(1, 100)),
    Setting("enableSlaveActingMaster", "acts_as_master", TRUTH),
    Setting("enableRemoteEscape", "escapes_remotely", TRUTH),
    Setting("skipPreOnline", "skips_pre_online", TRUTH),
    Setting("brokerHeartbeatInterval", "broker_heartbeat_ms", Whole(100, 60_000)),
    Setting("brokerNotActiveTimeoutMillis", "broker_silence_ms_max", Whole(1_000, _DAY_MS)),
    Setting("syncBrokerMemberGroupPeriod", "members_interval_ms", Whole(100, 60_000)),
    Setting("offsetCheckInSlave", "checks_offsets_in_slave", TRUTH),
)


class Severity(Enum):
    ERROR = "error"
    WARNING = "warning"


class Contradiction(NamedTuple):
    severity: Severity
    text: str


def contradictions(config: ReplicationConfig) -> list[Contradiction]:
    """Settings that do not fit together."""
    return [
        *_of_times(config),
        *_of_counts(config),
        *_of_acting(config),
        *(_of_master(config) if config.role.is_master else _of_slave(config)),
    ]


def _of_times(config: ReplicationConfig) -> Iterator[Contradiction]:
    if config.silence_ms_max < 2 * config.heartbeat_interval_ms:
        yield Contradiction(
            Severity.ERROR,
            f"haHousekeepingInterval={config.silence_ms_max} closes links that are idle between two"
            f" heartbeats: write haHousekeepingInterval={4 * config.heartbeat_interval_ms}, or a"
            " smaller haSendHeartbeatInterval",
        )


def _of_acting(config: ReplicationConfig) -> Iterator[Contradiction]:
    if not config.acts_as_master:
        if config.escapes_remotely:
            yield Contradiction(
                Severity.WARNING,
                "enableRemoteEscape=true has no effect without enableSlaveActingMaster=true: write"
                " both, or leave it out",
            )
        return
    if config.broker_silence_ms_max < 2 * config.broker_heartbeat_ms:
        yield Contradiction(
            Severity.ERROR,
            f"brokerNotActiveTimeoutMillis={config.broker_silence_ms_max} forgets this broker"
            f" between two heartbeats: write brokerNotActiveTimeoutMillis="
            f"{10 * config.broker_heartbeat_ms}, or a smaller brokerHeartbeatInterval",
        )


def _of_counts(config: ReplicationConfig) -> Iterator[Contradiction]:
    wanted, least, total = (
        config.in_sync_replicas,
        config.in_sync_replicas_min,
        config.total_replicas,
    )
    if wanted > total > 1:
        yield Contradiction(
            Severity.ERROR,
            f"inSyncReplicas={wanted} can never be reached with totalReplicas={total}: write"
            f" totalReplicas={wanted} or inSyncReplicas={total}",
        )
    if least > wanted:
        yield Contradiction(
            Severity.ERROR,
            f"minInSyncReplicas={least} is above inSyncReplicas={wanted}: write"
            f" minInSyncReplicas={wanted} or inSyncReplicas={least}",
        )
    elif least > 1 and not config.adapts_in_sync:
        yield Contradiction(
            Severity.WARNING,
            f"minInSyncReplicas={least} has no effect, inSyncReplicas={wanted} decides: write"
            " enableAutoInSyncReplicas=true, or leave minInSyncReplicas out",
        )


def _of_master(config: ReplicationConfig) -> Iterator[Contradiction]:
    wanted = config.in_sync_replicas
    if config.role is BrokerRole.SYNC_MASTER and wanted == 1:
        yield Contradiction(
            Severity.WARNING,
            "brokerRole=SYNC_MASTER with inSyncReplicas=1 waits for no slave and promises nothing:"
            " write inSyncReplicas=2 (master and one slave)",
        )
    if config.role is BrokerRole.ASYNC_MASTER and wanted > 1:
        yield Contradiction(
            Severity.WARNING,
            f"inSyncReplicas={wanted} has no effect with brokerRole=ASYNC_MASTER: write"
            " brokerRole=SYNC_MASTER, or leave inSyncReplicas out",
        )
    is_waiting = config.role is BrokerRole.SYNC_MASTER and wanted > 1
    if is_waiting and config.adapts_in_sync and config.in_sync_replicas_min == 1:
        yield Contradiction(
            Severity.WARNING,
            "enableAutoInSyncReplicas=true with minInSyncReplicas=1 acknowledges sends that no"
            " slave has while none is in sync: write minInSyncReplicas=2",
        )
    if config.acts_as_master and config.total_replicas == 1 and not config.skips_pre_online:
        yield Contradiction(
            Severity.WARNING,
            "enableSlaveActingMaster=true with totalReplicas=1: a master that returns does not ask"
            " its slaves how far they went, and delivers messages again: write totalReplicas=2"
            " (master and one slave), or skipPreOnline=true",
        )
    if config.master_ha_address:
        yield Contradiction(
            Severity.WARNING,
            f"haMasterAddress={config.master_ha_address} has no effect on a master: write"
            " brokerRole=SLAVE and brokerId=1, or leave haMasterAddress out",
        )


def _of_slave(config: ReplicationConfig) -> Iterator[Contradiction]:
    if config.acts_as_master and not config.serves_reads:
        yield Contradiction(
            Severity.WARNING,
            "enableSlaveActingMaster=true on a slave that answers no pulls: write"
            " slaveReadEnable=true, so that consumers go on while the master is down",
        )
