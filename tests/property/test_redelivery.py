"""Messages that have waited, stored again in place, beside the same done in plain words:
whatever the record says, the bytes are the same, or both refuse it."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from aerobee.errors import AerobeeError
from aerobee.model.properties import (
    PROPERTIES_BYTES_MAX,
    REAL_TOPIC,
    TIMER_DELAY_MS,
    TIMER_DELAY_SECONDS,
    TIMER_DELETE_UNIQUE_KEY,
    TIMER_OUT_MS,
    UNIQUE_KEY,
    find_property,
)
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import Record, RecordWriter
from aerobee.protocol.message.stored_message import copy_to_draft, without_crc
from aerobee.protocol.message.waiting_properties import WaitingProperties
from aerobee.service.broker.log_access.real_topic import real_place
from aerobee.service.broker.log_access.redelivery import Redelivery
from tests.store_kit import SMALL, StoreKit

CONFIG = replace(SMALL, log_file_bytes=1 << 18)
NOW_MS = 1_700_000_009_000
CRC = b"__CRC32#\x010123456789\x02"
NAMES = [
    b"REAL_TOPIC",
    b"REAL_QID",
    b"UNIQ_KEY",
    b"TIMER_OUT_MS",
    b"TIMER_DELAY_MS",
    b"TIMER_DELAY_SEC",
    b"TIMER_DEL_UNIQKEY",
]
names = st.one_of(
    st.sampled_from(NAMES),
    st.sampled_from(NAMES).map(lambda name: name[:-1]),
    st.sampled_from([b"", b"TAGS", b"xREAL_QID", b"REAL_TOPID", b"UNIQ_KEX"]),
)
NUMBERS = [b"0", b"3", b"17", b"-1", b"4095", b"4096", b"9" * 9, b"1" * 10, b"9" * 15, b"9" * 16]
TOPICS = [b"Orders", b"Refunds", b"SCHEDULE_TOPIC_XXXX", b"a/b"]
values = st.sampled_from([*NUMBERS, *TOPICS, b"", b"1\x012", b"\xff"])
pairs = st.tuples(names, values).map(lambda pair: pair[0] + b"\x01" + pair[1] + b"\x02")
places = st.one_of(
    st.just(b""),
    st.sampled_from([b"Orders", b"Refunds"]).map(
        lambda topic: b"REAL_TOPIC\x01" + topic + b"\x02REAL_QID\x011\x02"
    ),
)
texts = st.tuples(
    st.lists(st.one_of(pairs, st.sampled_from([b"\x01", b"\x02", b"x"])), max_size=6).map(b"".join),
    places,
    st.lists(pairs, max_size=2).map(b"".join),
    st.sampled_from([b"", b"", b"open", CRC, b"x" + CRC, CRC[:-1]]),
).map(b"".join)
fillings = st.one_of(st.just(0), st.integers(PROPERTIES_BYTES_MAX - 300, PROPERTIES_BYTES_MAX))
mores = st.sampled_from([b"", b"N\x011\x02", b"TIMER_DEQUEUE_MS\x011\x02TIMER_ENQUEUE_MS\x012\x02"])
records = st.fixed_dictionaries(
    {
        "flag": st.integers(-5, 5),
        "sys_flag": st.sampled_from([0, 1, 8, 0x10, 0x11, 0x700]),
        "reconsume_times": st.integers(0, 3),
        "born_timestamp": st.integers(0, 1 << 41),
        "body": st.sampled_from([b"", b"body", b"x" * 300]),
    }
)
Fields = dict[str, int | bytes]


def record_of(fields: Fields, text: bytes, filling: int) -> bytes:
    draft = MessageDraft()
    draft.topic = b"rmq_sys_wheel_timer"
    for name, value in fields.items():
        if name != "body":
            setattr(draft, name, value)
    body = fields["body"]
    assert isinstance(body, bytes)
    draft.set_body(memoryview(body))
    sys_flag = fields["sys_flag"]
    assert isinstance(sys_flag, int)
    draft.born_host = bytes(range(20 if sys_flag & 0x10 else 8))
    spare = max(0, filling - len(text) - 3)
    draft.set_properties((b"F\x01" + b"f" * spare + b"\x02" if spare else b"") + text)
    writer = RecordWriter(bytes(8), with_crc=not text.endswith(CRC))
    return writer.encode(draft, 5, 77, NOW_MS)


def in_plain_words(view: memoryview, more: bytes) -> MessageDraft:
    """The draft of what is to be stored."""
    record = Record()
    assert record.read_from(view, 0) == 0
    start = record.properties_start
    text = without_crc(bytes(view[start : start + record.properties_size]))
    draft = MessageDraft()
    draft.topic, draft.queue_id = real_place(text)
    if more:
        text += b"" if not text or text.endswith(b"\x02") else b"\x02"
        if len(text) + len(more) <= PROPERTIES_BYTES_MAX - 20:
            text += more
    copy_to_draft(draft, record, view, text)
    return draft


@given(st.lists(st.tuples(records, texts, fillings), min_size=1, max_size=4), mores)
def test_what_is_stored_in_place_is_what_plain_words_would_store(
    many: list[tuple[Fields, bytes, int]], more: bytes
) -> None:
    ours, theirs = StoreKit(config=CONFIG), StoreKit(config=CONFIG)
    redelivery = Redelivery(ours.store.appender)
    for fields, text, filling in many:
        try:
            view = memoryview(record_of(fields, text, filling))
        except AerobeeError:
            continue  # no such record can be
        outcomes = []
        try:
            redelivery.read(view)
            redelivery.put(more, NOW_MS)
            outcomes.append("")
        except AerobeeError as error:
            outcomes.append(f"{type(error).__name__} {error}")
        try:
            theirs.store.append(in_plain_words(view, more), NOW_MS)
            outcomes.append("")
        except AerobeeError as error:
            outcomes.append(f"{type(error).__name__} {error}")
        assert outcomes[0] == outcomes[1]
    assert ours.store.end_offset == theirs.store.end_offset
    assert ours.disk.files() == theirs.disk.files()


def number(text: bytes | None, digits_max: int) -> int:
    return int(text) if text is not None and text.isdigit() and len(text) <= digits_max else -1


@given(texts)
def test_a_waiting_text_says_what_its_properties_say(text: bytes) -> None:
    said = WaitingProperties()
    said.read_from(memoryview(text))
    assert text[: said.size] == without_crc(text)
    assert said.queue_id == number(find_property(text, b"REAL_QID"), 9)
    assert said.out_ms == number(find_property(text, TIMER_OUT_MS.encode()), 15)
    delays = (TIMER_DELAY_MS, TIMER_DELAY_SECONDS)
    found = [find_property(text, name.encode()) for name in delays]
    assert said.is_delayed == any(one is not None for one in found)
    for name, start, size in (
        (REAL_TOPIC, said.topic_start, said.topic_size),
        (UNIQUE_KEY, said.key_start, said.key_size),
        (TIMER_DELETE_UNIQUE_KEY, said.delete_start, said.delete_size),
    ):
        assert text[start : start + size] == (find_property(text, name.encode()) or b"")
