"""`payload_reader` converts message bodies to the type that a handler's parameter is annotated
with.

    bytes                     as it came
    str                       UTF-8
    Any, object, dict, list   JSON
    int, float, bool          JSON of that kind
    a dataclass, a TypedDict, an Enum, datetime, Optional and containers of these    JSON
    a pydantic model          by the model itself
    a msgspec struct          by msgspec

Unknown fields are ignored: senders may be newer than receivers. A body that does not fit raises
BadPayload, which says where. `NaN` and `Infinity`, which JSON does not have and other senders in
Python write, are floats, as in `Message.json`.
"""

import dataclasses
import json
import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from importlib import import_module
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints, is_typeddict

from aerobee.errors import AerobeeError, Misuse

Reader: TypeAlias = Callable[[bytes], Any]
_ANYTHING = (Any, object)
_SCALARS = (str, int, float, bool)
_PLAIN: dict[Any, Callable[[Any], Any]] = {datetime: datetime.fromisoformat}


class BadPayload(AerobeeError):
    """A body that does not fit the handler's type. Trying again would not help."""


def payload_reader(annotation: Any) -> Reader:
    """The function that converts bodies to this type. Misuse if the type is not supported."""
    if annotation is bytes:
        return bytes
    if annotation is str:
        return _text
    if isinstance(annotation, type):
        if hasattr(annotation, "model_validate_json"):  # pydantic's own word
            return _checked(annotation.model_validate_json)
        if hasattr(annotation, "__struct_fields__"):
            decoder = import_module("msgspec.json").Decoder(annotation)
            return _checked(decoder.decode)
    _check_known(annotation, annotation)
    return lambda body: _fitted(_parsed(body), annotation, "the body")


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise BadPayload(f"the body is no UTF-8: {error}") from None


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise BadPayload(f"the body is no JSON: {error}") from None


def _checked(read: Reader) -> Reader:
    def reader(body: bytes) -> Any:
        try:
            return read(body)
        except ValueError as error:  # what both libraries raise is one
            raise BadPayload(f"the body does not fit: {error}") from None

    return reader


def _check_known(kind: Any, whole: Any) -> None:
    """Raise Misuse when the handler is declared, not when its first message comes."""
    origin = get_origin(kind)
    if kind in (None, types.NoneType, dict, list, datetime, *_ANYTHING, *_SCALARS):
        return
    if origin in (Union, types.UnionType, list, tuple, dict):
        for one in get_args(kind):
            if one is not Ellipsis:
                _check_known(one, whole)
        return
    if isinstance(kind, type) and issubclass(kind, Enum):
        return
    if dataclasses.is_dataclass(kind) or is_typeddict(kind):
        return  # their fields may name them again
    raise Misuse(
        f"a body cannot become {whole!r}",
        hint="annotate bytes, str, dict, a dataclass, a pydantic model or a msgspec struct",
    )


def _fitted(value: Any, kind: Any, where: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _ANYTHING:
        return value
    if origin in (Union, types.UnionType):
        return _one_of(value, inner, where)
    if kind in (None, types.NoneType):
        return _expected(value, value is None, kind, where)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _SCALARS:
        is_it = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
        return _expected(value, is_it, kind, where)
    if kind in (dict, list):
        return _expected(value, isinstance(value, kind), kind, where)
    if origin in (list, tuple):
        _expected(value, isinstance(value, list), kind, where)
        items = [_fitted(one, inner[0], f"{where}[{n}]") for n, one in enumerate(value)]
        return items if origin is list else tuple(items)
    if origin is dict:
        _expected(value, isinstance(value, dict), kind, where)
        return {name: _fitted(one, inner[1], f"{where}.{name}") for name, one in value.items()}
    return _made(value, kind, where)


def _made(value: Any, kind: Any, where: str) -> Any:
    read = _PLAIN.get(kind)
    if read is None and isinstance(kind, type) and issubclass(kind, Enum):
        read = kind
    if read is not None:
        try:
            return read(value)
        except (TypeError, ValueError):
            raise BadPayload(f"{where} is {_shown(value)}, no {kind.__name__}") from None
    _expected(value, isinstance(value, dict), kind, where)
    hints = get_type_hints(kind)
    missing = sorted(_required(kind) - value.keys())
    if missing:
        raise BadPayload(f"{where} lacks {', '.join(missing)}")
    fitted = {
        name: _fitted(value[name], hint, f"{where}.{name}")
        for name, hint in hints.items()
        if name in value
    }
    return fitted if is_typeddict(kind) else kind(**fitted)


def _required(kind: Any) -> frozenset[str]:
    if is_typeddict(kind):
        return frozenset(kind.__required_keys__)
    return frozenset(
        one.name
        for one in dataclasses.fields(kind)
        if one.init
        and one.default is dataclasses.MISSING
        and one.default_factory is dataclasses.MISSING
    )


def _one_of(value: Any, kinds: tuple[Any, ...], where: str) -> Any:
    faults = []
    for kind in kinds:
        try:
            return _fitted(value, kind, where)
        except BadPayload as error:
            faults.append(error.message)
    raise BadPayload("; ".join(faults))


def _expected(value: Any, is_it: bool, kind: Any, where: str) -> Any:
    if not is_it:
        name = getattr(kind, "__name__", str(kind))
        raise BadPayload(f"{where} is {_shown(value)}, no {name}")
    return value


def _shown(value: Any) -> str:
    return "an object" if isinstance(value, Mapping) else repr(value)[:40]
