"""The fields of a pull and of its answer.

Clients read all four offsets of an answer whatever its code, so all are always there.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64, on_wire

COMMIT_OFFSET = 0x1
SUSPEND = 0x2
SUBSCRIPTION = 0x4
"""Bits of a pull's system flag: commit an offset with it; it may be held; it brings its filter."""


@dataclass(frozen=True, slots=True)
class PullHeader:
    consumer_group: str
    topic: str
    queue_id: Int32
    queue_offset: Int64
    max_msg_nums: Int32
    sys_flag: Int32 = 0
    commit_offset: Int64 = 0
    suspend_timeout_millis: Int64 = 0
    subscription: str = "*"
    sub_version: Int64 = 0
    expression_type: str = ""
    is_bulk: bool = on_wire("aerobeeBulk", default=False)
    """Aerobee's own: a reader of whole queues takes larger answers than consumers do. Others do not
    know the field, and answer as always."""


@dataclass(frozen=True, slots=True)
class PullAnswerHeader:
    suggest_which_broker_id: Int64
    next_begin_offset: Int64
    min_offset: Int64
    max_offset: Int64
    topic_sys_flag: Int32 = 0
    group_sys_flag: Int32 = 0
    offset_delta: Int64 | None = None
    """Of a static topic: what the client adds to the offsets of the messages."""
