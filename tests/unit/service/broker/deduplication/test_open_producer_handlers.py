import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.producer_mark import PLAN_CHARS_MAX, ROUND_MAX
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.deduplication.open_producer_handlers import PLANS_MAX
from tests.broker_kit import BrokerKit
from tests.once_kit import FENCED, OPEN_PRODUCER, ORDERS, QUEUE, TOO_MANY, open_producer, send_once


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


def open_round(kit: BrokerKit, round_id: int, plan: str = "", **fields: str) -> RemotingCommand:
    said = {"producerId": "P", "topic": "Orders", "roundId": str(round_id), "plan": plan}
    return kit.ask(OPEN_PRODUCER, said | fields)


def test_attempts_of_one_round_get_one_epoch_after_the_other_and_the_firsts_plan() -> None:
    kit = BrokerKit(ORDERS)
    first = open_round(kit, 5, "first")
    second = open_round(kit, 5, "second")
    assert first.ext_fields == {"epoch": str(5 << 20), "plan": "first"}
    assert second.ext_fields == {"epoch": str((5 << 20) + 1), "plan": "first"}
    assert send_once(kit, 0, epoch=5 << 20).code == FENCED
    assert open_round(kit, 5, "x", epoch=str((5 << 20) + 1)).ext_fields["plan"] == "first"
    assert open_round(kit, 5, "other", topic="Other").ext_fields["plan"] == "other"


def test_a_round_that_is_over_is_not_opened_again() -> None:
    kit = BrokerKit(ORDERS)
    open_round(kit, 5, "five")
    assert open_round(kit, 6, "six").ext_fields == {"epoch": str(6 << 20), "plan": "six"}
    assert open_round(kit, 5, "five").code == FENCED
    assert open_round(kit, 5, "five", epoch=str(5 << 20)).code == FENCED
    assert open_round(kit, 6, "six", epoch=str(7 << 20)).code == FENCED
    restarted = kit.power_cut()
    assert open_round(restarted, 5, "five").code == FENCED
    assert open_round(restarted, 6, "else").ext_fields["plan"] == "six"


def test_rounds_and_plans_have_limits() -> None:
    kit = BrokerKit(ORDERS)
    assert open_round(kit, ROUND_MAX + 1).code == 29
    assert open_round(kit, 1, "x" * (PLAN_CHARS_MAX + 1)).code == 29
    for number in range(PLANS_MAX):
        assert open_round(kit, 1, "x", topic=f"T{number}").code == 0
    assert open_round(kit, 1, "x").code == 29
    assert open_round(kit, 1, "x", topic="T3").code == 0
    assert open_round(kit, ROUND_MAX, "x").code == 0


def test_a_round_that_would_forget_its_own_beginning_is_refused_before_anything_is_stored() -> None:
    kit = BrokerKit(ORDERS, TopicConfig("Wide", 1000, 1000))
    for task in range(10):
        assert open_round(kit, 1, producerId=f"query/{task}", topic="Wide").code == 0
    refused = open_round(kit, 1, producerId="query/10", topic="Wide")
    assert refused.code == TOO_MANY
    assert "'query' would have more than a broker remembers: 10000 tasks" in refused.remark
    assert open_round(kit, 1, producerId="query/9", topic="Wide").code == 0
    assert open_round(kit, 1, producerId="another/0", topic="Wide").code == 0
    restarted = kit.power_cut()
    assert open_round(restarted, 1, producerId="query/10").code == TOO_MANY
    assert open_round(restarted, 2, producerId="query/0").code == 0
    assert open_round(restarted, 2, producerId="query/10").code == 0
