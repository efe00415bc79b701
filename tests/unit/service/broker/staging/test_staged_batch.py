import pytest

from aerobee.model.names import STAGED_TOPIC
from aerobee.service.broker.staging.staged_batch import StagedBatch, staged_at, staged_message
from tests.broker_kit import BrokerKit
from tests.once_kit import ORDERS, QUEUE, batch_body, send_once
from tests.store_kit import draft, properties


def test_a_staged_batch_is_found_by_its_place() -> None:
    kit = BrokerKit(ORDERS)
    body = batch_body(0, [b"a", b"b"])
    fields = {"writeId": "W:x", "roundId": "9", "topic": "Orders", "queueId": str(QUEUE)}
    place = int(kit.ask(28004, fields, body).ext_fields["place"])
    batch = staged_at(kit.store, place)
    assert batch == StagedBatch("W:x", 9, "Orders", QUEUE, body)
    message = staged_message(batch, 5)
    assert (message.topic, message.body) == ("rmq_sys_aerobee_staged", body)


def test_where_none_is_none_is_found() -> None:
    kit = BrokerKit(ORDERS)
    offset = int(send_once(kit, 0).ext_fields["msgId"][-16:], 16)
    assert staged_at(kit.store, offset) is None
    assert staged_at(kit.store, offset + 1) is None
    assert staged_at(kit.store, 10**9) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"REAL_QID": ""},
        {"REAL_QID": "\u00b2"},
        {"REAL_QID": "1000000000"},
        {"REAL_TOPIC": ""},
        {"REAL_TOPIC": "SCHEDULE_TOPIC_XXXX"},
        {"__STAGED": "\u00b2:W:x"},
    ],
)
def test_a_record_that_does_not_say_where_its_batch_goes_is_none(changes: dict[str, str]) -> None:
    kit = BrokerKit(ORDERS)
    said = {"REAL_TOPIC": "Orders", "REAL_QID": "1", "__STAGED": "9:W:x"}
    for text in (said, {**said, **changes}):
        place = kit.store.end_offset
        kit.store.append(draft(STAGED_TOPIC.encode(), 0, b"body", properties(**text)), 1)
        kit.finish()
        assert (staged_at(kit.store, place) is not None) == (text is said)
