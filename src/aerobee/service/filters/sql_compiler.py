"""Compiles an SQL expression to a filter that is evaluated for every message.

Done once for a subscription. Every property is one operand, however often it is named, so that a
message's properties text is scanned once.
"""

from aerobee.protocol.message import property_filter as machine
from aerobee.protocol.message.property_filter import (
    CONTAINS,
    ENDS_WITH,
    EQUAL,
    FALSE,
    INT32,
    INT64,
    LESS,
    LESS_OR_EQUAL,
    MORE,
    MORE_OR_EQUAL,
    NULL,
    OUTCOME,
    PROPERTY,
    REAL,
    STARTS_WITH,
    TEXT,
    TRUE,
    TRUTH,
    UNKNOWN,
    Comparison,
    Condition,
    Operand,
    PropertyFilter,
    Search,
)
from aerobee.service.filters import sql_tree as tree
from aerobee.service.filters.sql_parser import parse_sql

UNITS_MAX = 4_000
UNITS_MIN = 100
_TERMS_FOR_ALL = 4
"""A filter with up to so many terms may pass UNITS_MAX messages per read, one with more passes
fewer: about 0.5 ms."""
_SOURCE_CHARS_MAX = 200

_OPERATORS = {
    "=": EQUAL,
    "<": LESS,
    "<=": LESS_OR_EQUAL,
    ">": MORE,
    ">=": MORE_OR_EQUAL,
}
_SEARCHES = {"CONTAINS": CONTAINS, "STARTSWITH": STARTS_WITH, "ENDSWITH": ENDS_WITH}
_TRUTHS = {True: TRUE, False: FALSE, None: UNKNOWN}
_INT32_MAX = 2**31 - 1


def compile_sql(expression: str) -> PropertyFilter:
    """BadExpression: the fault, and its position."""
    return _Compiler().compile(expression, parse_sql(expression))


class _Compiler:
    def __init__(self) -> None:
        self._properties: dict[str, Operand] = {}
        self._comparisons: list[Comparison] = []
        self._terms = 0

    def compile(self, expression: str, node: tree.Node) -> PropertyFilter:
        condition = self._condition(node)
        units_max = UNITS_MAX * _TERMS_FOR_ALL // max(_TERMS_FOR_ALL, self._terms)
        return PropertyFilter(
            expression,
            condition,
            list(self._properties.values()),
            self._comparisons,
            max(UNITS_MIN, units_max),
        )

    def _condition(self, node: tree.Node) -> Condition:
        match node:
            case tree.AllOf(parts):
                return machine.AllOf([self._condition(part) for part in parts])
            case tree.AnyOf(parts):
                return machine.AnyOf([self._condition(part) for part in parts])
            case tree.Not(part):
                return machine.Not(self._condition(part))
            case tree.Truth(value):
                return machine.Known(_TRUTHS[value])
            case tree.Compared("<>", left, right):
                return machine.Not(self._compared("=", left, right))
            case tree.Compared(operator, left, right):
                return self._compared(operator, left, right)
            case tree.Between(part, low, high, False):
                return machine.AllOf(
                    [self._compared(">=", part, low), self._compared("<=", part, high)]
                )
            case tree.Between(part, low, high, True):
                return machine.AnyOf(
                    [self._compared("<", part, low), self._compared(">", part, high)]
                )
        return self._test(node)

    def _test(self, node: tree.Node) -> Condition:
        """Compile a test of one operand."""
        self._terms += 1
        match node:
            case tree.NullTest(part, is_negated):
                test = machine.IsNull(self._operand(part))
                return machine.Not(test) if is_negated else test
            case tree.OneOf(part, texts, is_negated):
                encoded = frozenset(_encoded(text) for text in texts)
                return machine.OneOf(self._operand(part), encoded, is_negated)
            case tree.Searched(how, part, text, is_negated):
                return Search(self._operand(part), _SEARCHES[how], _encoded(text), is_negated)
        return machine.Bare(self._operand(node))

    def _compared(self, operator: str, left: tree.Node, right: tree.Node) -> Condition:
        self._terms += 1
        source = tree.write(tree.Compared(operator, left, right))[:_SOURCE_CHARS_MAX]
        comparison = Comparison(
            _OPERATORS[operator], self._operand(left), self._operand(right), source
        )
        self._comparisons.append(comparison)
        return comparison

    def _operand(self, node: tree.Node) -> Operand:
        match node:
            case tree.Property(name):
                return self._properties.setdefault(name, Operand(PROPERTY, name.encode()))
            case tree.Text(text):
                return Operand(TEXT, _encoded(text))
            case tree.Whole(whole):
                return Operand(_whole_kind(whole), integer=whole)
            case tree.Real(real):
                return Operand(REAL, real=real)
            case tree.Truth(None):
                return Operand(NULL)
            case tree.Truth(truth):
                return Operand(TRUTH, integer=int(bool(truth)))
            case tree.Negative(part):
                return _negative(part)
        return Operand(OUTCOME, condition=self._condition(node))


def _negative(part: tree.Node, sign: int = -1) -> Operand:
    """The negated number; NULL for other operands."""
    while isinstance(part, tree.Negative):
        part, sign = part.part, -sign
    match part:
        case tree.Whole(whole):
            return Operand(_whole_kind(whole), integer=sign * whole)
        case tree.Real(real):
            return Operand(REAL, real=sign * real)
    return Operand(NULL)


def _whole_kind(value: int) -> int:
    """The kind of a number: a property is read as the type that Java gives to the number beside
    it."""
    return INT32 if value <= _INT32_MAX else INT64


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
