from aerobee.model.properties import PRODUCER_MARK
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.deduplication.replay import replay
from tests.broker_kit import BrokerKit
from tests.once_kit import ORDERS, mark_text, open_producer, send_batch_once, send_once
from tests.store_kit import draft, properties


def replayed(kit: BrokerKit) -> KnownProducers:
    known = KnownProducers()
    replay(kit.store, kit.store.min_offset, known)
    return known


def test_the_log_tells_what_was_stored_and_where() -> None:
    kit = BrokerKit(ORDERS)
    send_once(kit, 3)
    send_batch_once(kit, 4, [b"a", b"b"])
    send_once(kit, 0, queue=2)
    known = replayed(kit)
    assert known.last_sequences("P", "Orders") == open_producer(kit)[1] == {1: 5, 2: 0}
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
    assert kit.ask(215, {"topic": "Orders"}).code == 0
    kit.run(3000)
    kit.make_topic(ORDERS)
    assert open_producer(kit)[1] == {}
    assert replayed(kit).last_sequences("P", "Orders") == {}
