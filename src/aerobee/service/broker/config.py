"""BrokerConfig and BrokerIdentity: the settings of a broker, frozen, and RocketMQ's names for them.

The store has its own configuration (`storage/config.py`). Settings that may change while the broker
runs are marked live in `SETTINGS`: no path, no address and nothing that the files on disk depend on
can be changed by a request.
"""

from dataclasses import dataclass, field

from aerobee.model.broker_role import Stage
from aerobee.model.setting import TEXT, TRUTH, Setting, Whole
from aerobee.ports.audit import AuditSink
from aerobee.ports.service import Peer
from aerobee.protocol.remoting.frame import FRAME_BYTES_MAX
from aerobee.replication.config import ReplicationConfig
from aerobee.replication.raft_seat import RaftSeat
from aerobee.service.access.config import CALLER_LIMIT_SETTINGS, AccessConfig, CallerLimits
from aerobee.service.access.request_limits import LimitConfig, WaitingLimits

FRAME_BYTES_BESIDE_BODY = 1 << 20

_INT32_MAX = 2**31 - 1
_INT64_MAX = 2**63 - 1
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class BrokerIdentity:
    """The name, role, cluster and addresses of a broker. Another role is another service."""

    name: str = "broker-a"
    cluster: str = "DefaultCluster"
    broker_id: int = 0
    address: str = "127.0.0.1:10911"
    """The address for clients, which name servers hand out."""
    ha_address: str = "127.0.0.1:10912"
    replication: ReplicationConfig = field(default_factory=ReplicationConfig)
    memory_bytes: int = 0
    """Of the machine; 0: not known."""
    stage: Stage = Stage.USUAL
    access: AccessConfig = field(default_factory=AccessConfig)
    raft: RaftSeat | None = None
    """Of a member of a Raft group."""
    grpc_address: Peer | None = None
    """Where clients of gRPC reach it; None: they are not served."""
    audit: AuditSink | None = None
    """Takes what its audit trail has; None: there is none."""

    @property
    def is_master(self) -> bool:
        return self.replication.role.is_master

    @property
    def takes_messages(self) -> bool:
        """Whether clients may send to it: a master that is not about to return."""
        return self.is_master and self.stage is not Stage.RETURNING

    @property
    def is_acting(self) -> bool:
        return self.stage is Stage.ACTING


