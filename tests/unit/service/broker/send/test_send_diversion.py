"""Through a broker: what is diverted in place, how it is stored and answered, and what is left to
the general handler. That both ways store the same bytes is in `tests/property`.
"""

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.recall_handle import RecallHandle, encode_recall_handle
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from tests.broker_kit import BrokerKit
from tests.send_rig import is_taken, send_frame
from tests.transaction_kit import HALF, ORDERS, open_ones

SCHEDULE, TIMER = "SCHEDULE_TOPIC_XXXX", "rmq_sys_wheel_timer"


def text(**properties: str) -> str:
    named = {"UNIQ_KEY": "id-1", **properties}
    return "".join(f"{name}\x01{value}\x02" for name, value in named.items())


def later(kit: BrokerKit, ms: int) -> str:
    return str(kit.clock.now().wall_ms + ms)


def stored_as(kit: BrokerKit, said: dict[str, str]) -> tuple[str, dict[str, str], dict[str, str]]:
    """One send: the topic it went to, its properties there, the fields of its answer."""
    data = send_frame({"e": "2", **said})
    kit.send_frames(data)
    (answer,) = kit.heard()
    assert answer.code == 0, answer.remark
    for topic in (HALF, SCHEDULE, TIMER, "Orders"):
        for queue_id in range(18):
            for message in kit.messages(topic, queue_id):
                return f"{topic}/{queue_id}", message.properties, answer.ext_fields
    raise AssertionError("nowhere")


OURS = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true", "CLUSTER": "DefaultCluster"}
PLACE = {"REAL_TOPIC": "Orders", "REAL_QID": "2"}


def test_a_delayed_message_goes_to_its_level() -> None:
    kit = BrokerKit(ORDERS)
    place, properties, said = stored_as(kit, {"i": text(DELAY="3")})
    assert place == f"{SCHEDULE}/2"
    assert properties == {"UNIQ_KEY": "id-1", "DELAY": "3", **OURS, **PLACE}
    assert (said["queueId"], said["queueOffset"], said["transactionId"]) == ("2", "0", "id-1")
    assert "recallHandle" not in said


def test_a_half_goes_to_the_half_topic_and_is_open() -> None:
    kit = BrokerKit(ORDERS)
    sent = text(TRAN_MSG="true", PGROUP="sellers")
    place, properties, said = stored_as(kit, {"f": "4", "i": sent})
    assert place == f"{HALF}/0"
    assert properties == {
        "UNIQ_KEY": "id-1",
        "TRAN_MSG": "true",
        "PGROUP": "sellers",
        **OURS,
        **PLACE,
        "__transactionId__": "id-1",
    }
    (half,) = kit.messages(HALF)
    assert half.sys_flag == 0
    assert said["queueId"] == "2"
    (open_one,) = open_ones(kit).transactions
    assert (open_one.group, open_one.queue_offset) == ("sellers", 0)


@pytest.mark.parametrize("name", ["TIMER_DELIVER_MS", "TIMER_DELAY_MS", "TIMER_DELAY_SEC"])
def test_a_message_for_a_time_waits_for_its_tick_and_can_be_taken_back(name: str) -> None:
    kit = BrokerKit(ORDERS)
    kit.clock.jump_wall(-(kit.clock.now().wall_ms % 1000))
    deliver_ms = kit.clock.now().wall_ms + 8_000
    value = {"TIMER_DELIVER_MS": str(deliver_ms), "TIMER_DELAY_MS": "8000", "TIMER_DELAY_SEC": "8"}
    place, properties, said = stored_as(kit, {"i": text(**{name: value[name]})})
    assert place == f"{TIMER}/0"
    out_ms = deliver_ms - 1_000
    assert properties == {
        "UNIQ_KEY": "id-1",
        name: value[name],
        **OURS,
        "TIMER_OUT_MS": str(out_ms),
        **PLACE,
    }
    handle = RecallHandle("Orders", "broker-a", out_ms + 1, "id-1")
    assert said["recallHandle"] == encode_recall_handle(handle)


def test_an_answer_after_one_with_a_handle_has_none() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"i": text(TIMER_DELAY_MS="8000")}) + send_frame())
    with_handle, plain = kit.heard()
    assert "recallHandle" in with_handle.ext_fields
    assert "recallHandle" not in plain.ext_fields


def test_an_id_with_a_space_and_a_broker_with_one_have_no_handle() -> None:
    kit = BrokerKit(ORDERS)
    kit.send_frames(send_frame({"i": "UNIQ_KEY\x01a b\x02TIMER_DELAY_MS\x018000\x02"}))
    other = BrokerKit(ORDERS, identity=BrokerIdentity(name="broker a"))
    other.send_frames(send_frame({"i": text(TIMER_DELAY_MS="8000")}))
    for one in (kit, other):
        (answer,) = one.heard()
        assert (answer.code, "recallHandle" in answer.ext_fields) == (0, False)
        assert len(one.messages(TIMER)) == 1


