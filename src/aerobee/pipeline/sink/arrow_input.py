"""Arrow arrays, as Spark hands them to a writer → columns for the encoder of rows, without a copy.

Types that the encoder does not know (large text, small numbers) are cast, and maps of properties
become text in the source's form: both by Arrow, a column at a time.
"""

from typing import Any

import pyarrow as pa

from aerobee.errors import Misuse
from aerobee.pipeline.sink.column_readers import NumberColumn, TextColumn

_EMPTY = memoryview(b"")
_NAME_END, _PROPERTY_END = "\x01", "\x02"


def text_column(array: Any) -> TextColumn:
    """Return a column of text or bytes."""
    if not (pa.types.is_string(array.type) or pa.types.is_binary(array.type)):
        array = array.cast(pa.binary())
    validity, offsets, data = array.buffers()
    if offsets is None:  # an array of no rows may have none
        return TextColumn(None, memoryview(bytes(4)), _EMPTY, 0, 0)
    rows = len(array)
    return TextColumn(_bitmap(array, validity), _view(offsets), _view(data), array.offset, rows)


def number_column(array: Any) -> NumberColumn:
    """Return a column of whole numbers; a timestamp becomes its microseconds."""
    if pa.types.is_timestamp(array.type):
        if array.type.unit != "us":
            array = array.cast(pa.timestamp("us", tz=array.type.tz))
    elif not (pa.types.is_int32(array.type) or pa.types.is_int64(array.type)):
        array = array.cast(pa.int64())
    width = array.type.bit_width // 8
    validity, values = array.buffers()
    return NumberColumn(_bitmap(array, validity), _view(values), width, array.offset, len(array))


def properties_column(array: Any) -> TextColumn:
    """Return a column of properties, given as text or as maps."""
    return text_column(_as_text(array) if pa.types.is_map(array.type) else array)


def _as_text(maps: Any) -> Any:
    """Return name 0x01 value 0x02 … of each map; null stays null."""
    import pyarrow.compute as pc  # only maps need it, and it takes its time

    names, values = maps.keys, maps.items
    for part in (names, values):
        for separator in (_NAME_END, _PROPERTY_END):
            if pc.any(pc.match_substring(part, separator)).as_py():
                raise Misuse("properties hold one of the bytes 1 and 2, which separate them")
    pairs = pc.binary_join_element_wise(
        names, values, _NAME_END, null_handling="replace", null_replacement=""
    )
    offsets = maps.offsets
    return pc.binary_join(pa.ListArray.from_arrays(offsets, pairs), _PROPERTY_END)


def _bitmap(array: Any, validity: Any) -> memoryview | None:
    return None if validity is None or array.null_count == 0 else _view(validity)


def _view(buffer: Any) -> memoryview:
    if buffer is None or buffer.size == 0:
        return _EMPTY
    return memoryview(buffer).cast("B")
