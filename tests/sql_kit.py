"""Random SQL expressions, and what they mean by a model that is plain to read.

The model follows what Java does value by value: texts, booleans, 32- and 64-bit numbers, doubles;
an exception is an exception. It knows nothing of how filters are compiled.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

from aerobee.service.filters.sql_tree import (
    LITERALS,
    AllOf,
    AnyOf,
    Between,
    Compared,
    Negative,
    Node,
    Not,
    NullTest,
    OneOf,
    Property,
    Real,
    Searched,
    Text,
    Truth,
    Whole,
)

NAMES = ("a", "b", "TAGS", "$x_1")
VALUES = (
    *("0", "1", "2", "-1", "+3", "007", "2147483647", "2147483648", "-2147483648"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "99999999999999999999"),
    *("1.0", "2.5", ".5", "5.", "1e3", "-1E-3", "1f", "2D", " 1 ", "NaN", "-Infinity", "-0.0"),
    *("true", "TRUE", "false", "x", "text", "tex", "ext", "grün", "'", "-", "1e", "0x1p3", "1_0"),
)

# Expressions.

properties = st.sampled_from(NAMES).map(Property)
wholes = st.one_of(
    st.sampled_from((0, 1, 2, 3, 2**31 - 1, 2**31, 2**63 - 1)), st.integers(0, 2**63 - 1)
).map(Whole)
reals = st.one_of(
    st.sampled_from((0.5, 1.0, 2.5, 5e-324, 1.7976931348623157e308, 1e3)),
    st.floats(min_value=5e-324, allow_infinity=False),
).map(Real)
texts = st.one_of(st.sampled_from(VALUES), st.text(st.characters(codec="utf-8")))
truths = st.sampled_from((True, False)).map(Truth)
numbers = st.one_of(wholes, reals)
ordered: st.SearchStrategy[Node] = st.recursive(
    st.one_of(properties, numbers),
    lambda inner: st.one_of(inner, texts.map(Text), truths).map(Negative),
    max_leaves=3,
)
plain: st.SearchStrategy[Node] = st.one_of(ordered, texts.map(Text), truths)


def _fair(node: Node) -> Node:
    """The node, or one like it that the rules of types allow."""
    match node:
        case Compared(_, Truth(None), part) | Compared(_, part, Truth(None)):
            return NullTest(part)
        case Compared(operator, Truth() as left, right):
            is_swapped = isinstance(right, LITERALS) and not isinstance(right, Truth)
            return Compared(operator, right, left) if is_swapped else node
        case Between(part, (Whole() | Real()) as low, (Whole() | Real()) as high, is_negated):
            return node if low.value <= high.value else Between(part, high, low, is_negated)
    return node


def _over(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    operand = st.one_of(plain, inner)
    parts = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        parts.map(AllOf),
        parts.map(AnyOf),
        inner.map(Not),
        st.builds(Compared, st.sampled_from(("=", "<>")), operand, operand),
        st.builds(NullTest, operand, st.booleans()),
        st.builds(
            Searched,
            st.sampled_from(("CONTAINS", "STARTSWITH", "ENDSWITH")),
            operand,
            texts,
            st.booleans(),
        ),
    ).map(_fair)


_leaves: st.SearchStrategy[Node] = st.one_of(
    properties,
    truths,
    st.just(Truth(None)),
    st.builds(Compared, st.sampled_from(("<", "<=", ">", ">=")), ordered, ordered),
    st.builds(Compared, st.sampled_from(("=", "<>")), plain, plain),
    st.builds(Between, ordered, ordered, ordered, st.booleans()),
    st.builds(OneOf, properties, st.lists(texts, min_size=1, max_size=6).map(tuple), st.booleans()),
    st.builds(NullTest, plain, st.booleans()),
).map(_fair)
expressions: st.SearchStrategy[Node] = st.recursive(_leaves, _over, max_leaves=10)
messages = st.dictionaries(
    st.sampled_from(NAMES),
    st.one_of(st.sampled_from(VALUES), st.integers(-10, 10).map(str), st.text("0123456789.-+eE")),
).map(lambda found: {name: value for name, value in found.items() if value})

# What they mean.


@dataclass(frozen=True, slots=True)
class Number:
    """A number of Java's, with its type: int, long or double."""

    type: str
    value: int | float


Value: TypeAlias = str | bool | Number | None
_RANGES = {"int": 2**31, "long": 2**63}
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DOUBLE = re.compile(
    r"[+-]?(NaN|Infinity|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)", re.ASCII
)


class JavaError(Exception):
    """Whatever ends an evaluation."""


