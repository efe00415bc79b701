import pytest

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_table import (
    decode_static_topics,
    decode_topic_configs,
    decode_topic_table,
    encode_topic_config,
    encode_topic_configs,
    encode_topic_table,
)

TEXT = (
    b'{"attributes":{},"order":false,"perm":6,"readQueueNums":2,"topicFilterType":"SINGLE_TAG",'
    b'"topicName":"T","topicSysFlag":0,"writeQueueNums":2}'
)


def test_one_topic_is_written_as_apache_does() -> None:
    assert encode_topic_config(TopicConfig("T", 2, 2)) == TEXT


def test_a_list_of_topics_is_read_with_its_changes_of_attributes() -> None:
    body = (
        b'{"topicConfigList":['
        + TEXT
        + b',{"topicName":"U","attributes":{"+message.type":"FIFO"}}]}'
    )
    assert decode_topic_configs(body) == [
        TopicConfig("T", 2, 2),
        TopicConfig("U", attributes={"+message.type": "FIFO"}),
    ]
    assert decode_topic_configs(b"{}") == []


@pytest.mark.parametrize("body", [b"", b"[]", b'{"topicConfigList":[1]}'])
def test_what_is_no_list_of_topics_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_topic_configs(body)


def test_a_table_is_written_as_apache_does() -> None:
    assert encode_topic_table(DataVersion(0, 1, 5), [TopicConfig("T", 2, 2)]) == (
        b'{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":5},'
        b'"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":0},'
        b'"topicConfigTable":{"T":'
        + TEXT
        + b'},"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}}'
    )


def test_a_list_and_a_table_of_topics_are_read_again() -> None:
    topics = [TopicConfig("T", 2, 2), TopicConfig("U", attributes={"+message.type": "FIFO"})]
    assert decode_topic_configs(encode_topic_configs(topics)) == topics
    version = DataVersion(1, 2, 3)
    assert decode_topic_table(encode_topic_table(version, topics)) == (version, topics)


def test_static_topics_are_those_with_mappings() -> None:
    assert decode_static_topics(encode_topic_table(DataVersion(), [TopicConfig("T")])) == []
    body = (
        b'{"topicConfigTable":{"T":{},"S":{}},"topicQueueMappingDetailMap":{"S":{"topic":"S"}},'
        b'"topicQueueMappingInfoMap":{"R":{}}}'
    )
    assert decode_static_topics(body) == ["R", "S"]
