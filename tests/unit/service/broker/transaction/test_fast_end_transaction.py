"""Through a broker: which ends are taken by the short way, and what comes of them. That both ways
store the same bytes is in `tests/property`.
"""

import pytest

from aerobee.errors import StoreBusy
from aerobee.model.message import StoredMessage
from aerobee.service.broker.transaction.open_halves import Half
from tests.broker_kit import SYNC, BrokerKit
from tests.send_rig import SendRig, end_frame, is_taken, send_frame
from tests.store_kit import draft, properties
from tests.transaction_kit import (
    COMMIT,
    HALF,
    ORDERS,
    ROLLBACK,
    TIMEOUT_MS,
    UNKNOWN,
    Begun,
    begin,
    checks,
    end_fields,
    join,
    open_ones,
    over,
)


def end_by(kit: BrokerKit, half: Begun, what: int, **changes: str) -> bool:
    """Whether an end that nobody waits for is taken by the short way."""
    return is_taken(kit, end_frame(end_fields(half, what, **changes)))


def committed(kit: BrokerKit) -> StoredMessage:
    return kit.messages(queue_id=1)[-1]


@pytest.mark.parametrize("is_binary", [False, True])
def test_a_commit_makes_the_message_seen(is_binary: bool) -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame())
    kit.heard()
    half = begin(kit, b"order", TAGS="A")
    assert half.log_offset > 0
    assert is_taken(kit, end_frame(end_fields(half, COMMIT), is_binary=is_binary))
    message = committed(kit)
    assert (message.body, message.sys_flag) == (b"order", COMMIT)
    assert message.prepared_offset == half.log_offset
    assert message.born_host == ("10.0.0.9", 40_001)
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
    assert open_ones(kit).open_count == 0
    kit.finish()
    assert over(kit) == [b"0,"]


def test_a_rollback_makes_it_never_seen() -> None:
    kit = BrokerKit(ORDERS)
    assert end_by(kit, begin(kit), ROLLBACK)
    kit.finish()
    assert (kit.bodies(queue_id=1), over(kit)) == ([], [b"0,"])


def test_a_second_end_is_left_and_changes_nothing() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    assert end_by(kit, half, ROLLBACK)
    assert not end_by(kit, half, COMMIT)
    kit.finish()
    assert (kit.bodies(queue_id=1), over(kit)) == ([], [b"0,"])


def test_ends_of_one_read_are_written_down_together() -> None:
    kit = BrokerKit(ORDERS)
    halves = [begin(kit, b"%d" % number, f"id-{number}") for number in range(3)]
    kit.send_frames(b"".join(end_frame(end_fields(half, COMMIT)) for half in halves))
    kit.finish()
    assert (kit.bodies(queue_id=1), over(kit)) == ([b"0", b"1", b"2"], [b"0,1,2,"])


def test_a_half_that_was_asked_about_ends_under_its_first_offset_and_all_of_it() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    join(kit)
    kit.run(TIMEOUT_MS + 100)
    assert len(checks(kit)) == 1
    assert end_by(kit, half, COMMIT)
    kit.finish()
    assert (kit.bodies(queue_id=1), over(kit)) == ([b"half"], [b"0,1,"])


def test_what_was_committed_is_over_when_it_is_on_the_disk_and_not_before() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    half = begin(kit)
    assert end_by(kit, half, COMMIT)
    log_end = kit.store.end_offset
    kit.tick()
    assert kit.store.end_offset == log_end, "nothing is written down yet"
    assert kit.power_cut().bodies(queue_id=1) == []
    kit.finish()
    kit.finish()  # what is over is written down in a tick, and on the disk after the next
    assert (kit.bodies(queue_id=1), over(kit)) == ([b"half"], [b"0,"])


@pytest.mark.parametrize(
    "changes",
    [
        {"producerGroup": "buyers"},
        {"producerGroup": "seller"},
        {"tranStateTableOffset": "1"},
        {"commitLogOffset": "1"},
        {"commitLogOffset": "99999"},
        {"commitOrRollback": "0"},
    ],
)
def test_an_end_that_does_not_fit_is_left_and_it_stays_open(changes: dict[str, str]) -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    end = kit.store.end_offset
    assert not end_by(kit, half, COMMIT, **changes)
    assert (kit.store.end_offset, open_ones(kit).open_count) == (end, 1)


@pytest.mark.parametrize(
    "properties",
    [
        {"DELAY": "3"},
        {"TIMER_DELAY_SEC": "8"},
        {"CHECK_IMMUNITY_TIME_IN_SECONDS": "60"},
    ],
)
def test_a_half_that_wants_more_is_left(properties: dict[str, str]) -> None:
    kit = BrokerKit(ORDERS)
    assert not end_by(kit, begin(kit, b"half", "id-1", **properties), COMMIT)
    assert open_ones(kit).open_count == 1


def test_an_end_that_somebody_waits_for_is_left() -> None:
    kit = BrokerKit(ORDERS)
    assert not is_taken(kit, end_frame(end_fields(begin(kit), COMMIT), flag=0))


def test_a_record_that_is_no_half_is_left() -> None:
    kit = BrokerKit(ORDERS)
    first, second = begin(kit, unique_id="a"), begin(kit, unique_id="b")
    assert end_by(kit, first, COMMIT)
    (message,) = kit.messages(queue_id=1)
    forged = second._replace(log_offset=message.log_offset)
    assert not end_by(kit, forged, COMMIT)
    # The place of one half, the offset of another.
    assert not end_by(kit, second._replace(log_offset=first.log_offset), COMMIT)


@pytest.mark.parametrize(
    ("topic", "queue", "is_left"),
    [
        ("Orders", "3", False),
        ("Orders", "4096", True),
        ("Orders", "1000000000", True),
        ("Orders", "-1", True),
        ("SCHEDULE_TOPIC_XXXX", "0", True),
        ("rmq_sys_wheel_timer", "0", True),
        (HALF, "0", True),
    ],
)
def test_a_half_with_a_place_that_the_general_handler_refuses_is_left(
    topic: str, queue: str, is_left: bool
) -> None:
    rig = SendRig(diverts=True)
    rig.entries[topic.encode()] = rig.entries[b"Orders"]
    rig.send(send_frame())
    half = Begun(0, rig.store.end_offset, "id-1")
    text = properties(PGROUP="sellers", REAL_TOPIC=topic, REAL_QID=queue)
    rig.store.append(draft(HALF.encode(), 0, b"half", text), 1)
    rig.store.dispatch()
    rig.halves.add(Half(0, "sellers", 0, 60_000), 6000)
    end = rig.store.end_offset
    assert rig.send(end_frame(end_fields(half, COMMIT))) is is_left
    assert (rig.store.end_offset == end) is is_left


def test_a_commit_into_a_topic_that_is_gone_is_left() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    assert not end_by(kit, half, COMMIT)
    assert open_ones(kit).open_count == 1


def test_what_the_store_refuses_is_left_and_stays_open() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    kit.store.appender.refusal = StoreBusy("busy")
    assert not end_by(kit, half, COMMIT)
    kit.store.appender.refusal = None
    assert end_by(kit, half, COMMIT)


def test_a_half_of_an_earlier_process_is_left() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    after = kit.restarted()
    assert not end_by(after, half, COMMIT)
    assert open_ones(after).open_count == 1


def test_unknown_is_left() -> None:
    kit = BrokerKit(ORDERS)
    half = begin(kit)
    assert not end_by(kit, half, UNKNOWN)
    assert len(kit.messages(HALF)) == 1
