"""Header fields of administration requests about the state of groups, and of the requests that
brokers then send to clients of those groups.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64

UNSET = -1


@dataclass(frozen=True, slots=True)
class ConsumeStatsHeader:
    consumer_group: str
    topic: str = ""
    topic_list: str = ""
    """Several, with `;` between them."""


@dataclass(frozen=True, slots=True)
class BrokerConsumeStatsHeader:
    is_order: bool = False


@dataclass(frozen=True, slots=True)
class GroupTopicHeader:
    group: str
    topic: str


@dataclass(frozen=True, slots=True)
class CloneOffsetsHeader:
    src_group: str
    dest_group: str
    topic: str = ""
    offline: bool = False


@dataclass(frozen=True, slots=True)
class CorrectionHeader:
    topic: str
    compare_group: str
    filter_groups: str = ""
    """Groups that do not count, with `,` between them."""


@dataclass(frozen=True, slots=True)
class ResetOffsetHeader:
    group: str
    topic: str
    timestamp: Int64
    """Below 0: the end of the queue."""
    is_force: bool = False
    queue_id: Int32 = UNSET
    """All queues if it is not set."""
    offset: Int64 = UNSET
    """Instead of a time, for one queue."""


@dataclass(frozen=True, slots=True)
class ConsumerStatusHeader:
    group: str
    topic: str
    client_addr: str = ""
    """In truth the id of one client; empty: all."""


@dataclass(frozen=True, slots=True)
class RunningInfoHeader:
    consumer_group: str
    client_id: str
    jstack_enable: bool = False


@dataclass(frozen=True, slots=True)
class ConsumeDirectlyHeader:
    consumer_group: str
    client_id: str = ""
    msg_id: str = ""
    topic: str = ""
    broker_name: str | None = None
    topic_sys_flag: Int32 | None = None
    group_sys_flag: Int32 | None = None
