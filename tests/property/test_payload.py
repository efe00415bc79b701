"""A dataclass that is written as JSON is what a handler that asks for it gets again; and no body
makes anything but what is asked for, or a BadPayload."""

import contextlib
import dataclasses
import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from aerobee.client.application.payload import BadPayload, payload_reader


@dataclasses.dataclass
class Line:
    item: str
    count: int = 1
    price: float | None = None


@dataclasses.dataclass
class Order:
    id: int
    lines: list[Line]
    notes: dict[str, str]
    at: datetime
    is_paid: bool = False


reals = st.floats(allow_nan=False, allow_infinity=False)
lines = st.builds(Line, st.text(), st.integers(), st.none() | reals)
orders = st.builds(
    Order,
    st.integers(),
    st.lists(lines, max_size=3),
    st.dictionaries(st.text(), st.text(), max_size=3),
    st.datetimes(timezones=st.just(UTC)),
    st.booleans(),
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | reals | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "lines", "notes", "at", "x"]), inner, max_size=5)
    ),
    max_leaves=12,
)
READ = payload_reader(Order)


@given(orders)
def test_an_order_comes_as_it_was_sent(order: Order) -> None:
    body = json.dumps(dataclasses.asdict(order), default=datetime.isoformat).encode()
    assert READ(body) == order


@given(values | st.binary().map(bytes))
def test_nothing_else_comes_of_a_body(value: object) -> None:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    with contextlib.suppress(BadPayload):
        assert isinstance(READ(body), Order)