TAKEN = [
    {"i": text(DELAY="1")},
    {"i": text(DELAY="18")},
    {"i": text(TIMER_DELAY_SEC="5")},
    {"i": text(TIMER_DELAY_MS="5000")},
    {"f": "4", "i": text(TRAN_MSG="true", PGROUP="g")},
    {"f": "5", "i": text(TRAN_MSG="true", PGROUP="g")},
    {"f": "0", "i": text(TRAN_MSG="true", PGROUP="g")},
    {"f": "4", "i": text(TRAN_MSG="true", PGROUP="g" * 120)},
]


@pytest.mark.parametrize("said", TAKEN)
def test_what_clients_send_is_taken(said: dict[str, str]) -> None:
    assert is_taken(BrokerKit(ORDERS), send_frame(said))


LEFT = [
    {"i": text(DELAY="0")},
    {"i": text(DELAY="03")},
    {"i": text(DELAY="19")},
    {"i": text(DELAY="x")},
    {"i": text(DELAY="-1")},
    {"i": text(DELAY="3", TIMER_DELAY_MS="5000")},
    {"i": text(DELAY="3") + "DELAY\x014\x02"},
    {"f": "4", "i": text(DELAY="3")},
    {"i": text(DELAY="3", REAL_TOPIC="x")},
    {"i": text(DELAY="3", REAL_QID="1")},
    {"i": text(TIMER_DELAY_MS="0")},
    {"i": text(TIMER_DELAY_MS="-5")},
    {"i": text(TIMER_DELAY_MS="1" * 16)},
    {"i": text(TIMER_DELIVER_MS="5")},
    {"i": text(TIMER_DELAY_SEC="99999999")},
    {"i": text(TIMER_DELAY_MS="5000", TIMER_OUT_MS="1")},
    {"i": text(TIMER_DELAY_MS="5000", TIMER_DEL_UNIQKEY="x")},
    {"i": text(TRAN_MSG="TRUE", PGROUP="g")},
    {"i": text(TRAN_MSG="false", PGROUP="g")},
    {"i": text(TRAN_MSG="true")},
    {"i": text(TRAN_MSG="true", PGROUP="g" * 121)},
    {"i": text(TRAN_MSG="true", PGROUP="gü")},
    {"i": text(TRAN_MSG="true", PGROUP="g") + "PGROUP\x01h\x02"},
    {"i": text(TRAN_MSG="true", PGROUP="g", DELAY="3")},
    {"i": text(TRAN_MSG="true", PGROUP="g", __transactionId__="x")},
    {"i": text(TRAN_MSG="true", PGROUP="g", TRANSACTION_CHECK_TIMES="1")},
    {"i": text(TRAN_MSG="true", PGROUP="g", TRAN_PREPARED_QUEUE_OFFSET="1")},
    {"i": text(TRAN_MSG="true", PGROUP="g", CHECK_IMMUNITY_TIME_IN_SECONDS="5")},
    {"i": text(TRAN_MSG="true", PGROUP="g", more="x" * 31_900)},
    {"f": "8", "i": text(TRAN_MSG="true", PGROUP="g")},
    {"j": "1", "i": text(TRAN_MSG="true", PGROUP="g")},
    {"m": "true", "i": text(TRAN_MSG="true", PGROUP="g")},
]


@pytest.mark.parametrize("said", LEFT)
def test_what_is_unusual_is_left_and_nothing_is_stored(said: dict[str, str]) -> None:
    kit = BrokerKit(ORDERS)
    end = kit.store.end_offset
    assert not is_taken(kit, send_frame(said))
    assert kit.store.end_offset == end
    assert open_ones(kit).open_count == 0


def test_a_tick_that_is_full_by_now_is_left() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(timer_slot_count_max=2))
    data = send_frame({"i": text(TIMER_DELIVER_MS=later(kit, 60_000))})
    for _ in range(2):
        assert is_taken(kit, data)
    kit.run(2_000)
    assert not is_taken(kit, data)


def test_halves_that_are_refused_are_left() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(rejects_transactions=True))
    assert not is_taken(kit, send_frame({"i": text(TRAN_MSG="true", PGROUP="g")}))


def test_times_are_left_where_nobody_keeps_them() -> None:
    kit = BrokerKit(ORDERS, config=BrokerConfig(keeps_timers=False))
    assert not is_taken(kit, send_frame({"i": text(TIMER_DELAY_MS="5000")}))


def test_a_topic_of_one_type_takes_that_and_leaves_the_rest() -> None:
    kit = BrokerKit(
        TopicConfig("Later", 4, 4, attributes={"message.type": "DELAY"}),
        TopicConfig("Trades", 4, 4, attributes={"message.type": "TRANSACTION"}),
    )
    half = {"f": "4", "i": text(TRAN_MSG="true", PGROUP="g")}
    for said, takes in (({"i": text(DELAY="3")}, "Later"), (half, "Trades"), ({}, "")):
        for topic in ("Later", "Trades"):
            assert is_taken(kit, send_frame({**said, "b": topic})) == (topic == takes)


def test_two_groups_by_turns_are_told_apart() -> None:
    kit = BrokerKit(ORDERS)
    for group in ("a", "bb", "a", "cc"):
        assert is_taken(kit, send_frame({"i": text(TRAN_MSG="true", PGROUP=group)}))
    groups = [one.group for one in open_ones(kit).transactions]
    assert groups == ["a", "bb", "a", "cc"]
