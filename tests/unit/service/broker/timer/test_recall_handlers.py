from dataclasses import replace

import pytest

from aerobee.model.topic import TopicConfig
from aerobee.protocol.message.recall_handle import (
    RecallHandle,
    decode_recall_handle,
    encode_recall_handle,
)
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from tests.broker_kit import STORAGE, SYNC, BrokerKit
from tests.timer_kit import TOLD
from tests.wire import JAVA_FIELDS

ORDERS = TopicConfig("Orders", 4, 4)
ID = "C00002021F384E0E2F2A49FAF0BA0001"
RECALLS = replace(TOLD, recalls=True)


def made(config: BrokerConfig = RECALLS) -> BrokerKit:
    return BrokerKit(ORDERS, config=config)


def send(kit: BrokerKit, delay_ms: int = 5_000, unique_id: str = ID) -> str:
    """A message for a time; the handle that takes it back."""
    text = f"UNIQ_KEY\x01{unique_id}\x02TIMER_DELAY_MS\x01{delay_ms}\x02"
    answer = kit.ask(310, {**JAVA_FIELDS, "i": text}, b"hello")
    assert answer.code == 0
    return answer.ext_fields["recallHandle"]


def recall(kit: BrokerKit, handle: str, topic: str = "Orders") -> RemotingCommand:
    return kit.ask(370, {"topic": topic, "recallHandle": handle, "producerGroup": "p"})


def handle_with(kit: BrokerKit, **changes: object) -> str:
    base = RecallHandle("Orders", "broker-a", kit.clock.now().wall_ms + 5_000, ID)
    return encode_recall_handle(replace(base, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("storage", [STORAGE, SYNC], ids=["async", "sync"])
def test_a_recalled_message_is_never_delivered(storage: object) -> None:
    kit = BrokerKit(ORDERS, config=RECALLS, storage=SYNC if storage is SYNC else STORAGE)
    handle = send(kit)
    other = ID[:-1] + "2"
    send(kit, unique_id=other)
    answer = recall(kit, handle)
    assert (answer.code, answer.ext_fields) == (0, {"msgId": ID, "MSG_REGION": "DefaultRegion"})
    kit.run(8_000)
    assert [message.unique_id for message in kit.messages(queue_id=1)] == [other]


def test_what_a_recall_stores_names_the_message_and_its_tick() -> None:
    kit = made()
    handle = send(kit)
    recall(kit, handle)
    (waiting, recalling) = kit.messages("rmq_sys_wheel_timer")
    assert recalling.properties == {
        "TAGS": "_RECALL_TAG_",
        "UNIQ_KEY": ID,
        "TIMER_DELIVER_MS": str(decode_recall_handle(handle).deliver_ms),
        "TIMER_DEL_UNIQKEY": f"Orders+{ID}",
        "TIMER_OUT_MS": waiting.properties["TIMER_OUT_MS"],
        "REAL_TOPIC": "Orders",
        "REAL_QID": "0",
    }


def test_a_recall_is_refused_unless_it_is_allowed() -> None:
    kit = made(TOLD)
    answer = recall(kit, send(kit))
    assert answer.code == 16
    assert "recallMessageEnable" in answer.remark
    kit.run(7_000)
    assert len(kit.bodies(queue_id=1)) == 1


def test_a_broker_that_may_not_be_written_to_takes_nothing_back() -> None:
    kit = made(replace(RECALLS, permission=4))
    assert recall(kit, handle_with(kit)).code == 14


def test_an_unknown_topic_has_nothing_to_recall() -> None:
    kit = made()
    assert recall(kit, handle_with(kit, topic="Nope"), "Nope").code == 17


@pytest.mark.parametrize(
    "changes", [{"topic": "Refunds"}, {"broker_name": "broker-b"}, {"deliver_ms": 5}]
)
def test_a_handle_that_does_not_fit_is_refused(changes: dict[str, object]) -> None:
    kit = made()
    assert recall(kit, handle_with(kit, **changes)).code == 604
    assert kit.store.end_offset == 0


def test_a_handle_of_now_or_of_too_far_ahead_is_refused() -> None:
    kit = made()
    now_ms = kit.clock.now().wall_ms
    assert recall(kit, handle_with(kit, deliver_ms=now_ms)).code == 604
    far_ms = now_ms + TOLD.timer_delay_ms_max
    assert recall(kit, handle_with(kit, deliver_ms=far_ms)).code == 604
    assert recall(kit, handle_with(kit, deliver_ms=far_ms - 1)).code == 0


@pytest.mark.parametrize("handle", ["", "?", "djEgYQ==", "v1 a b c d", "x" * 30_000])
def test_what_is_no_handle_is_refused(handle: str) -> None:
    assert recall(made(), handle).code == 604


def test_a_handle_is_given_out_for_messages_that_wait_and_only_for_those() -> None:
    kit = made()
    handle = decode_recall_handle(send(kit))
    assert handle == RecallHandle("Orders", "broker-a", handle.deliver_ms, ID)
    (waiting,) = kit.messages("rmq_sys_wheel_timer")
    assert handle.deliver_ms == int(waiting.properties["TIMER_OUT_MS"]) + 1
    for text in (
        "TIMER_DELAY_MS\x010\x02",
        "DELAY\x011\x02",
        "TIMER_DELAY_SEC\x011\x02DELAY\x011\x02",
    ):
        answer = kit.ask(310, {**JAVA_FIELDS, "i": f"UNIQ_KEY\x01{ID}\x02{text}"}, b"hello")
        assert answer.code == 0
        assert "recallHandle" not in answer.ext_fields
