from collections.abc import Sequence

import pyarrow as pa
import pytest

from aerobee.client.core.send.queue_choice import queue_for_key
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.sink.arrow_input import number_column, properties_column, text_column
from aerobee.pipeline.sink.column_readers import TextColumn
from aerobee.pipeline.sink.row_entries import (
    ENDED,
    FAULTS,
    FULL,
    SPECIAL,
    WRONG,
    QueueLane,
    RowEncoder,
    dropped_names,
)
from aerobee.protocol.message.message_batch import BatchMessage, decode_batch

ALL = frozenset({"KEYS", "TAGS", "__SHARDINGKEY"})


def encoder(
    lanes: int = 1,
    bytes_max: int = 1 << 20,
    rows_max: int = 4096,
    stripe: int = 2,
    start: int = 0,
    has: frozenset[str] = ALL,
) -> RowEncoder:
    made = [QueueLane(b"__DEDUP\x011:", 98, f":q{number}\x02".encode()) for number in range(lanes)]
    return RowEncoder(made, bytes_max, rows_max, stripe, start, has)


def begin(one: RowEncoder, values: Sequence[object], **columns: object) -> None:
    for name, made in columns.items():
        array = pa.array(made)
        if name in ("queue", "times"):
            setattr(one, name, number_column(array))
        elif name == "properties":
            one.properties = properties_column(array)
        else:
            setattr(one, name, text_column(array))
    one.begin(text_column(pa.array(values)))


def messages(lane: QueueLane) -> list[BatchMessage]:
    return decode_batch(lane.body()) if lane.count else []


def values(one: RowEncoder) -> list[list[bytes]]:
    return [[message.body for message in messages(lane)] for lane in one.lanes]


def test_a_row_becomes_an_entry_with_its_properties_and_its_mark_last() -> None:
    one = encoder()
    begin(
        one,
        ["body", b"x".decode()],
        key=["k1", None],
        tags=["red", None],
        ordering_key=["c7", None],
        properties=["a\x011\x02b\x012\x02", None],
    )
    assert one.take() == ENDED
    first, second = messages(one.lanes[0])
    assert (first.body, first.flag) == (b"body", 0)
    assert list(first.properties.items()) == [
        ("a", "1"),
        ("b", "2"),
        ("KEYS", "k1"),
        ("TAGS", "red"),
        ("__SHARDINGKEY", "c7"),
        ("__DEDUP", "1:98:q0"),
    ]
    assert (second.body, second.properties) == (b"x", {"__DEDUP": "+1"})
    assert (one.lanes[0].sequence, one.lanes[0].count, one.lanes[0].size) == (100, 0, 0)


def test_without_a_head_rows_bear_no_mark() -> None:
    one = RowEncoder([QueueLane(b"", 0, b"")], 1000, 10, 1, 0, ALL)
    begin(one, ["body"])
    assert one.take() == ENDED
    assert messages(one.lanes[0])[0].properties == {}


def test_only_the_applications_own_properties_are_passed_on() -> None:
    text = "a\x011\x02UNIQ_KEY\x01id\x02KEYS\x01old\x02__DEDUP\x01m\x02TRAN_MSG\x01true\x02b\x012"
    text += "\x02nothing\x02empty\x01\x02\x01noname\x02MIN_OFFSET\x010\x02DELAY\x013\x02z\x019"
    one = encoder()
    begin(one, ["v"], properties=[text], key=["new"])
    assert one.take() == ENDED
    (message,) = messages(one.lanes[0])
    assert message.properties == {"a": "1", "b": "2", "z": "9", "KEYS": "new", "__DEDUP": "1:98:q0"}


def test_what_no_column_says_is_taken_from_the_properties() -> None:
    text = "KEYS\x01k\x02TAGS\x01t\x02__SHARDINGKEY\x01s\x02"
    one = encoder(has=frozenset({"TAGS"}))
    begin(one, ["v"], properties=[text])
    assert one.take() == ENDED
    assert messages(one.lanes[0])[0].properties == {
        "KEYS": "k",
        "__SHARDINGKEY": "s",
        "__DEDUP": "1:98:q0",
    }


def test_dropped_names_are_told_by_size() -> None:
    names = dropped_names(frozenset({"KEYS"}))
    assert names[4] == b"TAGSWAIT"
    assert names[0] == b""


def test_rows_without_a_key_go_to_one_lane_after_the_other() -> None:
    one = encoder(lanes=3, start=1)
    begin(one, [str(row) for row in range(7)])
    assert one.take() == ENDED
    begin(one, ["7", "8"])
    assert one.take() == ENDED
    assert values(one) == [[b"4", b"5"], [b"0", b"1", b"6", b"7"], [b"2", b"3", b"8"]]


def sent_in_cuts(size: int, bytes_max: int, rows_max: int) -> list[list[tuple[bytes, int]]]:
    """What each lane gets of 40 rows, which come in pieces of some size: values and numbers."""
    rows = [str(row) for row in range(40)]
    keys = [f"k{row % 3}" if row % 4 == 0 else None for row in range(40)]
    one = encoder(lanes=3, bytes_max=bytes_max, rows_max=rows_max)
    sent: list[list[tuple[bytes, int]]] = [[], [], []]

    def send(index: int) -> None:
        request = messages(one.lanes[index])
        marks = [message.properties["__DEDUP"] for message in request]
        assert marks[1:] == [f"+{number}" for number in range(1, len(marks))]
        for number, message in enumerate(request):
            sent[index].append((message.body, int(marks[0].split(":")[1]) + number))

    for at in range(0, 40, size):
        begin(one, rows[at : at + size], ordering_key=pa.array(keys[at : at + size], pa.string()))
        while one.take() == FULL:
            send(one.lane)
    for index in range(3):
        send(index)
    return sent


