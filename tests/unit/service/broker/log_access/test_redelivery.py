from dataclasses import replace

import pytest

from aerobee.errors import Misuse
from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset
from aerobee.model.properties import PROPERTIES_BYTES_MAX
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import RecordWriter
from aerobee.protocol.message.stored_message import decode_record, encode_record
from aerobee.service.broker.log_access.real_topic import Undeliverable
from aerobee.service.broker.log_access.redelivery import Redelivery, are_whole
from tests.delay_kit import CONFIG, message
from tests.store_kit import StoreKit, read_all
from tests.store_kit import draft as message_draft

NOW_MS = 1_800_000_000_000
ROOMY = replace(CONFIG, log_file_bytes=1 << 18)


class Rig:
    def __init__(self) -> None:
        self.kit = StoreKit(config=ROOMY)
        self.redelivery = Redelivery(self.kit.store.appender)

    def deliver(self, record: bytes, more: bytes = b"") -> None:
        self.redelivery.read(memoryview(record))
        self.redelivery.put(more, NOW_MS)
        self.redelivery.let_go()

    def delivered(self) -> list[StoredMessage]:
        self.kit.store.dispatch()
        return [
            one
            for queue in self.kit.store.queues()
            for one in read_all(self.kit.store, queue.topic, queue.queue_id)
        ]


def delivered(waiting: StoredMessage, *, with_crc: bool = True) -> StoredMessage:
    """What a message becomes that waits in the schedule topic."""
    rig = Rig()
    rig.deliver(encode_record(waiting, with_crc=with_crc))
    (found,) = rig.delivered()
    return found


def waiting(**properties: str) -> StoredMessage:
    said = {"REAL_TOPIC": "Orders", "REAL_QID": "3", "DELAY": "2", "TAGS": "a", **properties}
    return message(b"body", "SCHEDULE_TOPIC_XXXX", 1, **said)


def record_of(text: bytes) -> bytes:
    """A record with this very properties text."""
    draft = MessageDraft()
    draft.topic = b"SCHEDULE_TOPIC_XXXX"
    draft.set_properties(text)
    return RecordWriter(bytes(8), with_crc=False).encode(draft, 0, 0, 0)


@pytest.mark.parametrize("with_crc", [True, False])
def test_the_copy_is_the_message_in_its_own_topic_and_queue(with_crc: bool) -> None:
    before = replace(waiting(), flag=7, sys_flag=0x201, reconsume_times=4)
    after = delivered(before, with_crc=with_crc)
    assert (after.topic, after.queue_id, after.queue_offset) == ("Orders", 3, 0)
    assert after.store_timestamp == NOW_MS
    kept = ("body", "properties", "born_timestamp", "born_host", "flag", "sys_flag")
    for field in (*kept, "reconsume_times"):
        assert getattr(after, field) == getattr(before, field), field


def test_one_message_gets_nothing_of_the_one_before_it() -> None:
    rig = Rig()
    given = [
        replace(waiting(), born_host=Host("10.0.0.1", 1), body=b"long" * 30, flag=3),
        replace(waiting(REAL_TOPIC="Refunds"), born_host=Host("2001:db8::7", 9), body=b""),
        replace(waiting(REAL_QID="0"), born_host=Host("10.0.0.2", 1), sys_flag=1),
        replace(waiting(REAL_TOPIC="Refunde"), born_host=Host("10.0.0.2", 2)),
    ]
    for one in given:
        rig.deliver(encode_record(one))
    found = {(one.topic, one.queue_id): one for one in rig.delivered()}
    for one in given:
        place = one.properties["REAL_TOPIC"], QueueId(int(one.properties["REAL_QID"]))
        after = found[place]
        assert (after.body, after.flag, after.born_host) == (one.body, one.flag, one.born_host)
        assert after.sys_flag & 1 == one.sys_flag & 1


def test_a_committed_message_stays_one_and_forgets_its_half() -> None:
    before = replace(waiting(), sys_flag=0x8, prepared_offset=LogOffset(77))
    after = delivered(before)
    assert (after.sys_flag, after.prepared_offset) == (0x8, 0)


@pytest.mark.parametrize(
    "properties",
    [
        {"REAL_TOPIC": "RMQ_SYS_TRANS_HALF_TOPIC"},
        {"REAL_TOPIC": "SCHEDULE_TOPIC_XXXX"},
        {"REAL_TOPIC": "rmq_sys_wheel_timer"},
        {"REAL_QID": "-1"},
        {"REAL_QID": "x"},
        {"REAL_QID": "9" * 20},
    ],
)
def test_a_message_that_cannot_go_where_it_says_is_refused(properties: dict[str, str]) -> None:
    rig = Rig()
    rig.deliver(encode_record(waiting()))
    end = rig.kit.store.end_offset
    for _ in range(2):
        with pytest.raises(Undeliverable):
            rig.deliver(encode_record(waiting(**properties)))
    assert rig.kit.store.end_offset == end
    assert rig.redelivery.stored == 1


@pytest.mark.parametrize("missing", ["REAL_TOPIC", "REAL_QID"])
def test_a_message_that_does_not_say_where_it_belongs_is_refused(missing: str) -> None:
    before = waiting()
    del before.properties[missing]
    with pytest.raises(Undeliverable):
        delivered(before)


