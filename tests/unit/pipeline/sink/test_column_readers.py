import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.sink.column_readers import NumberColumn, TextColumn

INTS, EMPTY = memoryview(bytes(8)), memoryview(b"")


@pytest.mark.parametrize(
    ("validity", "first", "rows"), [(None, 0, 2), (None, 1, 1), (EMPTY, 0, 1), (None, -1, 1)]
)
def test_text_has_offsets_and_bits_for_all_its_rows(
    validity: memoryview | None, first: int, rows: int
) -> None:
    assert TextColumn(None, INTS, EMPTY, 0, 1).rows == 1
    with pytest.raises(Misuse, match="too short"):
        TextColumn(validity, INTS, EMPTY, first, rows)


@pytest.mark.parametrize(
    ("validity", "width", "first", "rows"),
    [(None, 4, 1, 2), (None, 8, 0, 2), (EMPTY, 4, 0, 1), (None, 2, 0, 1), (None, 4, -1, 1)],
)
def test_numbers_are_there_for_all_rows(
    validity: memoryview | None, width: int, first: int, rows: int
) -> None:
    assert NumberColumn(None, INTS, 4, 0, 2).rows == 2
    with pytest.raises(Misuse, match="too short"):
        NumberColumn(validity, INTS, width, first, rows)
