"""Protocol Buffers: a descriptor set → a type, and bodies → values, by `protobuf`.

The schema is a file that `protoc --include_imports --descriptor_set_out=FILE` wrote, and the
message in it: `FILE#package.Message`. The file is read once, in the driver; executors get its
bytes.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from aerobee.errors import Misuse
from aerobee.pipeline.values.value_types import array_of, map_of

_TIMESTAMP = "google.protobuf.Timestamp"


def descriptor_bytes(text: str) -> tuple[bytes, str]:
    """`FILE#package.Message` → the file's bytes and the message's name."""
    path, hash_sign, message = text.rpartition("#")
    if not hash_sign or not path or not message:
        raise Misuse("no schema of Protocol Buffers", hint="FILE#package.Message")
    try:
        with open(path, "rb") as file:
            return file.read(), message
    except OSError as error:
        raise Misuse(
            f"{path} cannot be read: {error.strerror}",
            hint="protoc --include_imports --descriptor_set_out=FILE writes it",
        ) from None


class ProtobufDecoder:
    def __init__(self, descriptors: bytes, message: str) -> None:
        """Misuse: the file has no such message, or `protobuf` is not installed."""
        try:
            from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        except ImportError:
            raise Misuse(
                "valueFormat=protobuf needs the package protobuf",
                hint="pip install 'aerobee[protobuf]', on executors, too",
            ) from None
        pool = descriptor_pool.DescriptorPool()
        try:
            for file in descriptor_pb2.FileDescriptorSet.FromString(descriptors).file:
                pool.Add(file)
            descriptor = pool.FindMessageTypeByName(message)
        except Exception as error:  # whatever the library finds wrong
            raise Misuse(f"no message {message} in this descriptor set: {error}") from None
        self._class: Any = message_factory.GetMessageClass(descriptor)
        self.type = _struct(descriptor, ())
        self._values = _message_values(descriptor)

    def decode(self, body: bytes) -> Any:
        return self._values(self._class.FromString(body))


def _struct(descriptor: Any, around: tuple[str, ...]) -> Any:
    if descriptor.full_name in around:
        raise Misuse(f"{descriptor.full_name} is within itself: a column cannot be")
    inside = (*around, descriptor.full_name)
    return pa.struct([pa.field(field.name, _type(field, inside)) for field in descriptor.fields])


def _is_map(field: Any) -> bool:
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated)


def _type(field: Any, around: tuple[str, ...]) -> Any:
    if _is_map(field):
        return map_of(_single(field.message_type.fields_by_name["value"], around))
    single = _single(field, around)
    return array_of(single) if _is_repeated(field) else single


def _single(field: Any, around: tuple[str, ...]) -> Any:
    if field.message_type is not None:
        if field.message_type.full_name == _TIMESTAMP:
            return pa.timestamp("us", tz="UTC")
        return _struct(field.message_type, around)
    return {
        field.CPPTYPE_INT32: pa.int32(),
        field.CPPTYPE_INT64: pa.int64(),
        field.CPPTYPE_UINT32: pa.int64(),
        field.CPPTYPE_UINT64: pa.decimal128(20, 0),
        field.CPPTYPE_DOUBLE: pa.float64(),
        field.CPPTYPE_FLOAT: pa.float32(),
        field.CPPTYPE_BOOL: pa.bool_(),
        field.CPPTYPE_ENUM: pa.string(),
        field.CPPTYPE_STRING: pa.binary() if field.type == field.TYPE_BYTES else pa.string(),
    }[field.cpp_type]


Values = Callable[[Any], Any]


def _message_values(descriptor: Any) -> Values:
    getters = [(field.name, _field_values(field), field) for field in descriptor.fields]

    def values(message: Any) -> dict[str, Any]:
        return {
            name: None
            if field.has_presence and not message.HasField(name)
            else get(getattr(message, name))
            for name, get, field in getters
        }

    return values


def _field_values(field: Any) -> Values:
    if _is_map(field):
        inner = _single_values(field.message_type.fields_by_name["value"])
        return lambda found: {str(key): inner(found[key]) for key in found}
    single = _single_values(field)
    if _is_repeated(field):
        return lambda found: [single(one) for one in found]
    return single


def _single_values(field: Any) -> Values:
    if field.message_type is not None:
        if field.message_type.full_name == _TIMESTAMP:
            return lambda moment: moment.ToMicroseconds()
        return _message_values(field.message_type)
    if field.enum_type is not None:
        names = {one.number: one.name for one in field.enum_type.values}
        return lambda number: names.get(number, str(number))
    return lambda value: value
