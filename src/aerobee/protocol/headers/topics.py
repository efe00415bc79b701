"""Header fields of requests about topics. Names and defaults are Java's.

Fields that every client sends and no broker reads are left out.
"""

from dataclasses import dataclass

from aerobee.model.topic import SINGLE_TAG
from aerobee.protocol.remoting.declared_header import Int32, on_wire


@dataclass(frozen=True, slots=True)
class CreateTopicHeader:
    topic: str
    read_queue_nums: Int32
    write_queue_nums: Int32
    perm: Int32
    topic_filter_type: str = SINGLE_TAG
    topic_sys_flag: Int32 = 0
    order: bool = False
    attributes: str = ""
    default_topic: str = "TBW102"
    """Nobody reads it; RocketMQ's brokers refuse a request without it."""


@dataclass(frozen=True, slots=True)
class CreateStaticTopicHeader:
    """Header of UPDATE_AND_CREATE_STATIC_TOPIC, whose body is the mapping."""

    topic: str
    read_queue_nums: Int32
    write_queue_nums: Int32
    perm: Int32
    topic_filter_type: str = SINGLE_TAG
    topic_sys_flag: Int32 = 0
    order: bool = False
    force: bool = False
    """Whether the mapping is taken even if it is older, or contradicts the one that is there."""
    default_topic: str = "TBW102"


@dataclass(frozen=True, slots=True)
class TopicHeader:
    topic: str


@dataclass(frozen=True, slots=True)
class TopicConfigHeader:
    topic: str
    is_logical: bool = on_wire("lo", default=False)
    """Whether the mapping of a static topic is wanted, too."""


@dataclass(frozen=True, slots=True)
class AllTopicsHeader:
    """The page of topics that is wanted. Clients before 5.3.3 send no fields and want all."""

    topic_seq: Int32 | None = None
    data_version: str | None = None
    max_topic_num: Int32 | None = None
