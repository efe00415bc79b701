"""What a broker can be told, frozen, and RocketMQ's names for it.

The store has its own configuration (`storage/config.py`); what is here is what the service decides
by. What may change while it runs is marked so in `SETTINGS`: no path, no address and nothing that
the files on disk depend on can be reached by a request.
"""

from dataclasses import dataclass

from aerobee.model.setting import TEXT, TRUTH, Setting, Whole

_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """Who a broker is. Never changes in the life of a process."""

    name: str = "broker-a"
    cluster: str = "DefaultCluster"
    broker_id: int = 0
    address: str = "127.0.0.1:10911"
    """Where clients reach it: what name servers hand out."""
    ha_address: str = "127.0.0.1:10912"


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    permission: int = 6
    """Read 4, write 2. Without write, only topics that want order are refused, so that clients of
    the others drain to other brokers first."""
    creates_topics: bool = True
    """A send to an unknown topic makes it. Off: it is refused, and somebody has to create it."""
    creates_groups: bool = True
    """A consumer of an unknown group makes it."""
    default_queues: int = 8
    """Queues of the template that new topics are made from."""
    region: str = "DefaultRegion"
    """Told with every send; clients put it into their traces."""
    traces: bool = True
    """Whether clients that can trace should."""
    has_trace_topic: bool = False
    stores_replies: bool = True
    """Replies are kept in their topic, besides being handed to the requester."""
    rejects_transactions: bool = False
    register_interval_ms: int = 30_000
    """How often name servers are told. Shorter: a lost name server is filled again sooner."""
    register_timeout_ms: int = 24_000
    offsets_interval_ms: int = 5_000
    """How often offsets are saved. Longer: more is consumed again after a crash."""
    holds_pulls: bool = True
    """Long polling. Off: a pull that finds nothing is held for `short_hold_ms` at most."""
    short_hold_ms: int = 1_000
    pull_count_max: int = 32
    """Messages of one answer, however many are asked for, while they are in memory."""
    pull_bytes_max: int = 262_144
    """Bytes after which an answer ends; the first message is always there whole."""
    notifies_changes: bool = True
    """Consumers are told at once when a member of their group comes or goes."""
    client_ms_max: int = 120_000
    """A client that is silent for so long is gone."""
    sync_timeout_ms: int = 5_000
    """How long a send waits for the disk before it is told that its safety is not known."""
    allows_sql: bool = False


SETTINGS = (
    Setting("brokerPermission", "permission", Whole(0, 7), is_live=True),
    Setting("autoCreateTopicEnable", "creates_topics", TRUTH, is_live=True),
    Setting("autoCreateSubscriptionGroup", "creates_groups", TRUTH, is_live=True),
    Setting("defaultTopicQueueNums", "default_queues", Whole(1, 1024)),
    Setting("regionId", "region", TEXT),
    Setting("traceOn", "traces", TRUTH),
    Setting("traceTopicEnable", "has_trace_topic", TRUTH),
    Setting("storeReplyMessageEnable", "stores_replies", TRUTH),
    Setting("rejectTransactionMessage", "rejects_transactions", TRUTH, is_live=True),
    Setting("registerNameServerPeriod", "register_interval_ms", Whole(10_000, 60_000)),
    Setting("registerBrokerTimeoutMills", "register_timeout_ms", Whole(100, 60_000)),
    Setting("flushConsumerOffsetInterval", "offsets_interval_ms", Whole(100, 600_000)),
    Setting("longPollingEnable", "holds_pulls", TRUTH, is_live=True),
    Setting("shortPollingTimeMills", "short_hold_ms", Whole(0, 60_000), is_live=True),
    Setting("maxTransferCountOnMessageInMemory", "pull_count_max", Whole(1, 4096), is_live=True),
    Setting("maxTransferBytesOnMessageInMemory", "pull_bytes_max", Whole(1, 8 << 20), is_live=True),
    Setting("notifyConsumerIdsChangedEnable", "notifies_changes", TRUTH, is_live=True),
    Setting("channelExpiredTimeout", "client_ms_max", Whole(1_000, _INT32_MAX)),
    Setting("syncFlushTimeout", "sync_timeout_ms", Whole(1, 600_000), is_live=True),
    Setting("enablePropertyFilter", "allows_sql", TRUTH, is_live=True),
)
