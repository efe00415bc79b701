from dataclasses import replace

import pytest

from aerobee.errors import DiskFull, StorageError, StoreBusy
from aerobee.model.broker_role import BrokerRole
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from tests.broker_kit import CLIENT, STORAGE, SYNC, BrokerKit
from tests.transaction_kit import (
    COMMIT,
    END,
    HALF,
    ORDERS,
    ROLLBACK,
    TIMEOUT_MS,
    UNKNOWN,
    Begun,
    begin,
    checks,
    end,
    end_fields,
    half_fields,
    open_ones,
    over,
)


def with_half(**properties: str) -> tuple[BrokerKit, Begun]:
    kit = BrokerKit(ORDERS)
    kit.clock.jump_wall(1794732382394 - kit.clock.now().wall_ms)  # when the message is born
    return kit, begin(kit, b"order", **properties)


def test_a_half_message_is_seen_by_nobody_and_answered_like_any_other() -> None:
    kit = BrokerKit(ORDERS)
    answer = kit.ask(310, half_fields("id-7", "2"), b"order")
    (half,) = kit.messages(HALF)
    assert answer.ext_fields == {
        "msgId": half.offset_message_id,
        "queueId": "2",
        "queueOffset": "0",
        "transactionId": "id-7",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
    }
    assert (half.body, half.sys_flag, half.born_host) == (b"order", 0, ("10.0.0.9", 40_001))
    assert half.properties["REAL_QID"] == "2"
    assert kit.bodies("Orders", 2) == []


def test_a_commit_makes_the_message_seen() -> None:
    kit, half = with_half(TAGS="A")
    assert (end(kit, half, COMMIT).code, kit.bodies(queue_id=1)) == (0, [b"order"])
    (message,) = kit.messages(queue_id=1)
    assert (message.sys_flag, message.prepared_offset) == (COMMIT, half.log_offset)
    assert message.properties == {
        "TRAN_MSG": "true",
        "UNIQ_KEY": "id-1",
        "WAIT": "true",
        "PGROUP": "sellers",
        "TAGS": "A",
        "MSG_REGION": "DefaultRegion",
        "TRACE_ON": "true",
        "CLUSTER": "DefaultCluster",
        "__transactionId__": "id-1",
    }
    assert over(kit) == [b"0,"]


def test_a_rollback_makes_it_never_seen() -> None:
    kit, half = with_half()
    assert end(kit, half, ROLLBACK).code == 0
    assert (kit.bodies(queue_id=1), over(kit)) == ([], [b"0,"])


def test_an_unknown_outcome_leaves_it_open() -> None:
    kit, half = with_half()
    assert end(kit, half, UNKNOWN).code == 0
    assert (open_ones(kit).open_count, over(kit)) == (1, [])
    assert end(kit, half, COMMIT).code == 0


@pytest.mark.parametrize("what", [COMMIT, ROLLBACK, UNKNOWN])
def test_a_one_way_end_does_the_same_and_is_never_answered(what: int) -> None:
    kit, half = with_half()
    for fields in (end_fields(half, what), end_fields(half, what), {}):
        kit.tell(END, fields, flag=2)
        kit.finish()
    assert kit.heard() == []
    assert kit.bodies(queue_id=1) == ([b"order"] if what == COMMIT else [])
    assert over(kit) == ([] if what == UNKNOWN else [b"0,"])


@pytest.mark.parametrize("first", [COMMIT, ROLLBACK])
@pytest.mark.parametrize("second", [COMMIT, ROLLBACK])
def test_what_ended_is_not_ended_again(first: int, second: int) -> None:
    kit, half = with_half()
    assert end(kit, half, first).code == 0
    answer = end(kit, half, second)
    assert (answer.code, "not open any more" in answer.remark) == (1, True)
    assert kit.bodies(queue_id=1) == ([b"order"] if first == COMMIT else [])
    assert over(kit) == [b"0,"]


def test_two_ends_in_one_read_are_one() -> None:
    kit, half = with_half()
    for what in (ROLLBACK, COMMIT):
        kit.tell(END, end_fields(half, what), flag=2)
    kit.finish()
    assert (kit.bodies(queue_id=1), over(kit)) == ([], [b"0,"])


@pytest.mark.parametrize(
    ("changes", "code", "remark"),
    [
        ({"producerGroup": "thieves"}, 1, "the producer group wrong"),
        ({"tranStateTableOffset": "1"}, 1, "the transaction state table offset wrong"),
        ({"commitLogOffset": "1"}, 1, "find prepared transaction message failed"),
        ({"commitLogOffset": "-1"}, 1, "find prepared transaction message failed"),
        ({"commitLogOffset": "999999"}, 1, "find prepared transaction message failed"),
        ({"commitOrRollback": "4"}, 29, "commitOrRollback is 4"),
        ({"commitOrRollback": "-8"}, 29, "commitOrRollback is -8"),
    ],
)
def test_an_end_that_names_no_open_half_is_refused(
    changes: dict[str, str], code: int, remark: str
) -> None:
    kit, half = with_half()
    answer = end(kit, half, COMMIT, **changes)
    assert (answer.code, remark in answer.remark) == (code, True)
    assert (open_ones(kit).open_count, kit.bodies(queue_id=1)) == (1, [])


def test_a_message_that_is_no_half_cannot_be_committed_again() -> None:
    kit, half = with_half()
    end(kit, half, COMMIT)
    (message,) = kit.messages(queue_id=1)
    again = Begun(message.queue_offset, message.log_offset, "id-1")
    assert end(kit, again, COMMIT).remark == "find prepared transaction message failed"
    assert kit.bodies(queue_id=1) == [b"order"]


