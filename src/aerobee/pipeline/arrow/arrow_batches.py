"""Columns → Arrow record batches, without a copy.

The arrays refer to the memory that `MessageColumns` has filled; a column that was finished is never
written again. Spark compares the first batch's schema with its own to the letter: types, order and
that every column may be null, so the Arrow types are written down here once.
"""

from typing import Any

import pyarrow as pa

from aerobee.model.properties import decode_properties
from aerobee.pipeline.arrow.message_columns import MessageColumns, SizedColumn
from aerobee.pipeline.arrow.schema import BROKER_NAME, LOG_OFFSET, MAP, PROPERTIES, TopicSchema

_INSTANT = pa.timestamp("us", tz="UTC")
_MAP = pa.map_(pa.string(), pa.string())
_TYPES: dict[str, Any] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    BROKER_NAME: pa.string(),
    "queueId": pa.int32(),
    "offset": pa.int64(),
    "timestamp": _INSTANT,
    "bornTimestamp": _INSTANT,
    "tags": pa.string(),
    "msgId": pa.string(),
    "reconsumeTimes": pa.int32(),
    PROPERTIES: pa.string(),
    LOG_OFFSET: pa.int64(),
}
_ATTRIBUTES = {
    "queueId": "queue_id",
    "bornTimestamp": "born_timestamp",
    "msgId": "message_id",
    "reconsumeTimes": "reconsume_times",
    LOG_OFFSET: "log_offset",
}


def arrow_schema(schema: TopicSchema) -> Any:
    return pa.schema([pa.field(name, _type_of(schema, name)) for name in schema.names])


def finish_batch(columns: MessageColumns, schema: TopicSchema, broker_name: str | None) -> Any:
    """Build a record batch of the rows in the columns; the columns start over, empty."""
    rows = columns.rows
    arrays = [_array(columns, schema, name, rows, broker_name) for name in schema.names]
    columns.begin_again()
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(schema))


def _type_of(schema: TopicSchema, name: str) -> Any:
    return _MAP if name == PROPERTIES and schema.property_form == MAP else _TYPES[name]


def _array(
    columns: MessageColumns, schema: TopicSchema, name: str, rows: int, broker_name: str | None
) -> Any:
    if name == BROKER_NAME:
        return pa.repeat(pa.scalar(broker_name, pa.string()), rows)
    column = getattr(columns, _ATTRIBUTES.get(name, name))
    if not isinstance(column, SizedColumn):
        values = pa.py_buffer(column.finish())
        return pa.Array.from_buffers(_TYPES[name], rows, [None, values])
    nulls = column.nulls
    validity, offsets, data = column.finish()
    buffers = [None if validity is None else pa.py_buffer(validity)]
    buffers += [pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(_TYPES[name], rows, buffers, null_count=nulls)
    if name == PROPERTIES and schema.property_form == MAP:
        return _as_maps(array)
    return array


def _as_maps(texts: Any) -> Any:
    return pa.array(
        [list(decode_properties(text.as_py().encode()).items()) for text in texts], _MAP
    )
