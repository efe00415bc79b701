"""Header fields of requests about topics. Names and defaults are Java's.

Fields that every client sends and no broker reads are left out.
"""

from dataclasses import dataclass

from aerobee.model.topic import SINGLE_TAG
from aerobee.protocol.remoting.declared_header import Int32


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
class TopicHeader:
    topic: str


@dataclass(frozen=True, slots=True)
class AllTopicsHeader:
    """The page of topics that is wanted. Clients before 5.3.3 send no fields and want all."""

    topic_seq: Int32 | None = None
    data_version: str | None = None
    max_topic_num: Int32 | None = None