def test_after_its_immunity_only_the_answer_to_a_check_counts() -> None:
    kit, half = with_half(CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    other = begin(kit, b"other", "id-2", CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    kit.clock.advance(10_000)
    assert end(kit, other, COMMIT).code == 0
    kit.clock.advance(1)
    assert end(kit, half, COMMIT).code == 604
    assert end(kit, half, COMMIT, fromTransactionCheck="true").code == 0
    assert sorted(kit.bodies(queue_id=1)) == [b"order", b"other"]


def test_without_an_immunity_an_end_may_come_late() -> None:
    kit, half = with_half()
    kit.clock.advance(3_600_000)
    assert end(kit, half, COMMIT).code == 0


def test_a_slave_ends_nothing() -> None:
    kit = BrokerKit(
        identity=BrokerIdentity(broker_id=1, replication=ReplicationConfig(role=BrokerRole.SLAVE))
    )
    assert kit.ask(END, end_fields(Begun(0, 0, "id"), COMMIT)).code == 11


def test_an_answer_to_a_check_ends_the_half_and_so_does_a_late_end_of_the_first() -> None:
    kit = BrokerKit(ORDERS)
    kit.beat("c", producer="sellers")
    first = begin(kit, b"first", "id-1")
    begin(kit, b"second", "id-2")
    kit.run(TIMEOUT_MS + 100)
    _, about_second = checks(kit)
    assert end(kit, about_second.begun(), COMMIT, fromTransactionCheck="true").code == 0
    assert end(kit, first, COMMIT).code == 0
    assert kit.bodies(queue_id=1) == [b"second", b"first"]
    assert open_ones(kit).open_count == 0
    kit.run(60_000, 1_000)
    assert checks(kit) == []


def test_a_message_whose_topic_is_gone_stays_open() -> None:
    kit, half = with_half()
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.run(5_000)
    answer = end(kit, half, COMMIT)
    assert (answer.code, "stays open" in answer.remark) == (17, True)
    kit.make_topic(ORDERS)
    assert end(kit, half, COMMIT).code == 0
    assert kit.bodies(queue_id=1) == [b"order"]


@pytest.mark.parametrize(("refusal", "code"), [(DiskFull("full"), 14), (StoreBusy("busy"), 2)])
def test_what_the_store_refuses_stays_open(refusal: StorageError, code: int) -> None:
    kit, half = with_half()
    kit.store.appender.refusal = refusal
    kit.tell(END, end_fields(half, COMMIT))
    (answer,) = kit.heard()
    assert answer.code == code
    kit.finish()
    assert end(kit, half, COMMIT).code == 0


def test_a_delayed_message_is_delayed_from_its_commit_on() -> None:
    storage = replace(STORAGE, delay_levels_ms=(1_000,) * 18)
    kit = BrokerKit(ORDERS, storage=storage)
    half = begin(kit, b"later", DELAY="1")
    kit.run(5_000)
    assert end(kit, half, COMMIT).code == 0
    kit.run(900)
    assert kit.bodies(queue_id=1) == []
    kit.run(300)
    assert kit.bodies(queue_id=1) == [b"later"]


def test_a_message_for_a_time_waits_for_it_from_its_commit_on() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit, b"later", TIMER_DELAY_SEC="3")
    kit.run(5_000)
    assert kit.bodies("rmq_sys_wheel_timer") == []
    assert end(kit, half, COMMIT).code == 0
    kit.run(2_900)
    assert kit.bodies(queue_id=1) == []
    kit.run(1_500)
    assert kit.bodies(queue_id=1) == [b"later"]


def test_a_time_that_is_too_far_ahead_is_refused_and_the_half_stays_open() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit, b"much later", TIMER_DELAY_SEC="999999999")
    assert end(kit, half, COMMIT).code == 13
    assert open_ones(kit).open_count == 1
    assert end(kit, half, ROLLBACK).code == 0


def test_with_synchronous_flush_an_answer_waits_for_the_disk() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    halves = [begin(kit, b"%d" % number, f"id-{number}") for number in range(2)]
    for half, what in zip(halves, (COMMIT, ROLLBACK), strict=True):
        kit.tell(END, end_fields(half, what))
    kit.tick(5)
    kit.tick(5)
    assert kit.heard() == []
    assert kit.bodies(queue_id=1) == []
    kit.finish()
    assert [answer.code for answer in kit.heard(CLIENT)] == [0, 0]
    assert kit.bodies(queue_id=1) == [b"0"]
    after = kit.power_cut()
    assert after.bodies(queue_id=1) == [b"0"]


def outcomes(kit: BrokerKit) -> list[object]:
    """Commits and rollbacks, as they are shown."""
    names = ("rocketmq_commit_messages_total", "rocketmq_rollback_messages_total")
    shown = {
        metric.name: [sample.value for sample in metric.samples]
        for metric in kit.broker.watch.metrics(kit.clock.now())
        if metric.name in names
    }
    return [value for name in names for value in shown[name]]


@pytest.mark.parametrize("is_short", [True, False])
def test_ends_are_counted_once_by_either_way(is_short: bool) -> None:
    kit = BrokerKit(ORDERS)
    halves = [begin(kit, b"%d" % number, f"id-{number}") for number in range(3)]
    wanted = [(halves[0], UNKNOWN), (halves[0], COMMIT), (halves[1], COMMIT), (halves[0], COMMIT)]
    for half, what in [*wanted, (halves[2], ROLLBACK)]:
        if is_short:
            kit.tell(END, end_fields(half, what), flag=2)
            kit.finish()
        else:
            end(kit, half, what)
    assert outcomes(kit) == [2, 1]
