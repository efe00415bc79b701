from datetime import UTC, datetime

import pytest

from aerobee.errors import Misuse
from aerobee.model.properties import PRODUCER_MARK
from aerobee.pipeline.sink.queue_plan import QueuePlan
from aerobee.pipeline.sink.topic_writer import (
    NAMED_ROWS_MAX,
    ROWS_MAX,
    TIMED_SEQUENCES,
    Parcel,
    TopicWriter,
)
from aerobee.pipeline.sink.write_round import OpenedRound
from aerobee.protocol.message.message_batch import decode_batch
from aerobee.protocol.message.producer_mark import decode_mark, place_of
from tests.sink_kit import batch, numbered

PLAN = QueuePlan((("a", 2), ("b", 1)), stripe_rows=2)
EPOCHS = {"a": 77, "b": 99}


def writer(
    round_id: int = 3, partition: int = 0, *columns: str, marked: bool = True
) -> TopicWriter:
    opened = OpenedRound("q/0", round_id, EPOCHS) if marked else None
    names = frozenset({"value", *columns})
    return TopicWriter("t", PLAN, names, 1 << 20, partition, opened, lambda: "an id")


def marks(parcel: Parcel) -> list[str]:
    found = decode_batch(parcel.draft.body)
    return [one.properties[PRODUCER_MARK] for one in found]


def test_each_queue_counts_its_rows_from_where_the_round_begins() -> None:
    one = writer(round_id=3)
    assert list(one.take(numbered(5)[0])) == []
    first, second, third = one.finish()
    assert [parcel.queue.broker_name for parcel in (first, second, third)] == ["a", "a", "b"]
    begin = 3 << 32
    place = place_of("t", 0)
    assert marks(first) == [f"77:{begin}:{place}:q/0", "+1"]
    assert marks(third) == [f"99:{begin}:{place}:q/0"]
    assert decode_mark(marks(second)[0]).place == place_of("t", 1)
    assert one.rows == 5


def test_the_first_request_of_a_queue_says_that_nothing_is_known_the_others_that_it_is() -> None:
    one = writer()
    first = one.take(batch(["x"] * 3 * ROWS_MAX, queue=[1] * 3 * ROWS_MAX))
    parcels = [*first, *one.finish()]
    assert [parcel.draft.fields for parcel in parcels] == [
        {"known": "false", "quiet": "true"},
        {"known": "true", "quiet": "true"},
        {"known": "true", "quiet": "true"},
    ]
    assert {parcel.lane for parcel in parcels} == {1}
    assert [len(decode_batch(parcel.draft.body)) for parcel in parcels] == [ROWS_MAX] * 3


def test_partitions_and_rounds_begin_with_different_queues() -> None:
    def first_queue(round_id: int, partition: int) -> int:
        one = writer(round_id, partition)
        list(one.take(numbered(1)[0]))
        (parcel,) = one.finish()
        assert isinstance(parcel.lane, int)
        return parcel.lane

    assert [first_queue(0, partition) for partition in range(4)] == [0, 1, 2, 0]
    assert [first_queue(number, 0) for number in range(4)] == [0, 1, 2, 0]


def test_without_marks_requests_are_plain_batches_and_smaller() -> None:
    one = writer(marked=False)
    parcels = list(one.take(batch(["x"] * (NAMED_ROWS_MAX + 1), queue=[0] * (NAMED_ROWS_MAX + 1))))
    (parcel,) = parcels
    assert (parcel.draft.code, parcel.draft.fields, parcel.draft.is_batch) == (0, None, True)
    assert len(decode_batch(parcel.draft.body)) == NAMED_ROWS_MAX


def test_a_row_that_waits_is_a_message_of_its_own_with_a_number_of_its_own() -> None:
    at = datetime(2030, 1, 2, 3, 4, 5, 678000, UTC)
    one = writer(0, 0, "key", "tags", "properties", "deliverAt")
    rows = batch(
        ["a", "b"],
        deliverAt=[None, at],
        key=["k", b"l".decode()],
        tags=["t", "u"],
        properties=[None, "mine\x011\x02UNIQ_KEY\x01old\x02"],
    )
    (single,) = one.take(rows)
    assert single.draft.body == b"b"
    assert single.draft.properties == {
        "mine": "1",
        "TAGS": "u",
        "KEYS": "l",
        "TIMER_DELIVER_MS": str(int(at.timestamp() * 1000)),
        "UNIQ_KEY": "an id",
        "__DEDUP": f"77:{TIMED_SEQUENCES}:{place_of('t', 0)}:q/0",
    }
    assert not single.draft.is_batch
    assert single.draft.fields == {"known": "false", "quiet": "true"}
    again = batch(["c"], delay=[5])
    (other,) = writer(0, 0, "delay").take(again)
    assert other.draft.properties["TIMER_DELAY_MS"] == "5"


def test_a_row_that_waits_has_a_value_like_any() -> None:
    with pytest.raises(Misuse, match="row 0 of a task, for t, has no value"):
        list(writer(0, 0, "delay").take(batch([""], delay=[5])))
