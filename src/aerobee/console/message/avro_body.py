"""Bodies in Avro: values by a schema, and container files, which have theirs in front.

    container file   Obj 1 · table of bytes (avro.schema, avro.codec) · sync of 16 bytes ·
                     blocks: count, size, data, the same sync
    single object    C3 01 · fingerprint of 8 bytes · value
    of a registry    00 · number of 4 bytes · value

Reading is our own, in Python: a body is a stranger's, and the usual library trusts it. A count of
two billion, a schema that contains itself and a block that unpacks to gigabytes all end at the
bounds of `byte_source.py`.
"""

import zlib
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Context, Decimal
from typing import Any

from aerobee.console.message.avro_schema import AvroType, parse_avro
from aerobee.console.message.byte_source import ByteSource, NotOfFormat, hex_text, real, whole

MARK = b"Obj\x01"
SINGLE_OBJECT = b"\xc3\x01"
_SINGLE_BYTES = 10
_REGISTRY_BYTES = 5
_SYNC_BYTES = 16
BLOCK_BYTES_MAX = 1 << 20
"""Of a block, unpacked: its first values are shown, if it has more."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DECIMAL_BYTES_MAX = 64


def read_avro(data: bytes, kind: AvroType, values_max: int) -> Any:
    """Return the value of a body, with or without what registries put in front of it."""
    if data.startswith(SINGLE_OBJECT):
        return _whole_body(data[_SINGLE_BYTES:], kind, values_max)
    try:
        return _whole_body(data, kind, values_max)
    except NotOfFormat:
        if data[:1] != b"\0" or len(data) < _REGISTRY_BYTES:
            raise
        return _whole_body(data[_REGISTRY_BYTES:], kind, values_max)


def read_container(data: bytes, rows_max: int) -> list[Any]:
    """Return the first values of a container file. One that is cut or broken further on gives those
    before; NotOfFormat: there is none."""
    source = ByteSource(data)
    if source.take(len(MARK)) != MARK:
        raise NotOfFormat("it is no container file")
    head = _read_head(source)
    codec = head.get("avro.codec", b"null").decode(errors="replace")
    unpack = _CODECS.get(codec)
    if unpack is None:
        raise NotOfFormat(f"blocks in the codec {codec[:20]!r} are not read here")
    kind = parse_avro(head.get("avro.schema", b"").decode(errors="replace"))
    sync = source.take(_SYNC_BYTES)
    rows: list[Any] = []
    try:
        while source.left and len(rows) < rows_max:
            _read_block(source, kind, unpack, sync, rows, rows_max)
    except NotOfFormat:
        if not rows:
            raise
    return rows


def _read_block(
    source: ByteSource,
    kind: AvroType,
    unpack: Callable[[bytes], bytes],
    sync: bytes,
    rows: list[Any],
    rows_max: int,
) -> None:
    count = source.zigzag()
    block = ByteSource(unpack(source.take(source.zigzag())), count=source.counted)
    for _ in range(min(count, rows_max - len(rows))):
        rows.append(_value(block, kind, 0))
    if len(rows) < rows_max and (block.left or source.take(_SYNC_BYTES) != sync):
        raise NotOfFormat("a block does not end where it should")


def _read_head(source: ByteSource) -> dict[str, bytes]:
    head: dict[str, bytes] = {}
    while (count := _block_count(source)) > 0:
        for _ in range(count):
            source.count()
            name = source.text(source.zigzag())
            head[name] = source.take(source.zigzag())
    return head


def _whole_body(data: bytes, kind: AvroType, values_max: int) -> Any:
    source = ByteSource(data, values_max)
    value = _value(source, kind, 0)
    if source.left:
        raise NotOfFormat(f"{source.left} bytes are left over: the schema is another")
    return value


def _value(source: ByteSource, kind: AvroType, depth: int) -> Any:
    source.enter(depth)
    match kind.kind:
        case "record":
            return {name: _value(source, one, depth + 1) for name, one in kind.fields}
        case "union":
            return _value(source, _at(kind.branches, source.zigzag()), depth + 1)
        case "array":
            return _array(source, kind, depth)
        case "map":
            return _map(source, kind, depth)
        case "enum":
            return _at(kind.symbols, source.zigzag())
        case "fixed":
            return _of_bytes(source.take(kind.size), kind)
        case "bytes":
            return _of_bytes(source.take(source.zigzag()), kind)
        case "string":
            return source.text(source.zigzag())
        case "int" | "long":
            return _of_whole(source.zigzag(), kind.logical)
        case "float":
            return real(source.number("<f"))
        case "double":
            return real(source.number("<d"))
        case "boolean":
            return _at((False, True), source.take(1)[0])
        case _:
            return None


def _array(source: ByteSource, kind: AvroType, depth: int) -> list[Any]:
    assert kind.item is not None
    values: list[Any] = []
    while (count := _block_count(source)) > 0:
        for _ in range(count):
            values.append(_value(source, kind.item, depth + 1))
    return values


def _map(source: ByteSource, kind: AvroType, depth: int) -> dict[str, Any]:
    assert kind.item is not None
    values: dict[str, Any] = {}
    while (count := _block_count(source)) > 0:
        for _ in range(count):
            name = source.text(source.zigzag())
            values[name] = _value(source, kind.item, depth + 1)
    return values


def _block_count(source: ByteSource) -> int:
    """Take the number of values that follow; a negative one is followed by their size."""
    source.count()
    count = source.zigzag()
    if count < 0:
        source.zigzag()
    return abs(count)


def _at(choices: Any, index: int) -> Any:
    if not 0 <= index < len(choices):
        raise NotOfFormat(f"there is no choice {index} of {len(choices)}")
    return choices[index]


# Logical types.


def _of_whole(value: int, logical: str) -> Any:
    read = _TIMES.get(logical)
    try:
        return whole(value) if read is None else read(value)
    except (OverflowError, ValueError):  # a time that calendars do not have
        return whole(value)


def _of_bytes(data: bytes, kind: AvroType) -> str:
    if kind.logical != "decimal" or len(data) > _DECIMAL_BYTES_MAX:
        return hex_text(data)
    number = Decimal(int.from_bytes(data, signed=True))
    return str(number.scaleb(-kind.scale, Context(prec=200)))


def _moment(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def _clock(micros: int) -> str:
    seconds, rest = divmod(micros, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return time(hour, minute, second, rest).isoformat()


_TIMES: dict[str, Callable[[int], str]] = {
    "date": lambda days: (date(1970, 1, 1) + timedelta(days=days)).isoformat(),
    "time-millis": lambda value: _clock(value * 1000),
    "time-micros": _clock,
    "timestamp-millis": lambda value: _moment(value * 1000),
    "timestamp-micros": _moment,
    "local-timestamp-millis": lambda value: _moment(value * 1000).removesuffix("Z"),
    "local-timestamp-micros": lambda value: _moment(value).removesuffix("Z"),
}


# Codecs.


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, BLOCK_BYTES_MAX)
    except zlib.error:
        raise NotOfFormat("a block cannot be unpacked") from None


_CODECS: dict[str, Callable[[bytes], bytes]] = {"null": bytes, "deflate": _inflated}
