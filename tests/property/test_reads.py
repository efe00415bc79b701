"""Reads with any limits: what comes back is what looking at one message after another gives."""

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from aerobee.protocol.primitives.java_hash import tag_code
from aerobee.storage.read.queue_read import QueueRead, ReadStatus
from aerobee.storage.read.queue_reader import UNITS_SCANNED_MIN
from tests.store_kit import EVERYTHING, SMALL, StoreKit, draft, messages_of, properties

TAGS = ("", "a", "b", "Aa", "BB")  # the last two have the same hash


class Placed(NamedTuple):
    """A message of a queue: where its record lies, and its tag."""

    log_offset: int
    size: int
    tag: str

    @property
    def end(self) -> int:
        return self.log_offset + self.size


class ExpectedRead(NamedTuple):
    messages: list[int]
    """Queue offsets."""
    slices: list[tuple[int, int]]
    """Log offset and size of each: neighbours in one file joined."""
    next_offset: int


def expected_read(
    queue: Sequence[Placed],
    offset: int,
    count_max: int,
    bytes_max: int,
    tags: frozenset[str] | None,
) -> ExpectedRead:
    """By looking at one message after another."""
    codes = None if tags is None else {tag_code(tag.encode()) for tag in tags}
    found: list[int] = []
    slices: list[tuple[int, int]] = []
    size = 0
    end = min(len(queue), offset + max(UNITS_SCANNED_MIN, count_max))
    while offset < end and len(found) < count_max:
        message = queue[offset]
        if found and size + message.size > bytes_max:
            break
        if codes is None or tag_code(message.tag.encode()) in codes:
            is_neighbour = (
                bool(slices)
                and sum(slices[-1]) == message.log_offset
                and message.log_offset % SMALL.log_file_bytes != 0
            )
            if is_neighbour:
                slices[-1] = (slices[-1][0], slices[-1][1] + message.size)
            else:
                slices.append((message.log_offset, message.size))
            found.append(offset)
            size += message.size
        offset += 1
    return ExpectedRead(found, slices, offset)


def check_read(read: QueueRead, expected: ExpectedRead, queue: Sequence[Placed]) -> None:
    """The read is the expected one, slice by slice."""
    messages = messages_of(read)
    assert [message.queue_offset for message in messages] == expected.messages
    assert [message.log_offset for message in messages] == [
        queue[offset].log_offset for offset in expected.messages
    ]
    assert [len(part) for part in read.slices] == [size for _, size in expected.slices]
    assert (read.count, read.size) == (len(messages), sum(len(part) for part in read.slices))
    assert read.next_offset == expected.next_offset
    assert (read.status == ReadStatus.FOUND) == bool(messages)
    assert not read.is_cold


class Sent(NamedTuple):
    queue_id: int
    body_size: int
    tag: str


sendings = st.lists(
    st.builds(
        Sent, st.integers(0, 1), st.sampled_from([0, 5, 30, 900, 2500]), st.sampled_from(TAGS)
    ),
    min_size=1,
    max_size=60,
)
tag_filters = st.one_of(st.none(), st.frozensets(st.sampled_from(TAGS)))
byte_limits = st.one_of(st.integers(0, 3000), st.just(EVERYTHING))
count_limits = st.one_of(st.integers(1, 10), st.just(1000))


def stored(sent: list[Sent]) -> tuple[StoreKit, list[list[Placed]]]:
    """A store that holds these messages, and both of its queues."""
    kit = StoreKit()
    queues: list[list[Placed]] = [[], []]
    for message in sent:
        text = properties(TAGS=message.tag) if message.tag else b""
        body = b"x" * message.body_size
        offset = kit.append(draft(b"Orders", message.queue_id, body, text))
        size = kit.store.end_offset - offset
        queues[message.queue_id].append(Placed(offset, size, message.tag))
    kit.store.dispatch()
    return kit, queues


@given(sendings, st.data())
def test_any_read_is_what_looking_at_one_message_after_another_gives(
    sent: list[Sent], data: st.DataObject
) -> None:
    kit, queues = stored(sent)
    if data.draw(st.booleans()):
        kit = kit.reopen()  # then everything is old, and checked
    for queue_id, queue in enumerate(queues):
        if not queue:
            continue
        offset = data.draw(st.integers(0, len(queue) - 1))
        count_max, bytes_max = data.draw(count_limits), data.draw(byte_limits)
        tags = data.draw(tag_filters)
        codes = None if tags is None else frozenset(tag_code(tag.encode()) for tag in tags)
        read = kit.store.read(b"Orders", queue_id, offset, count_max, bytes_max, codes)
        expected = expected_read(queue, offset, count_max, bytes_max, tags)
        check_read(read, expected, queue)
        assert read.count <= count_max
        assert read.size <= bytes_max or read.count == 1
        if tags is None:
            assert read.count >= 1, "at least one message, whatever the limits"


@given(sendings, count_limits, byte_limits, tag_filters)
def test_reading_on_from_each_answer_gives_every_message_once(
    sent: list[Sent], count_max: int, bytes_max: int, tags: frozenset[str] | None
) -> None:
    kit, queues = stored(sent)
    codes = None if tags is None else frozenset(tag_code(tag.encode()) for tag in tags)
    for queue_id, queue in enumerate(queues):
        seen: list[int] = []
        offset = 0
        while offset < len(queue):
            read = kit.store.read(b"Orders", queue_id, offset, count_max, bytes_max, codes)
            seen += [message.queue_offset for message in messages_of(read)]
            assert read.next_offset > offset
            offset = read.next_offset
        assert seen == expected_read(queue, 0, EVERYTHING, EVERYTHING, tags).messages
