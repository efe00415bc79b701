"""Unit tests of single messages, by place and by key."""

from aerobee.service.broker.admin.broker.query_handlers import QueryHandlers
from aerobee.service.broker.request_table import request_table
from tests.captured import captured
from tests.consumer_kit import ConsumerKit, messages
from tests.store_kit import draft, properties

BY_KEY = {"topic": "Orders", "beginTimestamp": "0", "endTimestamp": str(2**63 - 1)}


def test_a_message_is_found_by_its_place() -> None:
    kit = ConsumerKit()
    place = kit.store_messages(3)[1]
    answer = kit.ask(33, {"offset": str(place), "topic": "Orders"})
    assert answer.code == 0
    assert [message.body for message in messages(answer)] == [b"1"]
    assert not answer.ext_fields


def test_a_place_without_a_message_is_refused_as_apache_does() -> None:
    kit = ConsumerKit()
    place = kit.store_messages(3)[1]
    for offset in (place + 1, -1, 2**63 - 1):
        answer = kit.ask(33, {"offset": str(offset)})
        assert (answer.code, answer.remark) == (1, f"can not find message by the offset, {offset}")
        assert not answer.body
    (recorded, *_) = [one for one in captured("VIEW_MESSAGE_BY_ID", "response") if one.code == 1]
    assert recorded.remark == "can not find message by the offset, 68719476735"


def test_messages_are_found_by_key_newest_first() -> None:
    kit = ConsumerKit()
    kit.store_messages(3)
    places = kit.store_messages(3)
    now_ms = kit.clock.now().wall_ms
    answer = kit.ask(12, {**BY_KEY, "key": "key1", "maxNum": "32"})
    assert answer.code == 0
    found = messages(answer)
    assert [message.body for message in found] == [b"1", b"1"]
    assert found[0].queue_offset > found[1].queue_offset
    assert answer.ext_fields == {
        "indexLastUpdateTimestamp": str(now_ms - 1),
        "indexLastUpdatePhyoffset": str(places[1]),
    }


def test_as_many_are_shown_as_are_asked_for_and_more_of_a_unique_id() -> None:
    kit = ConsumerKit()
    for _ in range(3):
        kit.store_messages(1)
    fields = {**BY_KEY, "key": "key0", "maxNum": "2"}
    assert len(messages(kit.ask(12, fields))) == 2
    assert kit.ask(12, {**fields, "maxNum": "0"}).code == 22
    assert kit.ask(12, {**fields, "maxNum": "-5"}).code == 22
    by_id = {**fields, "key": "id0", "_UNIQUE_KEY_QUERY": "true", "maxNum": "1"}
    assert len(messages(kit.ask(12, by_id))) == 3
    assert len(messages(kit.ask(12, {**fields, "maxNum": str(2**31 - 1)}))) == 3


def test_a_key_that_nobody_has_is_not_found_as_by_apache() -> None:
    kit = ConsumerKit()
    kit.store_messages(3)
    answer = kit.ask(12, {**BY_KEY, "key": "none", "maxNum": "32"})
    (recorded, *_) = [one for one in captured("QUERY_MESSAGE", "response") if one.code == 22]
    assert (answer.code, answer.remark, answer.ext_fields) == (
        recorded.code,
        recorded.remark,
        recorded.ext_fields,
    )
    late = {**BY_KEY, "key": "key1", "maxNum": "32", "beginTimestamp": str(2**62)}
    assert kit.ask(12, late).code == 22


def test_an_answer_stays_small_enough_for_its_client() -> None:
    kit = ConsumerKit()
    for _ in range(4):
        kit.store_messages(1)
    fields = {**BY_KEY, "key": "key0", "maxNum": "32"}
    size = len(kit.ask(12, fields).body) // 4
    for bytes_max, count in ((3 * size, 3), (3 * size - 1, 2), (1, 1)):
        kit.table |= request_table(QueryHandlers(kit.store, bytes_max).rows())
        assert len(messages(kit.ask(12, fields))) == count


def test_captured_questions_are_taken() -> None:
    for command in captured("QUERY_MESSAGE", "request"):
        kit = ConsumerKit()
        topic, key = command.ext_fields["topic"], command.ext_fields["key"]
        begin = int(command.ext_fields["beginTimestamp"])
        kit.clock.jump_wall(begin + 1 - kit.clock.now().wall_ms)
        kit.kit.append(draft(topic.encode(), 0, b"found", properties(KEYS=key)))
        kit.store.dispatch()
        (message,) = messages(kit.ask(12, command.ext_fields))
        assert message.body == b"found"


def test_a_key_of_another_topic_with_the_same_hash_shows_nothing_of_it() -> None:
    # Java's hash of "OrdersAa#key0" and "OrdersBB#key0" is the same.
    kit = ConsumerKit()
    kit.store_messages(1, topic="OrdersAa")
    fields = {**BY_KEY, "key": "key0", "maxNum": "32"}
    assert kit.ask(12, {**fields, "topic": "OrdersAa"}).code == 0
    assert kit.ask(12, {**fields, "topic": "OrdersBB"}).code == 22
