"""Tables of topics ⇄ JSON: topics that an administrator creates, and all topics of a broker.

    {"topicConfigList":[{"attributes":{"+message.type":"FIFO"},…}]}
    {"dataVersion":{…},"mappingDataVersion":{…},"topicConfigTable":{"T":{…}},
     "topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}

Attributes in a list are changes, by signed name; those in a table are the present values. The
mappings are those of static topics.
"""

from collections.abc import Iterable

from aerobee.model.queue_mapping import TopicMapping
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.queue_mapping import mapping_json
from aerobee.protocol.bodies.topic_config import (
    data_version_from,
    data_version_json,
    topic_config_from,
    topic_config_json,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact, write_standard

NO_VERSION = DataVersion()
LIST_BYTES_MAX = 8 * 1024 * 1024  # 40,000 topics


def encode_topic_config(config: TopicConfig) -> bytes:
    return write_compact(topic_config_json(config))


def decode_topic_config(body: bytes) -> TopicConfig:
    members = Members(parse(body), "the topic")
    return topic_config_from(members, members.text("topicName", ""))


def encode_topic_configs(configs: Iterable[TopicConfig]) -> bytes:
    """Attributes are changes, by signed name."""
    return write_compact({"topicConfigList": [topic_config_json(config) for config in configs]})


def decode_topic_configs(body: bytes) -> list[TopicConfig]:
    items = Members(parse(body, bytes_max=LIST_BYTES_MAX), "the list").array("topicConfigList")
    found = []
    for item in items:
        members = Members(item, "an item of topicConfigList")
        found.append(topic_config_from(members, members.text("topicName", "")))
    return found


def encode_topic_table(
    version: DataVersion,
    configs: Iterable[TopicConfig],
    mapping_version: DataVersion = NO_VERSION,
    mappings: Iterable[TopicMapping] = (),
) -> bytes:
    """All topics, or one page of them, and the mappings of the static ones."""
    return write_standard(
        {
            "dataVersion": data_version_json(version),
            "mappingDataVersion": data_version_json(mapping_version),
            "topicConfigTable": {config.name: topic_config_json(config) for config in configs},
            "topicQueueMappingDetailMap": {one.topic: mapping_json(one) for one in mappings},
            "topicQueueMappingInfoMap": {},
        }
    )


def decode_topic_table(body: bytes) -> tuple[DataVersion, list[TopicConfig]]:
    members = Members(parse(body), "the table of topics")
    return data_version_from(members.object("dataVersion")), [
        topic_config_from(config, name)
        for name, config in members.object("topicConfigTable").objects()
    ]


def decode_static_topics(body: bytes) -> list[str]:
    """The names of the topics with mappings of their queues, in a table of all topics."""
    members = Members(parse(body), "the table of topics")
    tables = ("topicQueueMappingDetailMap", "topicQueueMappingInfoMap")
    return sorted({name for table in tables for name in members.object(table).names()})
