import pytest

from tests.broker_kit import BrokerKit
from tests.once_kit import FENCED, OPEN_PRODUCER, ORDERS, QUEUE, open_producer, send_once


def test_whoever_opens_ends_the_sender_before() -> None:
    kit = BrokerKit(ORDERS)
    old, last = open_producer(kit)
    assert last == {}
    assert send_once(kit, 0, epoch=old).code == 0
    new, last = open_producer(kit)
    assert new > old
    assert last == {QUEUE: 0}
    refused = send_once(kit, 1, epoch=old)
    assert refused.code == FENCED
    assert str(new) in refused.remark
    assert send_once(kit, 1, epoch=new).code == 0
    assert (
        kit.ask(OPEN_PRODUCER, {"producerId": "P", "topic": "Orders", "epoch": str(old)}).code
        == FENCED
    )


@pytest.mark.parametrize("producer", ["", "a b", "x" * 121])
def test_an_id_that_is_none_is_refused(producer: str) -> None:
    kit = BrokerKit(ORDERS)
    answer = kit.ask(OPEN_PRODUCER, {"producerId": producer, "topic": "Orders"})
    assert answer.code == 29


def test_epochs_end_before_numbers_do() -> None:
    kit = BrokerKit(ORDERS)
    fields = {"producerId": "P", "topic": "Orders"}
    assert kit.ask(OPEN_PRODUCER, fields | {"epoch": str(2**63 - 1)}).code == 29
    last = 2**63 - 2
    assert kit.ask(OPEN_PRODUCER, fields | {"epoch": str(last)}).code == 0
    assert kit.ask(OPEN_PRODUCER, fields).code == 29
    assert send_once(kit, 0, epoch=last).code == 0
    kit.run(6_000)  # what is known of it is saved
