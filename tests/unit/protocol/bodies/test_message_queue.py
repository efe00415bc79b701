from typing import cast

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.message_queue import (
    by_queue,
    numbers_by_queue,
    parse_queues,
    queue_from,
    queue_json,
    queue_key,
    queue_prefix,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import BadJson, Key, ObjectKey, Parsed, parse, write_compact

QUEUE = MessageQueue("T", "broker-a", QueueId(3))
TEXT = b'{"brokerName":"broker-a","queueId":3,"topic":"T"}'


def read(value: Parsed) -> MessageQueue:
    return queue_from(Members(value, "it"))


def test_a_queue_is_written_and_read_as_java_does() -> None:
    assert write_compact(queue_json(QUEUE)) == TEXT
    assert read(parse(TEXT)) == QUEUE


def test_a_queue_can_be_a_key() -> None:
    text = b"{" + TEXT + b":7}"
    assert write_compact({queue_key(QUEUE): 7}) == text
    (key,) = cast("dict[ObjectKey, int]", parse(text))
    assert read(dict(key)) == QUEUE


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"topic": "T"},
        {"topic": "", "queueId": 0},
        {"topic": 256 * "t", "queueId": 0},
        {"topic": "T", "queueId": 2**31},
        {"topic": "T", "queueId": 0, "brokerName": 256 * "b"},
    ],
)
def test_what_is_no_queue_is_refused(value: dict[Key, Parsed]) -> None:
    with pytest.raises(RemoteProtocolError):
        read(value)


def test_a_map_by_queue_is_read_and_nothing_else() -> None:
    members = Members(parse(b"{" + TEXT + b":7}"), "it")
    assert numbers_by_queue(members) == {QUEUE: 7}
    for wrong in (b'{"a":7}', b"{" + TEXT + b':"x"}', b"{" + TEXT + b":true}"):
        with pytest.raises(RemoteProtocolError):
            numbers_by_queue(Members(parse(wrong), "it"))


NAMES = ["T", "%RETRY%g", "ü", 'a"b', "a\\b", "a b", "}:{", ""]


@pytest.mark.parametrize("topic", NAMES[:-1])
@pytest.mark.parametrize("broker", NAMES)
def test_the_fast_ways_write_and_read_as_the_general_ones(topic: str, broker: str) -> None:
    queue = MessageQueue(topic, broker, QueueId(3))
    before, after = queue_prefix(topic, broker)
    text = f"{{{before}3{after}7}}".encode()
    assert text == write_compact({queue_key(queue): 7})
    assert by_queue(Members(parse_queues(text), "it")) == {queue: 7}
    assert by_queue(Members(parse(text), "it")) == {queue: 7}


@pytest.mark.parametrize("key", ['"x T b"', '"3 T"', '"9999999999 T b"', '"3"', "3"])
def test_a_text_that_names_no_queue_is_no_key(key: str) -> None:
    with pytest.raises(RemoteProtocolError):
        by_queue(Members(parse_queues(f"{{{key}:7}}".encode()), "it"))


def test_half_a_surrogate_pair_and_bad_bytes_are_judged_by_the_general_reader() -> None:
    for wrong in (b'{"a":"\\ud800"}', b"\xff", b"{"):
        with pytest.raises(BadJson):
            parse_queues(wrong)
