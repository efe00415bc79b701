from aerobee.protocol.bodies.batch_ack import BatchAck, BatchAckEntry, encode_batch_ack
from tests.pop_kit import INVISIBLE_MS, Got, PopKit


def entry(got: list[Got], *distances: int, **other: object) -> BatchAckEntry:
    receipt = got[0].receipt
    said: dict[str, object] = {
        "group": "g",
        "topic": got[0].message.topic,
        "origin": receipt.origin,
        "start_offset": receipt.start_offset,
        "queue_id": receipt.queue_id,
        "revive_queue": receipt.revive_queue,
        "pop_time": receipt.pop_time,
        "invisible_ms": receipt.invisible_ms,
        "distances": distances,
        **other,
    }
    return BatchAckEntry(**said)  # type: ignore[arg-type]


def batch(kit: PopKit, *entries: BatchAckEntry) -> int:
    return kit.ask(200151, body=encode_batch_ack(BatchAck("broker-a", entries))).code


def test_what_is_acknowledged_does_not_come_back() -> None:
    kit = PopKit()
    kit.fill(3)
    got = kit.pop()
    assert [kit.ack(one) for one in got[:2]] == [0, 0]
    kit.run(INVISIBLE_MS + 2_000)
    again = kit.pop()
    assert [one.body for one in again] == [b"m2"]
    assert kit.ack(again[0]) == 0
    kit.run(INVISIBLE_MS + 2_000)
    assert kit.pop() == []


def test_an_acknowledgement_that_comes_too_late_does_no_harm() -> None:
    kit = PopKit()
    kit.fill(1)
    got = kit.pop()
    kit.run(INVISIBLE_MS + 2_000)
    assert kit.ack(got[0]) == 0
    assert kit.bodies_popped() == [b"m0"]


def test_a_batch_acknowledges_what_its_bits_say() -> None:
    kit = PopKit()
    kit.fill(5)
    got = kit.pop()
    assert batch(kit, entry(got, 0, 2, 4)) == 0
    kit.run(INVISIBLE_MS + 2_000)
    assert kit.bodies_popped() == [b"m1", b"m3"]


def test_a_batch_names_the_topic_that_was_asked_for_and_where_its_messages_lie() -> None:
    kit = PopKit()
    kit.fill(2)
    kit.pop()
    kit.run(INVISIBLE_MS + 2_000)
    again = kit.pop()
    assert [one.topic for one in again] == ["%RETRY%g_Orders"] * 2
    assert batch(kit, entry(again, 0, topic="Orders")) == 0
    kit.run(INVISIBLE_MS + 2_000)
    assert kit.bodies_popped() == [b"m1"]


def test_a_batch_with_a_fault_acknowledges_the_rest() -> None:
    kit = PopKit(queues=2)
    kit.fill(1, 0)
    kit.fill(1, 1, first=1)
    got = kit.pop()
    entries = [entry([one], 0) for one in got]
    assert batch(kit, entry(got, 0, topic="None"), *entries) == 17
    kit.run(INVISIBLE_MS + 2_000)
    assert kit.pop() == []


def test_a_batch_of_nothing_is_refused() -> None:
    kit = PopKit()
    kit.fill(1)
    got = kit.pop()
    assert batch(kit) == 208
    assert batch(kit, entry(got)) == 208
    assert batch(kit, entry(got, 40)) == 208


def test_ordered_messages_are_acknowledged_in_any_order() -> None:
    kit = PopKit()
    kit.fill(4)
    got = kit.pop(order="true", maxMsgNums=3)
    assert kit.ack(got[1]) == 0
    assert kit.committed() == 0
    assert kit.ack(got[0]) == 0
    assert kit.committed() == 2
    assert kit.pop(order="true") == []
    assert batch(kit, entry(got, 2)) == 0
    assert kit.committed() == 3
    assert kit.bodies_popped(order="true") == [b"m3"]


def test_an_ordered_acknowledgement_wakes_who_waits() -> None:
    kit = PopKit()
    kit.fill(2)
    (got,) = kit.pop(order="true", maxMsgNums=1)
    kit.wait_for_pop(order="true")
    kit.run(500)
    assert kit.answered() == []
    kit.tell(200051, kit.ack_fields(got))
    codes = [answer.code for answer in kit.heard()]
    assert codes == [0, 0]
    assert kit.committed() == 1


def test_who_waits_for_an_ordered_queue_is_woken_when_its_time_is_over() -> None:
    kit = PopKit()
    kit.fill(1)
    kit.pop(order="true")
    kit.wait_for_pop(order="true")
    kit.run(INVISIBLE_MS - 200)
    assert kit.answered() == []
    kit.run(400)
    assert kit.answered() == [[b"m0"]]


def test_an_ordered_acknowledgement_of_another_message_is_refused() -> None:
    kit = PopKit()
    kit.fill(3)
    (got,) = kit.pop(order="true", maxMsgNums=1)
    assert kit.ack(got, offset=2) == 13
    assert kit.committed() == 0


def test_an_old_ordered_acknowledgement_does_not_set_the_group_back() -> None:
    kit = PopKit()
    kit.fill(2)
    (got,) = kit.pop(order="true", maxMsgNums=1)
    kit.ack(got)
    kit.run(100)
    (other,) = kit.pop(order="true", maxMsgNums=1)
    assert kit.ack(got) == 0
    assert kit.committed() == 1
    assert kit.ack(other) == 0
    assert kit.committed() == 2
