import pytest

from aerobee.errors import ProtocolError
from aerobee.model.topic import DataVersion, TopicConfig
from aerobee.protocol.bodies.topic_config import (
    decode_data_version,
    encode_data_version,
    topic_config_from,
    topic_config_json,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

# As Apache 5.5.0 writes it.
TEXT = (
    b'{"attributes":{"+message.type":"FIFO"},"order":true,"perm":7,"readQueueNums":8,'
    b'"topicFilterType":"SINGLE_TAG","topicName":"T","topicSysFlag":1,"writeQueueNums":4}'
)
TOPIC = TopicConfig("T", 8, 4, 7, 1, is_order=True, attributes={"+message.type": "FIFO"})


def test_a_topic_is_written_and_read_as_apache_does() -> None:
    assert write_compact(topic_config_json(TOPIC)) == TEXT
    assert topic_config_from(Members(parse(TEXT), "it"), "T") == TOPIC


def test_what_a_topic_does_not_say_has_its_default() -> None:
    assert topic_config_from(Members({}, "it"), "T") == TopicConfig("T")


def test_the_key_in_the_table_is_the_name() -> None:
    assert topic_config_from(Members({"topicName": "other"}, "it"), "T").name == "T"


def test_a_version_is_written_and_read_as_apache_does() -> None:
    text = b'{"counter":2,"stateVersion":1,"timestamp":1794732283207}'
    version = DataVersion(1, 2, 1794732283207)
    assert encode_data_version(version) == text
    assert decode_data_version(text) == version
    assert decode_data_version(b"{}") == DataVersion()


def test_a_version_that_is_none_is_refused() -> None:
    for text in (b"[]", b'{"counter":"x"}', b"{"):
        with pytest.raises(ProtocolError):
            decode_data_version(text)
