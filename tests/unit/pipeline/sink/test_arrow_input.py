from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.sink.arrow_input import number_column, properties_column, text_column
from aerobee.pipeline.sink.column_readers import TextColumn
from aerobee.pipeline.sink.row_entries import QueueLane, RowEncoder
from aerobee.protocol.message.message_batch import decode_batch


def bodies(column: TextColumn) -> list[bytes]:
    encoder = RowEncoder([QueueLane(b"", 0, b"")], 1 << 20, 100, 1, 0, frozenset())
    encoder.begin(column)
    assert encoder.take() == 0
    return [one.body for one in decode_batch(encoder.lanes[0].body())]


def properties(maps: Any) -> list[dict[str, str]]:
    encoder = RowEncoder([QueueLane(b"", 0, b"")], 1 << 20, 100, 1, 0, frozenset())
    encoder.properties = properties_column(maps)
    encoder.begin(text_column(pa.array(["v"] * len(maps))))
    assert encoder.take() == 0
    return [one.properties for one in decode_batch(encoder.lanes[0].body())]


def lanes(numbers: Any) -> list[int]:
    """The lane that each row of a column of queues went to."""
    encoder = RowEncoder(
        [QueueLane(b"", 0, b"") for _ in range(9)], 1 << 20, 100, 1, 0, frozenset()
    )
    encoder.queue = number_column(numbers)
    encoder.begin(text_column(pa.array([str(row) for row in range(len(numbers))])))
    assert encoder.take() == 0
    found = {
        int(one.body): index
        for index, lane in enumerate(encoder.lanes)
        if lane.count
        for one in decode_batch(lane.body())
    }
    return [found[row] for row in range(len(numbers))]


@pytest.mark.parametrize("kind", [pa.string(), pa.binary(), pa.large_string(), pa.large_binary()])
def test_text_and_bytes_come_as_they_are_from_any_slice(kind: Any) -> None:
    array = pa.array(["zero", "é", "two", "three"], kind)
    assert bodies(text_column(array)) == [b"zero", "é".encode(), b"two", b"three"]
    assert bodies(text_column(array.slice(1, 2))) == ["é".encode(), b"two"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64()])
def test_numbers_of_any_width_are_read_from_any_slice(kind: Any) -> None:
    array = pa.array([3, 1, None, 8], kind)
    assert lanes(array) == [3, 1, 0, 8]
    assert lanes(array.slice(1, 3)) == [1, 0, 8]


def test_an_array_of_no_rows_is_one() -> None:
    assert text_column(pa.array([], pa.string())).rows == 0


def test_maps_become_the_text_of_properties() -> None:
    kind = pa.map_(pa.string(), pa.string())
    rows: Sequence[object] = [[("a", "1"), ("b", "2")], None, [], [("c", None), ("d", "4")]]
    maps = pa.array(rows, kind)
    assert properties(maps) == [{"a": "1", "b": "2"}, {}, {}, {"d": "4"}]
    assert properties(maps.slice(2, 2)) == [{}, {"d": "4"}]
    for bad in ("x\x01", "\x02"):
        with pytest.raises(Misuse, match="bytes 1 and 2"):
            properties_column(pa.array([[("a", bad)]], kind))