@dataclass(frozen=True, slots=True)
class BrokerConfig(CallerLimits):
    permission: int = 6
    """Read 4, write 2. Without write, only topics that want order are refused, so that clients of
    the others drain to other brokers first."""
    creates_topics: bool = True
    """A send to an unknown topic makes it. Off: it is refused, and somebody has to create it."""
    creates_groups: bool = True
    """A consumer of an unknown group makes it."""
    default_queues: int = 8
    """Queues of the template that new topics are made from."""
    body_bytes_max: int = 4 << 20
    """Of what is sent. What was stored before it was lowered is delivered all the same."""
    region: str = "DefaultRegion"
    """Told with every send; clients put it into their traces."""
    traces: bool = True
    """Whether clients that can trace should."""
    has_trace_topic: bool = False
    stores_replies: bool = True
    """Replies are kept in their topic, besides being handed to the requester."""
    rejects_transactions: bool = False
    transaction_timeout_ms: int = 6_000
    """How long a transaction may be open before its producers are asked. Longer than they take:
    asking writes the message once more."""
    transaction_check_interval_ms: int = 30_000
    """Between two questions about one transaction."""
    transaction_checks_max: int = 15
    """Questions about one transaction, before it is given up."""
    register_interval_ms: int = 30_000
    """How often name servers are told. Shorter: a lost name server is filled again sooner."""
    register_timeout_ms: int = 24_000
    offsets_interval_ms: int = 5_000
    """How often offsets are saved. Longer: more is consumed again after a crash."""
    holds_pulls: bool = True
    """Long polling. Off: a pull that finds nothing is held for `short_hold_ms` at most."""
    short_hold_ms: int = 1_000
    pull_count_max: int = 256
    """Messages of one answer, however many are asked for; RocketMQ's own default is 32, as many as
    its clients ask for."""
    pull_bytes_max: int = 262_144
    """Bytes after which an answer ends; the first message is always there whole."""
    notifies_changes: bool = True
    """Consumers are told at once when a member of their group comes or goes."""
    client_ms_max: int = 120_000
    """A client that is silent for so long is gone."""
    sync_timeout_ms: int = 5_000
    """How long a send waits for the disk before it is told that its safety is not known."""
    retention_ms: int = 72 * _HOUR_MS
    """Age at which files of the log may go. The store is opened with it, and told of changes."""
    samples_max: int = 50_000
    """Of one metric. What is beyond is shown together."""
    allows_sql: bool = True
    """Consumers may filter by SQL. Off, as RocketMQ's brokers are: they are refused."""
    checks_message_types: bool = False
    """A topic that says which type its messages are takes no others. RocketMQ's proxy does that,
    its broker does not."""
    keeps_timers: bool = True
    """Messages for an exact time. Off: they are refused, and those that wait go on waiting."""
    timer_precision_ms: int = 1_000
    """A tick of the timer: how late a message may come. Changed: its files are built again."""
    timer_delay_ms_max: int = 259_200_000
    timer_window_slots: int = 172_800
    """Ticks ahead that the timer's wheel is used for. A message for later is stored again on its
    way: the log must be kept for longer than the window is long."""
    timer_slot_count_max: int = 2**31 - 1
    """Messages for one and the same tick."""
    timer_save_interval_ms: int = 1_000
    """How often the timer saves how far it is. Longer: more is delivered again after a crash."""
    timer_log_file_bytes: int = 100 << 20
    timer_wheel_slots: int = 2 * 7 * 86_400
    """Ticks that the wheel has a place for: twice the window, or more. RocketMQ opens no other
    number than this."""
    recalls: bool = False
    """Whether producers may take back what waits for a time."""
    priority_rises: bool = True
    """Of PRIORITY topics: a larger number is a higher priority. Off: 0 is the highest."""
    retry_first_percent: int = 0
    """Pops of PRIORITY topics, of a hundred, that look first at messages that come again. 0: those
    have the lowest priority; 100: the highest."""
    separates_retries: bool = False
    """Popped messages that come again keep the number of their queue, and so their priority. Off:
    those of a group and topic share one queue."""

    is_test: bool = False
    """This broker may be broken on purpose, by `aerobee chaos`."""
    user_topics_max: int = 0
    """Topics that one user has made; super users have no limit. 0: nor has anybody."""
    group_requests_max: int = 0
    """Pulls and pops of one consumer group in a second."""
    group_bytes_max: int = 0
    """Bytes of messages that one consumer group gets in a second."""
    group_waiting_max: int = 0
    """Pulls of one consumer group that wait for messages, and as many pops."""
    user_waiting_max: int = 0
    """The same of one user."""
    address_waiting_max: int = 0
    """The same from one address."""

    @property
    def waiting(self) -> WaitingLimits:
        return WaitingLimits(
            self.group_waiting_max, self.user_waiting_max, self.address_waiting_max
        )

    @property
    def limits(self) -> LimitConfig:
        return LimitConfig(
            self.user_requests_max,
            self.user_bytes_max,
            self.user_connections_max,
            self.address_requests_max,
            self.address_bytes_max,
            self.address_connections_max,
            self.group_requests_max,
            self.group_bytes_max,
        )


