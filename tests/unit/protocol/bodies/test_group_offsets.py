from typing import Any, cast

import pytest

from aerobee.errors import ProtocolError
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.protocol.bodies.group_offsets import (
    decode_client_status,
    decode_consumer_status,
    decode_correction,
    decode_group_subscription,
    encode_consumer_status,
    encode_correction,
    encode_group_list,
    encode_group_subscription,
    encode_reset_offsets,
)
from aerobee.protocol.bodies.message_queue import queue_from
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import parse
from tests.captured import captured

QUEUE = MessageQueue("T", "b", QueueId(0))
KEY = b'{"brokerName":"b","queueId":0,"topic":"T"}'


def test_where_a_reset_goes_is_told_as_apache_does() -> None:
    for answer in captured("INVOKE_BROKER_TO_RESET_OFFSET", "response"):
        said = cast("dict[str, Any]", parse(bytes(answer.body)))
        offsets = {
            queue_from(Members(dict(key), "a key")): offset
            for key, offset in said["offsetTable"].items()
        }
        assert encode_reset_offsets(offsets) == bytes(answer.body)


def test_groups_are_listed_as_apache_does() -> None:
    for answer in captured("QUERY_TOPIC_CONSUME_BY_WHO", "response"):
        said = cast("dict[str, Any]", parse(bytes(answer.body)))
        assert encode_group_list(said["groupList"]) == bytes(answer.body)


def test_what_clients_hold_is_put_together_from_their_answers() -> None:
    held = decode_client_status(b'{"messageQueueTable":{' + KEY + b":7}}")
    assert held == {QUEUE: 7}
    assert encode_consumer_status({"c": held}) == (
        b'{"consumerTable":{"c":{' + KEY + b':7}},"messageQueueTable":{}}'
    )


@pytest.mark.parametrize(
    "body",
    [b"", b"7", b'{"messageQueueTable":{"0":1}}', b'{"messageQueueTable":{' + KEY + b':"much"}}'],
)
def test_a_status_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_client_status(body)


def test_corrections_are_by_number() -> None:
    assert encode_correction({0: 3, 1: 4}) == b'{"correctionOffsets":{0:3,1:4}}'


def test_a_subscription_is_shown_with_its_group() -> None:
    assert encode_group_subscription("g", "T", None) == b'{"group":"g","topic":"T"}'
    shown = encode_group_subscription("g", "T", make_subscription("T"))
    assert shown.startswith(b'{"group":"g","subscriptionData":{"classFilterMode":false,')
    assert shown.endswith(b'"topic":"T"},"topic":"T"}')


def test_what_is_told_is_read_again() -> None:
    subscription = make_subscription("T", "a || b", 7)
    assert decode_consumer_status(encode_consumer_status({"c": {QUEUE: 3}})) == {"c": {QUEUE: 3}}
    assert decode_correction(encode_correction({0: 3, 1: 4})) == {0: 3, 1: 4}
    assert decode_group_subscription(encode_group_subscription("g", "T", None)) is None
    assert decode_group_subscription(encode_group_subscription("g", "T", subscription)) == (
        subscription
    )
