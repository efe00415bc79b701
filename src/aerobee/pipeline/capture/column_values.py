"""A column's values as JSON: the same whether they come from the binary log or from a query.

    integer, year, bit     number            binary, geometry   base64
    float, double          number            date               "2020-02-29"
    decimal                "123.4500"        datetime           "2020-02-29T12:00:00.25"
    text, enum, json       text              timestamp          the same in UTC, with a Z
    set                    "a,c"             time               "-838:59:59.25"
    uuid, inet             text

NULL is null, and so are a date that no calendar has (0000-00-00, 2020-00-10) and a float that is no
number of JSON (NaN, infinity). A decimal keeps all of its digits, so it is text. A FLOAT is the
shortest number that is the same FLOAT.
"""

import base64
import json
import struct
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from ipaddress import ip_address
from math import isfinite
from uuid import UUID

from aerobee.pipeline.capture.table_schema import Column, Kind

JsonValue = None | bool | int | float | str
Row = Mapping[str, JsonValue]

_EPOCH = datetime(1970, 1, 1)


def from_log(column: Column, value: object) -> JsonValue:
    """Convert a value as the reader of the binary log returns it."""
    kind = column.kind
    if kind is Kind.SET and isinstance(value, set | frozenset):
        return ",".join(column.labels[at] for at in sorted(map(column.labels.index, value)))
    if kind is Kind.YEAR and value == 1900:  # the year 0 in an encoding that begins with 1901
        return 0
    if kind is Kind.TIMESTAMP and value == _EPOCH:  # what the server calls 0000-00-00
        return None
    if isinstance(value, bytes) and column.length:
        value = value.ljust(column.length, b"\0")  # the log leaves zeros at the end out
    return _json_value(column, value)


def from_query(column: Column, value: object) -> JsonValue:
    """Convert a value as a query returns it."""
    if isinstance(value, str) and column.kind in (Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP):
        return None
    return _json_value(column, value)


def _json_value(column: Column, value: object) -> JsonValue:
    kind = column.kind
    if kind is Kind.BIT and value is not None:
        return int.from_bytes(value, "big") if isinstance(value, bytes) else int(str(value), 2)
    if isinstance(value, float):
        # A server refuses to store others today; files of older ones may hold them.
        if not isfinite(value):
            return None
        return shortest_single(value) if kind is Kind.FLOAT else value
    if kind is Kind.UUID and value is not None:
        return str(UUID(bytes=value) if isinstance(value, bytes) else UUID(str(value)))
    if kind is Kind.INET and value is not None:
        return str(ip_address(value if isinstance(value, bytes) else str(value)))
    if kind is Kind.JSON and not isinstance(value, str | None):
        return json.dumps(_texts(value), ensure_ascii=False)
    match value:
        case None | bool() | int() | str():
            return value
        case Decimal():
            return format(value, "f")
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case datetime():
            return _moment(value) + ("Z" if kind is Kind.TIMESTAMP else "")
        case date():
            return value.isoformat()
        case timedelta():
            return time_text(value)
    raise TypeError(f"{column.name}: {type(value).__name__} is no value of a column")


def shortest_single(value: float) -> float:
    """Return the shortest decimal number that is equal in 32 bits."""
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("<f", short) == struct.pack("<f", value):
            return short
    return float(f"{value:.9g}")


def time_text(value: timedelta) -> str:
    """Format a TIME, whose range is -838 to 838 hours."""
    microseconds = value // timedelta(microseconds=1)
    seconds, fraction = divmod(abs(microseconds), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if microseconds < 0 else ""
    tail = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{sign}{hour:02d}:{minute:02d}:{second:02d}{tail}"


def _moment(value: datetime) -> str:
    text = value.isoformat()
    return text.rstrip("0") if value.microsecond else text


def _texts(value: object) -> object:
    """Decode the bytes in a value of MySQL's JSON type, where text is meant."""
    match value:
        case bytes():
            return value.decode()
        case dict():
            return {str(_texts(name)): _texts(item) for name, item in value.items()}
        case list() | tuple():
            return [_texts(item) for item in value]
        case Decimal():
            return float(value)
        case float() if not isfinite(value):
            return None
    return value
