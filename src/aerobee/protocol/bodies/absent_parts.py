"""Answers about parts that Aerobee's broker does not have, and readers of other brokers' answers.

A master without slaves, no cold-data limits, no lite topics.

    {"haClientRuntimeInfo":{…0},"haConnectionInfo":[],"inSyncSlaveNums":0,"master":true,
     "masterCommitLogMaxOffset":510}
    {"runtimeTable":{},"configTable":{}}
    {"cqTableSize":9,"currentLmqNum":0,…,"storeType":"default","topicMeta":{}}
"""

from typing import NamedTuple

from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact


class Replica(NamedTuple):
    """A slave, as its master sees it."""

    address: str
    acked_offset: int
    behind_bytes: int
    is_in_sync: bool


class Replication(NamedTuple):
    is_master: bool
    log_end: int
    in_sync: int
    replicas: list[Replica]


def encode_lone_master(log_end: int) -> bytes:
    """The replication state of a master without slaves."""
    return write_compact(
        {
            "haClientRuntimeInfo": {
                "lastReadTimestamp": 0,
                "lastWriteTimestamp": 0,
                "masterFlushOffset": 0,
                "maxOffset": 0,
                "transferredByteInSecond": 0,
            },
            "haConnectionInfo": [],
            "inSyncSlaveNums": 0,
            "master": True,
            "masterCommitLogMaxOffset": log_end,
        }
    )


def encode_no_cold_limits() -> bytes:
    """The answer that limits no group. RocketMQ's thresholds are left out: there are none."""
    return write_compact({"runtimeTable": {}, "configTable": {}})


def encode_no_light_topics(topics: int, offsets: int) -> bytes:
    """The answer without lite topics. `topics` have queues, `offsets` are those of groups."""
    return write_compact(
        {
            "cqTableSize": topics,
            "currentLmqNum": 0,
            "eventMapSize": 0,
            "groupMeta": {},
            "liteSubscriptionCount": 0,
            "maxLmqNum": 0,
            "offsetTableSize": offsets,
            "orderInfoCount": 0,
            "storeType": "default",
            "topicMeta": {},
        }
    )


def decode_replication(body: bytes) -> Replication:
    members = Members(parse(body), "the state of replication")
    rows = [Members(row, "a replica") for row in members.array("haConnectionInfo")]
    return Replication(
        members.is_true("master"),
        members.int64("masterCommitLogMaxOffset", 0),
        members.int32("inSyncSlaveNums", 0),
        [
            Replica(
                row.text("addr", ""),
                row.int64("slaveAckOffset", 0),
                row.int64("diff", 0),
                row.is_true("inSync"),
            )
            for row in rows
        ],
    )
