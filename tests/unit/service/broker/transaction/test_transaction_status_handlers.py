import pytest

from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import BrokerKit
from tests.transaction_kit import (
    COMMIT,
    GIVEN_UP,
    HALF,
    LIST,
    ORDERS,
    RESUME,
    ROLLBACK,
    TIMEOUT_MS,
    Begun,
    begin,
    checks,
    end,
    open_ones,
)

ONCE = BrokerConfig(transaction_checks_max=1, transaction_check_interval_ms=1_000)


def given_up_kit() -> BrokerKit:
    """A broker that gave up one transaction."""
    kit = BrokerKit(ORDERS, config=ONCE)
    kit.beat("c", producer="sellers")
    begin(kit, b"forgotten")
    kit.run(TIMEOUT_MS + 2_000)
    assert len(kit.messages(GIVEN_UP)) == 1
    kit.heard()
    return kit


def test_the_list_says_what_an_end_by_hand_needs() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit, b"order", "id-1")
    kit.run(2_000)
    listed = open_ones(kit)
    (one,) = listed.transactions
    assert (listed.open_count, listed.next_offset) == (1, -1)
    assert (one.queue_offset, one.commit_log_offset, one.message_id) == half
    assert (one.group, one.topic, one.queue_id) == ("sellers", "Orders", 1)
    assert (one.check_times, one.is_group_online) == (0, False)
    assert 3_000 < one.next_check_ms <= 4_000
    assert one.store_timestamp == kit.clock.now().wall_ms - 2_000
    by_hand = Begun(one.queue_offset, one.commit_log_offset, one.message_id)
    assert end(kit, by_hand, COMMIT, fromTransactionCheck="true").code == 0
    assert kit.bodies(queue_id=1) == [b"order"]
    assert open_ones(kit) == (0, -1, [])


def test_a_transaction_that_was_asked_about_is_listed_at_its_new_place() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("c", producer="sellers")
    begin(kit)
    kit.run(TIMEOUT_MS + 100)
    (check,) = checks(kit)
    (one,) = open_ones(kit).transactions
    assert (one.queue_offset, one.commit_log_offset) == check.begun()[:2]
    assert (one.check_times, one.is_group_online) == (1, True)


def test_one_that_waits_for_its_group_says_so() -> None:
    kit = BrokerKit(ORDERS)
    begin(kit)
    kit.run(TIMEOUT_MS + 1_000)
    (one,) = open_ones(kit).transactions
    assert (one.next_check_ms, one.is_group_online) == (-1, False)


def test_a_long_list_comes_in_pages() -> None:
    kit = BrokerKit(ORDERS)
    for number in range(150):
        begin(kit, unique_id=f"id-{number}")
    seen: list[int] = []
    offset, pages = 0, 0
    while offset >= 0:
        page = open_ones(kit, offset=str(offset), maxNum="1000")
        assert page.open_count == 150
        seen += [one.queue_offset for one in page.transactions]
        offset, pages = page.next_offset, pages + 1
    assert (seen, pages) == (list(range(150)), 3)
    assert len(open_ones(kit, maxNum="0").transactions) == 1


def test_a_list_can_be_of_one_group() -> None:
    kit = BrokerKit(ORDERS)
    begin(kit, unique_id="a")
    begin(kit, unique_id="b", PGROUP="others")
    listed = open_ones(kit, producerGroup="others")
    assert [one.message_id for one in listed.transactions] == ["b"]
    assert listed.open_count == 2


def test_a_list_with_bad_fields_is_refused() -> None:
    assert BrokerKit().ask(LIST, {"offset": "x"}).code == 1


# What was given up.


def test_what_was_given_up_is_asked_about_again() -> None:
    kit = given_up_kit()
    (parked,) = kit.messages(GIVEN_UP)
    assert open_ones(kit).open_count == 0
    assert kit.ask(RESUME, {"msgId": parked.offset_message_id}).code == 0
    kit.run(500)
    (check,) = checks(kit)
    assert check.message.body == b"forgotten"
    assert check.message.properties["TRANSACTION_CHECK_TIMES"] == "1"
    assert end(kit, check.begun(), ROLLBACK, fromTransactionCheck="true").code == 0
    assert open_ones(kit).open_count == 0


def test_what_was_resumed_is_open_after_a_restart() -> None:
    kit = given_up_kit()
    (parked,) = kit.messages(GIVEN_UP)
    assert kit.ask(RESUME, {"msgId": parked.offset_message_id}).code == 0
    (one,) = open_ones(kit.killed()).transactions
    assert one.message_id == "id-1"


@pytest.mark.parametrize("topic", [HALF, "Orders"])
def test_only_what_was_given_up_can_be_resumed(topic: str) -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    end(kit, half, COMMIT)
    (message,) = kit.messages(topic, 0 if topic == HALF else 1)
    answer = kit.ask(RESUME, {"msgId": message.offset_message_id})
    assert (answer.code, "given up" in answer.remark) == (1, True)
    assert open_ones(kit).open_count == 0


@pytest.mark.parametrize("text", ["", "x", "7F00000100002A9F00000000000F4240"])
def test_an_id_that_names_nothing_is_refused(text: str) -> None:
    assert BrokerKit().ask(RESUME, {"msgId": text}).code == 1
