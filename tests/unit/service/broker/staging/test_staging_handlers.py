import pytest

from aerobee.protocol.message.message_batch import BatchMessage, encode_batch
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import SYNC, BrokerKit
from tests.once_kit import ORDERS, QUEUE, batch_body

STAGE_BATCH, PUBLISH_STAGED = 28004, 28005
FIELDS = {"writeId": "W", "roundId": "9", "topic": "Orders", "queueId": str(QUEUE)}
BODY = batch_body(0, [b"a"])


@pytest.mark.parametrize(
    ("changes", "body", "code"),
    [
        ({"writeId": "a b"}, BODY, 29),
        ({"roundId": "-1"}, BODY, 29),
        ({"roundId": str(1 << 30)}, BODY, 29),
        ({"topic": "Nowhere"}, BODY, 17),
        ({"queueId": "4"}, BODY, 16),
        ({"queueId": "-1"}, BODY, 16),
        ({"queueId": "2"}, BODY, 13),
        ({}, encode_batch([BatchMessage(b"x", {"KEYS": "k"})]), 13),
        ({}, b"no batch", 13),
    ],
)
def test_what_could_not_be_published_is_not_staged(
    changes: dict[str, str], body: bytes, code: int
) -> None:
    kit = BrokerKit(ORDERS)
    assert kit.ask(STAGE_BATCH, FIELDS | changes, body).code == code


def test_a_batch_larger_than_one_that_is_sent_may_be_is_not_staged() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(body_bytes_max=len(BODY)))
    assert kit.ask(STAGE_BATCH, FIELDS, BODY).code == 0
    end = kit.store.end_offset
    answer = kit.ask(STAGE_BATCH, FIELDS, batch_body(0, [b"ab"]))
    assert answer.code == 13
    assert f"msg body length limit {len(BODY)}B" in answer.remark
    assert kit.store.end_offset == end


def test_an_answer_waits_for_the_disk_like_that_of_a_send() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    kit.tell(STAGE_BATCH, FIELDS, BODY)
    kit.tick()
    assert kit.heard() == []
    kit.finish()
    (answer,) = kit.heard()
    assert int(answer.ext_fields["place"]) >= 0


@pytest.mark.parametrize(
    ("changes", "body"),
    [
        ({}, b"nothing"),
        ({}, b'{"places":["x"]}'),
        ({}, b'{"places":[-1]}'),
        ({"writeId": ""}, b'{"places":[]}'),
        ({"roundId": "-1"}, b'{"places":[]}'),
    ],
)
def test_what_is_no_round_is_not_published(changes: dict[str, str], body: bytes) -> None:
    kit = BrokerKit(ORDERS)
    fields = {"writeId": "W", "roundId": "9"} | changes
    assert kit.ask(PUBLISH_STAGED, fields, body).code == 29


def test_nobody_sends_to_the_staging_topic() -> None:
    kit = BrokerKit(ORDERS)
    fields = {"a": "g", "b": "rmq_sys_aerobee_staged", "e": "0", "f": "0", "g": "1", "h": "0"}
    assert kit.ask(310, fields | {"i": ""}, b"x").code == 16
