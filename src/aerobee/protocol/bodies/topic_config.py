"""Topics and the version of their table ⇄ JSON, as in registrations, answers and `topics.json`.

    {"attributes":{},"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG",
     "topicName":"T","topicSysFlag":0,"writeQueueNums":8}
    {"counter":0,"stateVersion":0,"timestamp":1700000000000}

What is missing has Java's default: brokers of 4.x write no attributes.
"""

from aerobee.model.topic import DEFAULT_QUEUES, SINGLE_TAG, DataVersion, TopicConfig
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, parse, write_compact

READ_AND_WRITE = 6
VERSION_BYTES_MAX = 1024


def topic_config_json(config: TopicConfig) -> dict[str, Value]:
    return {
        "attributes": dict(config.attributes),
        "order": config.is_order,
        "perm": config.permission,
        "readQueueNums": config.read_queues,
        "topicFilterType": config.filter_type,
        "topicName": config.name,
        "topicSysFlag": config.sys_flag,
        "writeQueueNums": config.write_queues,
    }


def topic_config_from(members: Members, name: str) -> TopicConfig:
    """`name` is its key in the table, which is what counts."""
    return TopicConfig(
        name,
        read_queues=members.int32("readQueueNums", DEFAULT_QUEUES),
        write_queues=members.int32("writeQueueNums", DEFAULT_QUEUES),
        permission=members.int32("perm", READ_AND_WRITE),
        sys_flag=members.int32("topicSysFlag", 0),
        is_order=members.is_true("order"),
        filter_type=members.text("topicFilterType", SINGLE_TAG),
        attributes=members.object("attributes").texts(),
    )


def data_version_json(version: DataVersion) -> dict[str, Value]:
    return {
        "counter": version.counter,
        "stateVersion": version.state_version,
        "timestamp": version.timestamp,
    }


def data_version_from(members: Members) -> DataVersion:
    return DataVersion(
        members.int64("stateVersion", 0), members.int64("counter", 0), members.int64("timestamp", 0)
    )


def encode_data_version(version: DataVersion) -> bytes:
    return write_compact(data_version_json(version))


def decode_data_version(body: bytes) -> DataVersion:
    return data_version_from(Members(parse(body, bytes_max=VERSION_BYTES_MAX), "the data version"))
