"""The versions of a broker's tables and its start ⇄ JSON: the body of COPY_BROKER_STATE's answer.

    {"bootTimestamp":1700000000000,
     "groupsVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},
     "topicsVersion":{"counter":7,"stateVersion":0,"timestamp":1700000000000}}

A slave asks often, and copies a table when its version has moved.
"""

from typing import NamedTuple

from aerobee.model.topic import DataVersion
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

BODY_BYTES_MAX = 4096


class BrokerVersions(NamedTuple):
    topics: DataVersion
    groups: DataVersion
    started_ms: int
    """Wall time of the broker's start."""


def encode_broker_versions(versions: BrokerVersions) -> bytes:
    return write_compact(
        {
            "bootTimestamp": versions.started_ms,
            "groupsVersion": data_version_json(versions.groups),
            "topicsVersion": data_version_json(versions.topics),
        }
    )


def decode_broker_versions(body: bytes) -> BrokerVersions:
    members = Members(parse(body, bytes_max=BODY_BYTES_MAX), "the state of the broker")
    return BrokerVersions(
        data_version_from(members.object("topicsVersion")),
        data_version_from(members.object("groupsVersion")),
        members.int64("bootTimestamp"),
    )
