"""Headers as declarations: a frozen dataclass ⇄ the ext fields of a command.

    @dataclass(frozen=True, slots=True)
    class LockHeader:
        consumer_group: str             # "consumerGroup", must be there
        queue_id: Int32                 # "queueId"
        is_force: bool = on_wire("isForce", default=False)
        topic: str | None = None        # may be absent

A field without a default must be there; text that is empty counts as there, a number that is empty
as absent, because Go writes so what it has not set. Every value travels as text; an error names the
field as the peer wrote it. One declaration serves both sides of the wire.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.fields import INT32, INT64, read_number, read_truth

H = TypeVar("H")

Int32 = Annotated[int, INT32]
Int64 = Annotated[int, INT64]


@dataclass(frozen=True, slots=True)
class NoHeader:
    """Header of requests without fields."""


def on_wire(name: str, *, default: Any = MISSING) -> Any:
    """A field whose name on the wire is not its own in camel case."""
    return field(default=default, metadata={"wire": name})


def read_header(kind: type[H], ext_fields: Mapping[str, str]) -> H:
    """The header that the fields say. RemoteProtocolError names the first that is wrong."""
    values = []
    for one in _plan(kind):
        text = ext_fields.get(one.wire)
        if text is None or (text == "" and not one.is_text):
            if one.default is MISSING:
                raise RemoteProtocolError(f"the field {one.wire} is missing")
            values.append(one.default)
        else:
            values.append(one.read(one.wire, text))
    return kind(*values)


def write_header(header: object) -> dict[str, str]:
    """The fields that say a header; what is None is not there."""
    said = {}
    for one in _plan(type(header)):
        value = getattr(header, one.name)
        if value is not None:
            said[one.wire] = str(value).lower() if isinstance(value, bool) else str(value)
    return said


class _Field(NamedTuple):
    name: str
    wire: str
    read: Callable[[str, str], object]
    default: object
    is_text: bool


_PLANS: dict[Any, tuple[_Field, ...]] = {}


def _plan(kind: type) -> tuple[_Field, ...]:
    plan = _PLANS.get(kind)
    if plan is None:
        plan = _PLANS[kind] = _made_plan(kind)
    return plan


def _made_plan(kind: Any) -> tuple[_Field, ...]:
    hints = get_type_hints(kind, include_extras=True)
    plan = []
    for one in fields(kind):
        reader, is_text = _reader(_without_none(hints[one.name]))
        wire = one.metadata.get("wire", _camel_case(one.name))
        plan.append(_Field(one.name, wire, reader, one.default, is_text))
    return tuple(plan)


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    return hint


def _reader(hint: Any) -> tuple[Callable[[str, str], object], bool]:
    if hint is str:
        return lambda name, text: text, True
    if hint is bool:
        return lambda name, text: read_truth(text), False
    bounds = get_args(hint)[1]  # Int32 or Int64: a bare int says no width
    return lambda name, text: read_number(name, text, bounds), False


def _camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
