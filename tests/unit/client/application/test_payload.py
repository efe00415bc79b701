import dataclasses
import json
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypedDict

import pytest

from aerobee.client.application.payload import BadPayload, payload_reader
from aerobee.errors import Misuse


class Colour(Enum):
    RED = "red"


@dataclasses.dataclass
class Line:
    item: str
    count: int = 1


@dataclasses.dataclass(frozen=True)
class Order:
    id: int
    price: float
    lines: list[Line] = dataclasses.field(default_factory=list)
    colour: Colour | None = None
    paid_at: datetime | None = None
    notes: dict[str, str] = dataclasses.field(default_factory=dict)


class Note(TypedDict, total=False):
    text: str


def read(annotation: Any, value: object) -> Any:
    return payload_reader(annotation)(json.dumps(value).encode())


def test_bytes_and_text_come_as_they_are() -> None:
    assert payload_reader(bytes)(b"\xff") == b"\xff"
    assert payload_reader(str)("ä".encode()) == "ä"
    with pytest.raises(BadPayload, match="UTF-8"):
        payload_reader(str)(b"\xff")


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (dict, {"a": 1}),
        (Any, [1]),
        (object, 3),
        (list[int], [1, 2]),
        (dict[str, float], {"a": 1.5}),
        (int, 3),
        (bool, True),
        (int | None, None),
        (Note, {"text": "x"}),
    ],
)
def test_json_is_what_it_is_annotated_with(annotation: Any, value: object) -> None:
    assert read(annotation, value) == value


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_senders_in_python_write_for_no_number_is_a_float(word: str) -> None:
    found = payload_reader(dict[str, float])(f'{{"x": {word}}}'.encode())
    assert str(found["x"]) == str(float(word))


def test_a_dataclass_is_made_with_all_that_is_in_it() -> None:
    order = {
        "id": 7,
        "price": 3,
        "lines": [{"item": "tea", "unknown": True}, {"item": "jam", "count": 2}],
        "colour": "red",
        "paid_at": "2026-11-15T12:00:00+00:00",
        "notes": {"to": "you"},
        "added later": 1,
    }
    assert read(Order, order) == Order(
        7,
        3.0,
        [Line("tea"), Line("jam", 2)],
        Colour.RED,
        datetime(2026, 11, 15, 12, tzinfo=UTC),
        {"to": "you"},
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"price": 1}, "the body lacks id"),
        ({"id": "7", "price": 1}, "the body.id is '7', no int"),
        ({"id": True, "price": 1}, "the body.id is True, no int"),
        ({"id": 7, "price": 1, "lines": [{"item": 3}]}, r"the body.lines\[0\].item is 3, no str"),
        ({"id": 7, "price": 1, "colour": "blue"}, "no Colour"),
        ({"id": 7, "price": 1, "paid_at": "noon"}, "no datetime"),
        ([], r"the body is \[\], no Order"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(value: object, said: str) -> None:
    with pytest.raises(BadPayload, match=said):
        read(Order, value)


def test_a_body_that_is_no_json_is_refused() -> None:
    with pytest.raises(BadPayload, match="no JSON"):
        payload_reader(dict)(b"{")


def test_what_nobody_can_make_is_refused_at_once() -> None:
    for annotation in (set[int], complex, list[complex], int | complex):
        with pytest.raises(Misuse, match="annotate"):
            payload_reader(annotation)


class Model:
    """What pydantic's models have of interest here."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    @classmethod
    def model_validate_json(cls, text: bytes) -> "Model":
        if text == b"bad":
            raise ValueError("not a model")
        return cls(text)


def test_a_model_reads_bodies_by_itself() -> None:
    assert payload_reader(Model)(b"good").text == b"good"
    with pytest.raises(BadPayload, match="not a model"):
        payload_reader(Model)(b"bad")
