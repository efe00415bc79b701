import json

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.mapping_plan import made_queues, moved_queues
from aerobee.model.queue_mapping import MappingInfo, MappingItem, TopicMapping
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.queue_mapping import (
    BODY_BYTES_MAX,
    decode_mapping,
    decode_plan,
    decode_static_topic,
    encode_mapping,
    encode_plan,
    encode_static_topic,
    info_from,
    info_json,
    mapping_from,
    mapping_json,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse, write_compact

MAPPING = TopicMapping(
    "T",
    "broker-b",
    1_700_000_000_000,
    3,
    {2: (MappingItem(0, 1, "broker-a", 0), MappingItem(1, 0, "broker-b", 10_000, 0, 9, 4, 5))},
)
# What RocketMQ's tool sends: numbers as keys are bare.
APACHE = (
    b'{"bname":"broker-b","currIdMap":{},"dirty":false,"epoch":1700000000000,"hostedQueues":{2:['
    b'{"bname":"broker-a","endOffset":-1,"gen":0,"logicOffset":0,"queueId":1,"startOffset":0,'
    b'"timeOfEnd":-1,"timeOfStart":-1},{"bname":"broker-b","endOffset":9,"gen":1,'
    b'"logicOffset":10000,"queueId":0,"startOffset":0,"timeOfEnd":5,"timeOfStart":4}]},'
    b'"scope":"__global__","topic":"T","totalQueues":3}'
)


def test_a_mapping_is_read_and_written_as_rocketmq_does() -> None:
    assert decode_mapping(APACHE) == MAPPING
    assert decode_mapping(encode_mapping(MAPPING)) == MAPPING
    said = json.loads(encode_mapping(MAPPING))
    assert said == json.loads(APACHE.replace(b"{2:", b'{"2":'))


def test_what_is_missing_has_javas_default() -> None:
    said = Members({"bname": "b", "hostedQueues": {"0": [{"bname": "b"}]}}, "it")
    assert mapping_from(said, "T") == TopicMapping(
        "T", "b", 0, 0, {0: (MappingItem(0, 0, "b", 0),)}
    )
    assert mapping_from(Members(parse(write_compact(mapping_json(MAPPING))), "it")) == MAPPING


def test_a_route_says_which_queues_a_broker_leads() -> None:
    info = MappingInfo("T", "b", 7, 3, {0: 4, 2: 1})
    assert info_json(info)["currIdMap"] == {"0": 4, "2": 1}
    assert info_from(Members(info_json(info), "it")) == info
    bare = b'{"bname":"b","currIdMap":{0:4,2:1},"epoch":7,"topic":"T","totalQueues":3}'
    assert info_from(Members(parse(bare), "it")) == info


def test_a_topic_comes_with_its_mapping_if_it_is_static() -> None:
    config = TopicConfig("T", 2, 2)
    found = decode_static_topic(encode_static_topic(config, MAPPING))
    assert found is not None
    assert (found.config, found.mapping) == (config, MAPPING)
    assert decode_static_topic(encode_static_topic(config, None)) is None


def test_a_plan_is_the_same_after_it_was_in_a_file() -> None:
    made = made_queues("T", 3, ["a"], {}, 5)
    moved = moved_queues("T", ["b"], made.brokers, 6)
    for plan, kind in ((made, "CREATE_OR_UPDATE"), (moved, "REMAPPING")):
        text = encode_plan(plan)
        assert decode_plan(text) == plan
        assert json.loads(text)["type"] == kind


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"{}",
        b'{"bname":7}',
        b'{"bname":"b","epoch":"x"}',
        b'{"bname":"b","totalQueues":99999999999}',
        b'{"bname":"b","hostedQueues":[]}',
        b'{"bname":"b","hostedQueues":{"x":[]}}',
        b'{"bname":"b","hostedQueues":{"0":{}}}',
        b'{"bname":"b","hostedQueues":{"0":[1]}}',
        b'{"bname":"b","hostedQueues":{"0":[{}]}}',
        b'{"bname":"b","hostedQueues":{"0":[{"bname":"b","gen":1.5}]}}',
        b'{"bname":"b","hostedQueues":{"0":[{"bname":"b","logicOffset":1e30}]}}',
        b'{"bname":"b","hostedQueues":{"0":[{"bname":"b","queueId":true}]}}',
        b'{"bname":"b","scope":3}',
        b'{"bname":"b","dirty":"perhaps"}',
        b"{" * 100_000,
        b" " * (BODY_BYTES_MAX + 1),
    ],
)
def test_a_body_that_is_no_mapping_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_mapping(text)


@pytest.mark.parametrize(
    "text",
    [
        b'{"epoch":1,"topic":"T","brokerConfigMap":{"a":{"topicName":"T"}}}',
        b'{"epoch":1,"topic":"T","brokerToMapIn":[1]}',
        b'{"topic":"T"}',
        b'{"epoch":1}',
    ],
)
def test_a_file_that_is_no_plan_is_refused(text: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_plan(text)