@pytest.mark.parametrize("properties", [{"REAL_TOPIC": "../etc"}, {"REAL_QID": "4096"}])
def test_a_place_that_no_queue_can_have_is_refused_by_the_store(
    properties: dict[str, str],
) -> None:
    with pytest.raises(Misuse):
        delivered(waiting(**properties))


PLACE = b"REAL_TOPIC\x01Orders\x02REAL_QID\x010\x02"


@pytest.mark.parametrize("text", [PLACE + b"TAGS\x01a", PLACE + b"TAGS\x01a\x02"])
def test_what_is_added_stands_behind_a_text_that_is_ended(text: bytes) -> None:
    rig = Rig()
    rig.deliver(record_of(text), b"N\x011\x02")
    (found,) = rig.delivered()
    raw = rig.kit.store.record_at(found.log_offset)
    assert raw is not None
    assert PLACE + b"TAGS\x01a\x02N\x011\x02" in bytes(raw)


@pytest.mark.parametrize(("spare", "is_added"), [(0, False), (4, False), (5, True)])
def test_what_has_no_room_is_not_added(spare: int, is_added: bool) -> None:
    """Room for `N␁11␂` and for the CRC that the copy ends in."""
    size = PROPERTIES_BYTES_MAX - 20 - spare - len(PLACE) - 3
    rig = Rig()
    rig.deliver(record_of(PLACE + b"F\x01" + b"x" * size + b"\x02"), b"N\x0111\x02")
    (found,) = rig.delivered()
    assert ("N" in found.properties) == is_added
    assert len(found.properties["F"]) == size


def test_a_text_that_can_be_stored_no_more_is_refused() -> None:
    rig = Rig()
    text = PLACE + b"F\x01" + b"x" * (PROPERTIES_BYTES_MAX - len(PLACE) - 2)
    with pytest.raises(Misuse):
        rig.deliver(record_of(text), b"N\x0111\x02")


def test_keys_are_the_topic_and_the_unique_id() -> None:
    rig = Rig()
    given = waiting(UNIQ_KEY="id", TIMER_DEL_UNIQKEY="Orders+other")
    rig.redelivery.read(memoryview(encode_record(given)))
    assert rig.redelivery.key() == b"Orders+id"
    assert rig.redelivery.delete_key() == b"Orders+other"


def test_a_run_stops_at_a_message_that_is_refused_and_goes_on_behind_it() -> None:
    many = [
        replace(waiting(), queue_offset=QueueOffset(5), body=b"0"),
        replace(waiting(REAL_QID="x"), queue_offset=QueueOffset(6), body=b"1"),
        replace(waiting(), queue_offset=QueueOffset(8), body=b"2"),
        replace(waiting(), queue_offset=QueueOffset(9), body=b"3"),
    ]
    records = [encode_record(one, with_crc=True) for one in many]
    rig = Rig()
    run = rig.redelivery
    run.begin(memoryview(b"".join(records)))
    with pytest.raises(Undeliverable):
        run.run(9, NOW_MS)
    assert (run.record.queue_offset, run.next_offset, run.count_run) == (6, 6, 1)
    run.pass_over()
    assert not run.is_over()
    run.run(9, NOW_MS)
    assert run.is_over()
    assert (run.next_offset, run.count_run) == (9, 3)
    assert run.bytes_run == sum(map(len, records[:3]))
    assert [one.body for one in rig.delivered()] == [b"0", b"2"]


def test_of_a_topic_that_was_deleted_since_nothing_is_stored_again() -> None:
    rig = Rig()
    store = rig.kit.store
    rig.kit.append(message_draft(b"Kept"))
    store.delete_topic(b"Orders")
    deleted_at = store.end_offset
    rig.kit.settle()
    given = [
        replace(waiting(), log_offset=LogOffset(deleted_at - 1), body=b"of the first"),
        replace(waiting(), log_offset=LogOffset(deleted_at), body=b"of the second"),
        replace(waiting(REAL_TOPIC="Refunds"), log_offset=LogOffset(0), body=b"of another"),
    ]
    given = [replace(one, queue_offset=QueueOffset(n)) for n, one in enumerate(given)]
    for one, is_dead in zip(given, (True, False, False), strict=True):
        rig.redelivery.read(memoryview(encode_record(one)))
        assert rig.redelivery.is_dead() == is_dead
    run = rig.redelivery
    run.begin(memoryview(b"".join(map(encode_record, given))))
    run.run(9, NOW_MS)
    assert (run.is_over(), run.next_offset, run.count_run, run.stored) == (True, 3, 3, 2)
    found = {one.topic: one.body for one in rig.delivered() if one.topic != "Kept"}
    assert found == {"Orders": b"of the second", "Refunds": b"of another"}


def test_a_record_that_names_no_topic_is_of_none_that_was_deleted() -> None:
    rig = Rig()
    rig.redelivery.read(memoryview(record_of(b"TAGS\x01a\x02")))
    with pytest.raises(Undeliverable):
        rig.redelivery.is_dead()


def test_whole_records_are_told_from_others() -> None:
    record = encode_record(waiting())
    assert decode_record(record).body == b"body"
    assert are_whole(memoryview(b""))
    assert are_whole(memoryview(record * 3))
    assert not are_whole(memoryview(record * 2)[:-1])
    assert not are_whole(memoryview(record + b"\x00" * 8))
