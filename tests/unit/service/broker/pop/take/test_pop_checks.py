from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from tests.pop_kit import CONFIG, PopKit


@pytest.mark.parametrize(
    ("fields", "code", "word"),
    [
        ({"maxMsgNums": 33}, 29, "num"),
        ({"maxMsgNums": 0}, 29, "num"),
        ({"topic": "None"}, 17, "None"),
        ({"queueId": 1}, 29, "queueId"),
        ({"queueId": -2}, 29, "queueId"),
        ({"consumerGroup": "no/group"}, 26, "no/group"),
        ({"invisibleTime": 0}, 29, "invisibleTime"),
        ({"invisibleTime": 10**12}, 29, "invisibleTime"),
        ({"exp": "||" * 2_000}, 23, "exp"),
        ({"expType": "SQL92", "exp": "a >"}, 23, "filter"),
        ({"expType": "XML", "exp": "a"}, 1, "XML"),
    ],
)
def test_a_pop_that_cannot_be_is_refused_with_the_reason(
    fields: dict[str, object], code: int, word: str
) -> None:
    kit = PopKit()
    kit.fill(1)
    answer = kit.ask(200050, kit.fields(**fields))
    assert (answer.code, word in answer.remark) == (code, True)
    assert kit.bodies_popped() == [b"m0"]


def test_without_permission_to_read_nothing_is_popped() -> None:
    kit = PopKit(config=replace(CONFIG, permission=2))
    assert kit.ask(200050, kit.fields()).code == 16
    kit = PopKit()
    kit.make_topic(TopicConfig("Closed", 1, 1, permission=2))
    assert kit.ask(200050, kit.fields(topic="Closed")).code == 16


def test_a_group_that_is_disabled_pops_nothing() -> None:
    kit = PopKit()
    body = b'{"groupName":"g","consumeEnable":false}'
    assert kit.ask(200, body=body).code == 0
    assert kit.ask(200050, kit.fields()).code == 16


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"topic": "None"}, 17),
        ({"queueId": 7}, 13),
        ({"queueId": -1}, 13),
        ({"offset": 9}, 208),
        ({"offset": -1}, 208),
        ({"extraInfo": "0 1 2 8 0 broker-a 0 0"}, 13),
        ({"extraInfo": "0 1 2"}, 1),
    ],
)
def test_an_acknowledgement_that_cannot_be_is_refused(fields: dict[str, object], code: int) -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    assert kit.ack(got, **fields) == code
    assert kit.change(got, 1_000, **fields).code == code


def test_the_end_of_a_queue_can_be_acknowledged_but_not_hidden() -> None:
    kit = PopKit()
    kit.fill(1)
    (got,) = kit.pop()
    assert kit.ack(got, offset=1) == 0
    assert kit.change(got, 1_000, offset=1).code == 208
