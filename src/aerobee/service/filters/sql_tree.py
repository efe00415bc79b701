"""The tree of an SQL expression, and `write`, which turns it into text.

`write(tree)` is an expression with the same meaning, with every part in parentheses: parsing it
gives the same tree. Operands that AND or OR joins are side by side in one node.
"""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Property:
    name: str


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class Whole:
    value: int


@dataclass(frozen=True, slots=True)
class Real:
    value: float


@dataclass(frozen=True, slots=True)
class Truth:
    """TRUE, FALSE, or NULL."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Negative:
    part: "Node"


@dataclass(frozen=True, slots=True)
class Not:
    part: "Node"


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Compared:
    operator: str
    """One of = <> < <= > >=."""
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class NullTest:
    part: "Node"
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Between:
    part: "Node"
    low: "Node"
    high: "Node"
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class OneOf:
    part: Property
    texts: tuple[str, ...]
    is_negated: bool = False


@dataclass(frozen=True, slots=True)
class Searched:
    how: str
    """One of CONTAINS, STARTSWITH, ENDSWITH."""
    part: "Node"
    text: str
    is_negated: bool = False


Literal: TypeAlias = Text | Whole | Real | Truth
Node: TypeAlias = (
    Property
    | Literal
    | Negative
    | Not
    | AllOf
    | AnyOf
    | Compared
    | NullTest
    | Between
    | OneOf
    | Searched
)
LITERALS = (Text, Whole, Real, Truth)
CONDITIONS = (Not, AllOf, AnyOf, Compared, NullTest, Between, OneOf, Searched, Truth)
"""Nodes that are conditions."""


def parts_of(node: Node) -> tuple[Node, ...]:
    match node:
        case AllOf(parts) | AnyOf(parts):
            return parts
        case Compared(_, left, right):
            return left, right
        case Between(part, low, high):
            return part, low, high
        case Not(part) | Negative(part) | NullTest(part) | OneOf(part) | Searched(_, part):
            return (part,)
    return ()


def write(node: Node) -> str:
    match node:
        case Property(name):
            return name
        case Text(value):
            return _quoted(value)
        case Whole(value):
            return str(value)
        case Real(number):
            return repr(number)
        case Truth(truth):
            return "NULL" if truth is None else str(truth).upper()
        case Negative(part):
            return f"- {_inner(part)}"
        case Not(part):
            return f"NOT {_inner(part)}"
        case AllOf(parts):
            return " AND ".join(map(_inner, parts))
        case AnyOf(parts):
            return " OR ".join(map(_inner, parts))
        case Compared(operator, left, right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case NullTest(part, is_negated):
            return f"{_inner(part)} IS {'NOT ' if is_negated else ''}NULL"
        case Between(part, low, high, is_negated):
            return f"{_inner(part)} {_not(is_negated)}BETWEEN {_inner(low)} AND {_inner(high)}"
        case OneOf(part, texts, is_negated):
            return f"{_inner(part)} {_not(is_negated)}IN ({', '.join(map(_quoted, texts))})"
        case Searched(how, part, text, is_negated):
            return f"{_inner(part)} {_not(is_negated)}{how} {_quoted(text)}"


def _inner(node: Node) -> str:
    text = write(node)
    return text if isinstance(node, (Property, *LITERALS)) else f"({text})"


def _not(is_negated: bool) -> str:
    return "NOT " if is_negated else ""


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
