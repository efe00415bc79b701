import pytest

from aerobee.model.properties import PRODUCER_MARK
from aerobee.protocol.message.message_batch import batch_entries
from aerobee.protocol.message.producer_mark import encode_follower
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.deduplication.log_replay import replay_log
from tests.broker_kit import SYNC, BrokerKit
from tests.once_kit import (
    ORDERS,
    batch_body,
    mark_text,
    open_producer,
    open_task,
    send_batch_once,
    send_once,
    send_rows,
)
from tests.store_kit import draft, properties


def replayed(kit: BrokerKit) -> KnownProducers:
    known = KnownProducers()
    replay_log(kit.store, kit.store.min_offset, known)
    return known


def test_the_log_tells_what_was_stored_and_where() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 3)
    send_batch_once(kit, 4, [b"a", b"b"])
    send_batch_once(kit, 6, [b"c", b"d"], follow=False)
    send_once(kit, 0, queue=2)
    known = replayed(kit)
    assert known.last_sequences("P", "Orders") == open_producer(kit)[1] == {1: 7, 2: 0}
    seen = known.find("P", "Orders", 1)
    assert seen is not None
    (message,) = [one for one in kit.messages(queue_id=1) if one.body == b"b"]
    assert seen.place(5) == (message.queue_offset, message.log_offset)


def test_a_delayed_message_counts_where_it_belongs_and_once() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 0, extra="DELAY\x011\x02")
    (waiting,) = kit.messages("SCHEDULE_TOPIC_XXXX", 0)
    kit.run(3000)
    assert kit.bodies(queue_id=1) == [b"a body"]
    seen = replayed(kit).find("P", "Orders", 1)
    assert seen is not None
    assert seen.place(0) == (waiting.queue_offset, waiting.log_offset)


def test_a_message_that_waits_and_does_not_say_for_which_queue_is_passed_over() -> None:
    kit = BrokerKit(ORDERS)
    for queue in ("", "x", "\u00b2", "1000000000"):
        text = properties(
            **{PRODUCER_MARK: mark_text(7), "REAL_TOPIC": "Orders", "REAL_QID": queue}
        )
        kit.store.append(draft(b"SCHEDULE_TOPIC_XXXX", 0, b"waits", text), 1)
    kit.finish()
    assert len(replayed(kit)) == 0


def test_a_copy_elsewhere_is_passed_over() -> None:
    kit = BrokerKit(ORDERS)
    text = properties(**{PRODUCER_MARK: mark_text(7)})
    kit.store.append(draft(b"%RETRY%g", 0, b"copy", text), 1)
    kit.store.append(draft(b"Orders", 2, b"forwarded", text), 1)
    kit.store.append(draft(b"Orders", 1, b"no mark", properties(**{PRODUCER_MARK: "x"})), 1)
    kit.store.append(draft(b"Orders", 1, f"{PRODUCER_MARK}\x01".encode()), 1)
    kit.finish()
    assert len(replayed(kit)) == 0


def test_messages_of_a_topic_that_was_deleted_are_passed_over() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 0)
    send_once(kit, 1, extra="DELAY\x013\x02")  # it waits, and will not be delivered
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.run(3000)
    kit.make_topic(ORDERS)
    epoch, last = open_producer(kit)
    assert last == replayed(kit).last_sequences("P", "Orders") == {}
    send_once(kit, 2, extra="DELAY\x013\x02", epoch=epoch)
    seen = replayed(kit).find("P", "Orders", 1)
    assert seen is not None
    assert seen.runs() == [2, 3]


def test_of_a_batch_that_was_cut_in_two_only_what_is_there_is_known() -> None:
    kit = BrokerKit(ORDERS, storage=SYNC)
    left = draft(b"Orders", 1, b"".join(batch_entries(batch_body(4, [b"a", b"b", b"c"]))[:2]))
    left.is_batch = True
    kit.store.append(left, 1)
    # Whatever comes where the rest of it was: it is not that.
    kit.store.append(draft(b"Orders", 1, b"another's"), 1)
    kit.finish()
    kit = kit.power_cut()
    seen = replayed(kit).find("P", "Orders", 1)
    assert seen is not None
    assert seen.runs() == [4, 6]
    assert send_batch_once(kit, 4, [b"a", b"b", b"c"], quiet=True).code == 0
    assert kit.bodies(queue_id=1) == [b"a", b"b", b"another's", b"c"]
    again = replayed(kit).find("P", "Orders", 1)
    assert again is not None
    assert again.runs() == [4, 7]


@pytest.mark.parametrize("index", [1, 2, 3])
def test_a_copy_of_what_follows_another_is_passed_over(index: int) -> None:
    kit = BrokerKit(ORDERS)
    send_batch_once(kit, 4, [b"a", b"b"])
    follower = properties(**{PRODUCER_MARK: encode_follower(index)})
    now_ms = kit.messages(queue_id=1)[0].store_timestamp
    for topic, queue_id in ((b"Orders", 1), (b"Orders", 3), (b"%RETRY%g", 0)):
        kit.store.append(draft(topic, queue_id, b"a copy", follower), now_ms)
    kit.finish()
    assert [one.queue_offset for one in kit.messages(queue_id=1)] == [0, 1, 2]
    assert replayed(kit).last_sequences("P", "Orders") == {1: 5}


@pytest.mark.parametrize(
    ("other", "last"), [("", 5), ("place", 4), ("connection", 4), ("born", 4), ("stored", 4)]
)
def test_only_what_came_with_the_first_and_lies_behind_it_follows_it(other: str, last: int) -> None:
    kit = BrokerKit(ORDERS)
    entries = batch_entries(batch_body(4, [b"a", b"b", b"c"]))
    first = draft(b"Orders", 1, entries[0])
    second = draft(b"Orders", 1, entries[2 if other == "place" else 1])
    first.is_batch = second.is_batch = True
    if other == "connection":
        second.born_host = bytes((10, 0, 0, 9)) + (40_001).to_bytes(4, "big")
    if other == "born":
        second.born_timestamp += 1
    kit.store.append(first, 1_800_000_000_000)
    kit.store.append(second, 1_800_000_000_000 + (other == "stored"))
    kit.finish()
    assert replayed(kit).last_sequences("P", "Orders") == {1: last}


def test_messages_of_rounds_that_are_finished_are_passed_over() -> None:
    kit = BrokerKit(ORDERS)
    for producer, round_id in (("w/0", 3), ("w/0", 4), ("w/1", 5), ("v/0", 4), ("w/t0", 4)):
        open_task(kit, producer, round_id)
        assert send_rows(kit, producer, round_id << 20, [b"a", b"b"]).code == 0
    known = KnownProducers()
    known.finished.add_write("w", "Orders", 4, 9 << 20, 100)
    assert replay_log(kit.store, kit.store.min_offset, known) == 6
    assert sorted(name for name, _ in known.all()) == ["v/0", "w/1", "w/t0"]