SETTINGS = (
    Setting("brokerPermission", "permission", Whole(0, 7), is_live=True),
    Setting("autoCreateTopicEnable", "creates_topics", TRUTH, is_live=True),
    Setting("autoCreateSubscriptionGroup", "creates_groups", TRUTH, is_live=True),
    Setting("defaultTopicQueueNums", "default_queues", Whole(1, 1024)),
    Setting(
        "maxMessageSize", "body_bytes_max", Whole(1, FRAME_BYTES_MAX - FRAME_BYTES_BESIDE_BODY)
    ),
    Setting("regionId", "region", TEXT),
    Setting("traceOn", "traces", TRUTH),
    Setting("traceTopicEnable", "has_trace_topic", TRUTH),
    Setting("storeReplyMessageEnable", "stores_replies", TRUTH),
    Setting("rejectTransactionMessage", "rejects_transactions", TRUTH, is_live=True),
    Setting("transactionTimeOut", "transaction_timeout_ms", Whole(1, _INT32_MAX), is_live=True),
    Setting(
        "transactionCheckInterval",
        "transaction_check_interval_ms",
        Whole(1, _INT32_MAX),
        is_live=True,
    ),
    Setting("transactionCheckMax", "transaction_checks_max", Whole(1, 10_000), is_live=True),
    Setting("registerNameServerPeriod", "register_interval_ms", Whole(10_000, 60_000)),
    Setting("registerBrokerTimeoutMills", "register_timeout_ms", Whole(100, 60_000)),
    Setting("flushConsumerOffsetInterval", "offsets_interval_ms", Whole(100, 600_000)),
    Setting("longPollingEnable", "holds_pulls", TRUTH, is_live=True),
    Setting("shortPollingTimeMills", "short_hold_ms", Whole(0, 60_000), is_live=True),
    Setting("maxTransferCountOnMessageInMemory", "pull_count_max", Whole(1, 4096), is_live=True),
    Setting("maxTransferBytesOnMessageInMemory", "pull_bytes_max", Whole(1, 8 << 20), is_live=True),
    Setting("notifyConsumerIdsChangedEnable", "notifies_changes", TRUTH, is_live=True),
    Setting("channelExpiredTimeout", "client_ms_max", Whole(1_000, _INT32_MAX)),
    Setting("metricsOtelCardinalityLimit", "samples_max", Whole(2, 1_000_000), is_live=True),
    Setting("syncFlushTimeout", "sync_timeout_ms", Whole(1, 600_000), is_live=True),
    Setting("enablePropertyFilter", "allows_sql", TRUTH, is_live=True),
    Setting("fileReservedTime", "retention_ms", Whole(1, 87_600, scale=_HOUR_MS), is_live=True),
    Setting("timerWheelEnable", "keeps_timers", TRUTH),
    Setting("timerPrecisionMs", "timer_precision_ms", Whole(10, 60_000)),
    Setting(
        "timerMaxDelaySec", "timer_delay_ms_max", Whole(1, _INT32_MAX, scale=1000), is_live=True
    ),
    Setting("timerRollWindowSlot", "timer_window_slots", Whole(2, 7 * 86_400 - 60)),
    Setting("timerCongestNumEachSlot", "timer_slot_count_max", Whole(1, _INT32_MAX), is_live=True),
    Setting("timerFlushIntervalMs", "timer_save_interval_ms", Whole(10, 60_000)),
    Setting("timerWheelSlots", "timer_wheel_slots", Whole(64, 1 << 26)),
    Setting("mappedFileSizeTimerLog", "timer_log_file_bytes", Whole(68, _INT32_MAX)),
    Setting("recallMessageEnable", "recalls", TRUTH, is_live=True),
    Setting("enableTopicMessageTypeCheck", "checks_message_types", TRUTH, is_live=True),
    Setting("priorityOrderAsc", "priority_rises", TRUTH, is_live=True),
    Setting(
        "popFromRetryProbabilityForPriority", "retry_first_percent", Whole(0, 100), is_live=True
    ),
    Setting("useSeparateRetryQueue", "separates_retries", TRUTH, is_live=True),
    Setting("testCluster", "is_test", TRUTH),
    *CALLER_LIMIT_SETTINGS,
    Setting("userTopicsMax", "user_topics_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("groupRequestsPerSecond", "group_requests_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("groupBytesPerSecond", "group_bytes_max", Whole(0, _INT64_MAX), is_live=True),
    Setting("groupWaitingPullsMax", "group_waiting_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("userWaitingPullsMax", "user_waiting_max", Whole(0, _INT32_MAX), is_live=True),
    Setting("addressWaitingPullsMax", "address_waiting_max", Whole(0, _INT32_MAX), is_live=True),
)
