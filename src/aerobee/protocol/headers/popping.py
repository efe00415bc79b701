"""Header fields of POP and of its answers: pop, acknowledge, change the invisible time,
notification, polling info, peek.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64

FROM_MIN = 0
"""The init mode of a group that begins with the oldest message; any other begins at the end."""
ANY_QUEUE = -1


@dataclass(frozen=True, slots=True)
class PopHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    max_msg_nums: Int32
    invisible_time: Int64
    poll_time: Int64 = 0
    born_time: Int64 = 0
    init_mode: Int32 = FROM_MIN
    exp_type: str = ""
    exp: str = ""
    order: bool = False
    attempt_id: str = ""


@dataclass(frozen=True, slots=True)
class PopAnswerHeader:
    pop_time: Int64
    invisible_time: Int64
    revive_qid: Int32
    rest_num: Int64
    start_offset_info: str = ""
    msg_offset_info: str = ""
    order_count_info: str | None = None


@dataclass(frozen=True, slots=True)
class AckHeader:
    consumer_group: str
    topic: str
    """The one that the message lies in: the retry topic for a message from there."""
    queue_id: Int32
    extra_info: str
    offset: Int64


@dataclass(frozen=True, slots=True)
class InvisibleTimeHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    extra_info: str
    offset: Int64
    invisible_time: Int64
    suspend: bool = False
    """The message comes back as if it had not been tried."""


@dataclass(frozen=True, slots=True)
class InvisibleTimeAnswerHeader:
    pop_time: Int64
    invisible_time: Int64
    revive_qid: Int32


@dataclass(frozen=True, slots=True)
class NotificationHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    poll_time: Int64 = 0
    born_time: Int64 = 0
    order: bool = False
    attempt_id: str = ""


@dataclass(frozen=True, slots=True)
class NotificationAnswerHeader:
    has_msg: bool
    polling_full: bool = False


@dataclass(frozen=True, slots=True)
class PollingInfoHeader:
    consumer_group: str
    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True)
class PollingInfoAnswerHeader:
    polling_num: Int32


@dataclass(frozen=True, slots=True)
class PeekHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    max_msg_nums: Int32
