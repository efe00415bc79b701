import json

import pytest

from tests.broker_kit import OTHER, SYNC, BrokerKit
from tests.transaction_kit import (
    COMMIT,
    HALF,
    INTERVAL_MS,
    OFFSETS_GROUP,
    OP,
    ORDERS,
    ROLLBACK,
    TIMEOUT_MS,
    begin,
    checks,
    end,
    end_fields,
    half_fields,
    join,
    open_ones,
    over,
)

PATH = "store/config/consumerOffset.json"


def saved(kit: BrokerKit) -> dict[str, dict[str, int]]:
    """Offsets of both queues, as the file has them."""
    text = kit.disk.read(PATH).decode()
    for number in range(20):
        text = text.replace(f"\t{number}:", f'\t"{number}":')
    table = json.loads(text)["offsetTable"]
    return {key: offsets for key, offsets in table.items() if key.endswith(f"@{OFFSETS_GROUP}")}


@pytest.mark.parametrize("how", ["restarted", "killed", "power_cut"])
def test_what_is_open_is_open_in_the_next_process_and_asked_about_at_once(how: str) -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    halves = [begin(kit, b"%d" % number, f"id-{number}") for number in range(4)]
    assert end(kit, halves[0], COMMIT).code == 0
    assert end(kit, halves[1], ROLLBACK).code == 0
    kit.run(2_000)
    kit.clock.advance(3_600_000)
    after: BrokerKit = getattr(kit, how)()
    assert [one.message_id for one in open_ones(after).transactions] == ["id-2", "id-3"]
    join(after)
    after.run(300)
    asked = checks(after)
    assert [check.message.body for check in asked] == [b"2", b"3"]
    for check, what in zip(asked, (COMMIT, ROLLBACK), strict=True):
        assert end(after, check.begun(), what, fromTransactionCheck="true").code == 0
    assert after.bodies(queue_id=1) == [b"0", b"2"]
    assert open_ones(after).open_count == 0


def test_offsets_are_saved_under_apaches_names() -> None:
    kit = BrokerKit(ORDERS)
    halves = [begin(kit, unique_id=f"id-{number}") for number in range(3)]
    for half in halves[:2]:
        end(kit, half, ROLLBACK)
    kit.stop()
    assert saved(kit) == {f"{HALF}@{OFFSETS_GROUP}": {"0": 2}, f"{OP}@{OFFSETS_GROUP}": {"0": 2}}


def test_a_process_that_was_stopped_asks_nobody_any_more() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("c", producer="sellers")
    begin(kit)
    kit.broker.stop(kit.clock.now())
    kit.run(TIMEOUT_MS + 1_000)
    assert checks(kit) == []


def test_an_end_that_waited_for_the_disk_at_a_stop_is_written_down() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    half = begin(kit)
    kit.tell(37, end_fields(half, COMMIT), flag=2)
    after = kit.restarted()
    assert (open_ones(after).open_count, over(after)) == (0, [b"0,"])
    assert after.bodies(queue_id=1) == [b"half"]


def test_another_member_is_asked_when_one_is_gone() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("c", producer="sellers")
    kit.beat("d", producer="sellers", channel=OTHER)
    begin(kit)
    kit.close(OTHER)
    kit.run(TIMEOUT_MS + 100)
    assert len(checks(kit)) == 1
    kit.run(INTERVAL_MS)
    assert len(checks(kit)) == 1


def test_transactions_can_be_forbidden() -> None:
    kit = BrokerKit(ORDERS)
    assert kit.ask(25, body=b"rejectTransactionMessage=true").code == 0
    answer = kit.ask(310, half_fields())
    assert (answer.code, kit.messages(HALF)) == (16, [])
    assert kit.ask(25, body=b"rejectTransactionMessage=false").code == 0
    assert kit.ask(310, half_fields()).code == 0


def test_a_batch_is_no_part_of_a_transaction() -> None:
    kit = BrokerKit(ORDERS)
    answer = kit.ask(310, {**half_fields(), "m": "true"}, b"anything")
    assert (answer.code, "batch" in answer.remark) == (13, True)


def test_a_message_that_was_consumed_before_begins_no_transaction() -> None:
    """Consumers hand back what they got, properties and all."""
    kit = BrokerKit(ORDERS)
    assert kit.ask(310, {**half_fields(), "j": "1"}, b"again").code == 0
    assert (kit.bodies(queue_id=1), kit.messages(HALF)) == ([b"again"], [])


def test_no_time_is_lost_before_the_end_of_a_transaction_is_written_down() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    kit.tell(37, end_fields(half, COMMIT), flag=2)
    assert kit.broker.rest_ms(kit.clock.now()) == 0
    kit.tick()
    assert over(kit) == [b"0,"]