def test_where_rows_go_does_not_depend_on_how_they_are_cut() -> None:
    whole = sent_in_cuts(40, 1 << 20, 100)
    assert sum(map(len, whole)) == 40
    assert all(whole)
    for cuts in ((1, 1 << 20, 100), (7, 400, 100), (9, 1 << 20, 3)):
        assert sent_in_cuts(*cuts) == whole


def test_a_key_chooses_as_clients_choose() -> None:
    queues = [MessageQueue("t", "b", QueueId(number)) for number in range(5)]
    keys = ["a", "polygenelubricants", "é", "", "x" * 100, "customer-7", "😀"]
    one = encoder(lanes=5, stripe=1000)
    begin(one, [key or "none" for key in keys], ordering_key=keys)
    assert one.take() == ENDED
    for index, found in enumerate(values(one)):
        for body in found:
            key = body.decode()
            expected = 0 if key == "none" else queue_for_key(queues, key).queue_id
            assert index == expected, key


def test_a_queue_that_is_named_goes_before_a_key() -> None:
    one = encoder(lanes=4, stripe=1)
    begin(one, ["a", "b", "c"], queue=[3, None, 0], ordering_key=["k", None, None])
    assert one.take() == ENDED
    assert values(one) == [[b"b", b"c"], [], [], [b"a"]]


@pytest.mark.parametrize("queue", [-1, 4, 2**40])
def test_a_queue_that_is_none_is_refused(queue: int) -> None:
    one = encoder(lanes=4)
    begin(one, ["a", "b"], queue=[1, queue])
    assert one.take() == WRONG
    assert (one.position, FAULTS[one.fault]) == (1, FAULTS[2])


def test_a_full_lane_is_handed_out_and_the_row_comes_next() -> None:
    one = encoder(rows_max=2)
    begin(one, ["a", "b", "c"])
    assert one.take() == FULL
    assert (one.lane, one.position) == (0, 2)
    assert [message.body for message in messages(one.lanes[0])] == [b"a", b"b"]
    assert one.take() == ENDED
    assert [message.properties["__DEDUP"] for message in messages(one.lanes[0])] == ["1:100:q0"]


def test_one_row_may_be_larger_than_a_request() -> None:
    one = encoder(bytes_max=1000)
    begin(one, ["a" * 5000, "b" * 5000])
    assert one.take() == FULL
    assert len(one.lanes[0].body()) > 5000
    assert one.take() == ENDED


def test_a_row_that_waits_is_the_callers_and_counts_like_any() -> None:
    one = encoder(lanes=2, stripe=1)
    begin(one, ["a", "b", "c", "d"], times=[None, 500, 0, None])
    assert one.take() == SPECIAL
    assert (one.position, one.lane) == (1, 1)
    one.skip()
    assert one.take() == ENDED
    assert values(one) == [[b"a", b"c"], [b"d"]]


@pytest.mark.parametrize(
    ("fault", "columns"),
    [
        (1, {"values": ["a", None]}),
        (1, {"values": ["a", ""]}),
        (3, {"key": ["k", "k\x01"]}),
        (3, {"key": ["k", "\x02"]}),
        (3, {"tags": ["t", "a|b"]}),
        (3, {"ordering_key": ["t", "a\x02b"]}),
        (4, {"key": [b"k", b"\xff"]}),
        (5, {"key": ["k", "x" * 32760]}),
    ],
)
def test_a_row_that_cannot_be_sent_says_why(fault: int, columns: dict[str, list[object]]) -> None:
    one = encoder()
    given = dict(columns)
    begin(one, given.pop("values", ["a", "b"]), **given)
    assert one.take() == WRONG
    assert (one.position, one.fault) == (1, fault)


def test_offsets_that_point_outside_of_their_column_are_found() -> None:
    def column(*offsets: int) -> TextColumn:
        view = memoryview(pa.array(offsets, pa.int32()).buffers()[1]).cast("B")
        return TextColumn(None, view, memoryview(b"abc"), 0, len(offsets) - 1)

    for offsets in ((0, 4), (2, 1), (-1, 2)):
        one = encoder()
        one.begin(column(*offsets))
        assert one.take() == WRONG
        assert one.fault == 6
        one = encoder()
        one.key = column(*offsets)
        one.begin(column(0, 1))
        assert one.take() == WRONG
        assert one.fault == 6


def test_columns_are_as_long_as_each_other_and_there_are_lanes() -> None:
    with pytest.raises(Misuse, match="different lengths"):
        begin(encoder(), ["a", "b"], key=["k"])
    with pytest.raises(Misuse, match="different lengths"):
        begin(encoder(), ["a", "b"], queue=[1])
    with pytest.raises(Misuse, match="too long"):
        QueueLane(b"x" * 300, 0, b"")
    with pytest.raises(Misuse, match="has lanes"):
        RowEncoder([], 1, 1, 1, 0, ALL)
