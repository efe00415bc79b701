from typing import cast

import pytest

from aerobee.errors import RemoteProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.message_queue import (
    numbers_by_queue,
    queue_from,
    queue_json,
    queue_key,
)
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Key, ObjectKey, Parsed, parse, write_compact

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