def lets_through(tree: Node, message: Mapping[str, str]) -> bool:
    try:
        return evaluate(tree, message) is True
    except JavaError:
        return False


def evaluate(node: Node, message: Mapping[str, str]) -> Value:
    match node:
        case Property(name):
            return message.get(name)
        case Text(text):
            return text
        case Whole(whole):
            return Number("int" if whole < 2**31 else "long", whole)
        case Real(real):
            return Number("double", real)
        case Truth(truth):
            return truth
        case Negative(part):
            value = evaluate(part, message)
            return Number(value.type, -value.value) if isinstance(value, Number) else None
        case Not(part):
            truth = _truth(part, message)
            return None if truth is None else not truth
        case AllOf(parts):
            return _all(parts, message)
        case AnyOf(parts):
            return _opposite(_all(tuple(map(Not, parts)), message))
        case Compared("<>", left, right):
            return _opposite(_compared("=", left, right, message))
        case Compared(operator, left, right):
            return _compared(operator, left, right, message)
        case Between(part, low, high, is_negated) if not is_negated:
            return _all((Compared(">=", part, low), Compared("<=", part, high)), message)
        case Between(part, low, high):
            both = (Not(Compared("<", part, low)), Not(Compared(">", part, high)))
            return _opposite(_all(both, message))
        case NullTest(part, is_negated):
            return (evaluate(part, message) is None) != is_negated
        case OneOf(part, listed, is_negated):
            value = evaluate(part, message)
            return None if value is None else (value in listed) != is_negated
        case Searched():
            return _searched(node, message)


def _all(parts: tuple[Node, ...], message: Mapping[str, str]) -> bool | None:
    found: bool | None = True
    for part in parts:
        truth = _truth(part, message)
        if truth is False:
            return False
        if truth is None:
            found = None
    return found


def _truth(node: Node, message: Mapping[str, str]) -> bool | None:
    """A condition; a property, whose text is not TRUE."""
    value = evaluate(node, message)
    if isinstance(node, Property):
        return None if value is None else False
    assert value is None or isinstance(value, bool)
    return value


def _opposite(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


def _searched(node: Searched, message: Mapping[str, str]) -> bool:
    value = evaluate(node.part, message)
    if not isinstance(value, str) or not node.text:
        return False
    found = {
        "CONTAINS": node.text in value,
        "STARTSWITH": value.startswith(node.text),
        "ENDSWITH": value.endswith(node.text),
    }[node.how]
    return found != node.is_negated


def _compared(operator: str, left: Node, right: Node, message: Mapping[str, str]) -> bool | None:
    one = evaluate(left, message)
    if one is None and operator != "=":
        return None
    other = evaluate(right, message)
    if one is None or other is None:
        if operator != "=":
            return None
        if one is None:
            return True if other is None else None
        return False
    if isinstance(one, str) and isinstance(other, str):
        if operator == "=":
            return one == other
        order = _order(_double(one), _double(other))
    else:
        order = _mixed_order(one, other)
    return {
        "=": order == 0,
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
    }[operator]


def _mixed_order(one: str | bool | Number, other: str | bool | Number) -> int:
    if isinstance(one, bool):
        if isinstance(other, str):
            raise JavaError("ClassCastException")
        return one - other if isinstance(other, bool) else -1
    if isinstance(other, bool):
        return (one.lower() == "true") - other if isinstance(one, str) else -1
    if isinstance(one, str):
        assert isinstance(other, Number)
        one = _converted(one, other.type)
    elif isinstance(other, str):
        other = _converted(other, one.type)
    if "double" in (one.type, other.type):
        return _order(float(one.value), float(other.value))
    return (one.value > other.value) - (one.value < other.value)


def _converted(text: str, type_: str) -> Number:
    if type_ == "double":
        return Number(type_, _double(text))
    if not _WHOLE.fullmatch(text) or not -_RANGES[type_] <= int(text) < _RANGES[type_]:
        raise JavaError("NumberFormatException")
    return Number(type_, int(text))


def _double(text: str) -> float:
    trimmed = text.strip("".join(map(chr, range(33))))
    if not _DOUBLE.fullmatch(trimmed):
        raise JavaError("NumberFormatException")
    is_named = trimmed.endswith(("NaN", "Infinity"))
    return float(trimmed if is_named else trimmed.rstrip("fFdD"))


def _order(left: float, right: float) -> int:
    def rank(value: float) -> tuple[bool, float, float]:
        return math.isnan(value), 0.0 if math.isnan(value) else value, math.copysign(1.0, value)

    one, other = rank(left), rank(right)
    if one[0] and other[0]:
        return 0
    return (one > other) - (one < other)
