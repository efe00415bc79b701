"""SQL filters over message properties, as a machine of conditions: `PropertyFilter` and its parts.

A filter is built once (`service/filters`) and evaluated for every message that a reader passes, on
the properties text where it lies in the log: name 0x01 value 0x02 name 0x01 value 0x02 … Of two
equal names the later counts; an empty name or value counts as absent.

    Condition     TRUE, FALSE, UNKNOWN (a value is missing) or FAULT
    Operand       one side of a comparison: a property, a literal, or the outcome of a condition

Laws. Values are RocketMQ's: a property is a text, and takes the type of what it is compared with; a
text that cannot is a FAULT, which ends the evaluation as an exception does in Java. Only TRUE lets
a message through. AND and OR evaluate from left to right, and no further than they need to.
"""

from typing import TYPE_CHECKING

from aerobee.protocol.primitives.java_numbers import JavaNumber, order_of_reals, order_of_wholes

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at, same_bytes
    from aerobee.protocol.primitives.byte_search import find_byte

FALSE = 0
TRUE = 1
UNKNOWN = 2
FAULT = 3

# Of operands, and of the values that they come to.
NULL = 0
TEXT = 1
INT32 = 2
INT64 = 3
REAL = 4
TRUTH = 5
PROPERTY = 6
OUTCOME = 7

# Of comparisons.
EQUAL = 0
LESS = 1
LESS_OR_EQUAL = 2
MORE = 3
MORE_OR_EQUAL = 4

# Of searches.
CONTAINS = 0
STARTS_WITH = 1
ENDS_WITH = 2

TEXT_BYTES_MAX = 4 << 20
"""Bytes of properties that one read may compare with names."""

# C twins of the numbers that the hot code compares with.
_FALSE = FALSE
_TRUE = TRUE
_UNKNOWN = UNKNOWN
_FAULT = FAULT
_NULL = NULL
_TEXT = TEXT
_INT32 = INT32
_INT64 = INT64
_REAL = REAL
_TRUTH = TRUTH
_PROPERTY = PROPERTY
_OUTCOME = OUTCOME
_FAULTY = 8
_EQUAL = EQUAL
_LESS = LESS
_LESS_OR_EQUAL = LESS_OR_EQUAL
_MORE = MORE
_STARTS_WITH = STARTS_WITH
_ENDS_WITH = ENDS_WITH
_NO_ORDER = 2


def is_compiled() -> bool:
    return cython.compiled


class Operand:
    """One side of a comparison. `kind` is its written type, `load` gives the type of its value."""

    __slots__ = (
        "condition",
        "data",
        "data_memory",
        "integer",
        "kind",
        "name_size",
        "real",
        "size",
        "start",
        "was_missing",
    )

    def __init__(
        self,
        kind: int,
        data: bytes = b"",
        integer: int = 0,
        real: float = 0.0,
        condition: "Condition | None" = None,
    ) -> None:
        """`data` is a property's name or a literal's text."""
        self.kind = kind
        self.data = data
        self.data_memory = bytes_address(self.data)
        self.integer = integer
        self.real = real
        self.condition = condition
        # Where the text lies; a property that is not there has a size of -1.
        self.start = 0
        self.size = len(data)
        self.name_size = len(data)
        self.was_missing = False

    def load(self, memory: memoryview) -> int:
        """The kind of its value for the message whose properties are in `memory`."""
        if self.kind == _PROPERTY:
            return _NULL if self.size < 0 else _TEXT
        if self.kind != _OUTCOME:
            return self.kind
        assert self.condition is not None
        truth = self.condition.truth(memory)
        if truth == _FAULT:
            return _FAULTY
        if truth == _UNKNOWN:
            return _NULL
        self.integer = truth
        return _TRUTH

    def memory_of(self, memory: memoryview) -> memoryview:
        """The memory of its text: the message's properties, or the literal."""
        return memory if self.kind == _PROPERTY else self.data_memory


class Condition:
    """A condition that holds for a message or not."""

    __slots__ = ()

    def truth(self, memory: memoryview) -> int:
        return _UNKNOWN


class Known(Condition):
    """The literal TRUE, FALSE or NULL."""

    __slots__ = ("_truth",)

    def __init__(self, truth: int) -> None:
        self._truth = truth

    def truth(self, memory: memoryview) -> int:
        return self._truth


class AllOf(Condition):
    __slots__ = ("_parts",)

    def __init__(self, parts: list[Condition]) -> None:
        self._parts = parts

    def truth(self, memory: memoryview) -> int:
        found = _TRUE
        for part in self._parts:
            truth = part.truth(memory)
            if truth in (_FALSE, _FAULT):
                return truth
            if truth == _UNKNOWN:
                found = _UNKNOWN
        return found


class AnyOf(Condition):
    __slots__ = ("_parts",)

    def __init__(self, parts: list[Condition]) -> None:
        self._parts = parts

    def truth(self, memory: memoryview) -> int:
        found = _FALSE
        for part in self._parts:
            truth = part.truth(memory)
            if truth in (_TRUE, _FAULT):
                return truth
            if truth == _UNKNOWN:
                found = _UNKNOWN
        return found


class Not(Condition):
    __slots__ = ("_part",)

    def __init__(self, part: Condition) -> None:
        self._part = part

    def truth(self, memory: memoryview) -> int:
        truth = self._part.truth(memory)
        if truth == _TRUE:
            return _FALSE
        if truth == _FALSE:
            return _TRUE
        return truth


class IsNull(Condition):
    __slots__ = ("_operand",)

    def __init__(self, operand: Operand) -> None:
        self._operand = operand

    def truth(self, memory: memoryview) -> int:
        kind = self._operand.load(memory)
        if kind == _FAULTY:
            return _FAULT
        return _TRUE if kind == _NULL else _FALSE


class Bare(Condition):
    """A property in place of a condition: a text is not TRUE."""

    __slots__ = ("_operand",)

    def __init__(self, operand: Operand) -> None:
        self._operand = operand

    def truth(self, memory: memoryview) -> int:
        return _UNKNOWN if self._operand.load(memory) == _NULL else _FALSE


class OneOf(Condition):
    """IN, for properties."""

    __slots__ = ("_is_negated", "_operand", "_texts")

    def __init__(self, operand: Operand, texts: frozenset[bytes], is_negated: bool) -> None:
        self._operand = operand
        self._texts = texts
        self._is_negated = is_negated

    def truth(self, memory: memoryview) -> int:
        operand = self._operand
        if operand.size < 0:
            return _UNKNOWN
        is_in = bytes_at(memory, operand.start, operand.size) in self._texts
        return _TRUE if is_in != self._is_negated else _FALSE


class Search(Condition):
    """CONTAINS, STARTSWITH, ENDSWITH. For a property that is missing both the operator and its
    negation are FALSE, and so are both for an empty text.
    """

    __slots__ = ("_how", "_is_negated", "_operand", "_text", "_text_memory", "_text_size")

    def __init__(self, operand: Operand, how: int, text: bytes, is_negated: bool) -> None:
        self._operand = operand
        self._how = how
        self._text = text
        self._text_memory = bytes_address(self._text)
        self._text_size = len(text)
        self._is_negated = is_negated

    def truth(self, memory: memoryview) -> int:
        operand = self._operand
        kind = operand.load(memory)
        if kind == _FAULTY:
            return _FAULT
        if kind != _TEXT or self._text_size == 0:
            return _FALSE
        place = operand.memory_of(memory)
        start = operand.start
        spare = operand.size - self._text_size
        if spare < 0:
            is_found = False
        elif self._how == _STARTS_WITH:
            is_found = same_bytes(place, start, self._text_memory, 0, self._text_size)
        elif self._how == _ENDS_WITH:
            is_found = same_bytes(place, start + spare, self._text_memory, 0, self._text_size)
        else:
            is_found = self._text in bytes_at(place, start, operand.size)
        return _TRUE if is_found != self._is_negated else _FALSE


class Comparison(Condition):
    """Two operands and =, <, <=, > or >=. `source` is its text."""

    __slots__ = ("_left", "_number", "_operator", "_right", "has_failed", "source")

    def __init__(self, operator: int, left: Operand, right: Operand, source: str) -> None:
        self._operator = operator
        self._left = left
        self._right = right
        self.source = source
        # Whether values came that could not be compared.
        self.has_failed = False
        self._number = JavaNumber()

    def truth(self, memory: memoryview) -> int:
        left = self._left.load(memory)
        if left == _FAULTY:
            return _FAULT
        if left == _NULL and self._operator != _EQUAL:
            return _UNKNOWN
        right = self._right.load(memory)
        if right == _FAULTY:
            return _FAULT
        if left == _NULL:
            return _TRUE if right == _NULL else _UNKNOWN
        if right == _NULL:
            return _FALSE if self._operator == _EQUAL else _UNKNOWN
        if left == _TEXT and right == _TEXT:
            if self._operator == _EQUAL:
                return _TRUE if self._is_same_text(memory) else _FALSE
            order = self._order_of_texts(memory)
        elif left == _TRUTH or right == _TRUTH:
            order = self._order_of_truths(memory, left, right)
        else:
            order = self._order_of_numbers(memory, left, right)
        if order == _NO_ORDER:
            self.has_failed = True
            return _FAULT
        return _TRUE if self._is_meant(order) else _FALSE

    def _is_meant(self, order: int) -> bool:
        if self._operator == _EQUAL:
            return order == 0
        if self._operator == _LESS:
            return order < 0
        if self._operator == _LESS_OR_EQUAL:
            return order <= 0
        if self._operator == _MORE:
            return order > 0
        return order >= 0

    def _is_same_text(self, memory: memoryview) -> bool:
        left, right = self._left, self._right
        return left.size == right.size and same_bytes(
            left.memory_of(memory), left.start, right.memory_of(memory), right.start, left.size
        )

    def _order_of_texts(self, memory: memoryview) -> int:
        """Texts have no order but that of the numbers that they are."""
        if not self._read_real(self._left, memory):
            return _NO_ORDER
        real = self._number.real
        if not self._read_real(self._right, memory):
            return _NO_ORDER
        return order_of_reals(real, self._number.real)

    def _order_of_truths(self, memory: memoryview, left: int, right: int) -> int:
        if left == _TRUTH and right == _TRUTH:
            return order_of_wholes(self._left.integer, self._right.integer)
        if left == _TEXT:
            return order_of_wholes(self._is_true_text(memory), self._right.integer)
        if right == _TEXT:
            return _NO_ORDER  # Java takes the wrong side for a text there
        return -1  # a number is no truth

    def _is_true_text(self, memory: memoryview) -> int:
        operand = self._left
        text = bytes_at(operand.memory_of(memory), operand.start, operand.size)
        return 1 if text.lower() == b"true" else 0

    def _order_of_numbers(self, memory: memoryview, left: int, right: int) -> int:
        """Of two numbers, or of a number and a text that has to be one of the same type."""
        type_ = left if right == _TEXT else right
        if left == _TEXT or right == _TEXT:
            text = self._left if left == _TEXT else self._right
            if type_ == _REAL:
                if not self._read_real(text, memory):
                    return _NO_ORDER
            elif not self._number.read_whole(
                text.memory_of(memory), text.start, text.start + text.size, type_ == _INT32
            ):
                return _NO_ORDER
            if left == _TEXT:
                left = type_
                whole, real = self._number.whole, self._number.real
                other_whole, other_real = self._right.integer, self._right.real
            else:
                right = type_
                whole, real = self._left.integer, self._left.real
                other_whole, other_real = self._number.whole, self._number.real
        else:
            whole, real = self._left.integer, self._left.real
            other_whole, other_real = self._right.integer, self._right.real
        if left != _REAL and right != _REAL:
            return order_of_wholes(whole, other_whole)
        if left != _REAL:
            real = float(whole)
        if right != _REAL:
            other_real = float(other_whole)
        return order_of_reals(real, other_real)

    def _read_real(self, operand: Operand, memory: memoryview) -> bool:
        start = operand.start
        return self._number.read_real(operand.memory_of(memory), start, start + operand.size)


class PropertyFilter:
    """A condition over properties. P1. `matches` changes nothing but what it remembers of values
    that were missing or could not be compared."""

    __slots__ = (
        "_comparisons",
        "_condition",
        "_properties",
        "expression",
        "faults",
        "has_news",
        "text_max",
        "units_max",
    )

    def __init__(
        self,
        expression: str,
        condition: Condition,
        properties: list[Operand],
        comparisons: list[Comparison],
        units_max: int,
    ) -> None:
        """`properties` are those that the condition asks for, each once."""
        self.expression = expression
        # Messages that one read may pass, and bytes of their properties: few, if each takes long.
        self.units_max = units_max
        self.text_max = TEXT_BYTES_MAX // max(4, len(properties))
        self._condition = condition
        self._properties = properties
        self._comparisons = comparisons
        # Messages that could not be decided since the start.
        self.faults = 0
        self.has_news = False

    def matches(self, memory: memoryview, start: int, size: int) -> bool:
        """Whether the properties text at [start, start + size) is let through."""
        if self._properties:
            self._find(memory, start, start + size)
        truth = self._condition.truth(memory)
        if truth == _FAULT:
            self.faults += 1
            self.has_news = True
        return truth == _TRUE

    def matches_text(self, text: bytes) -> bool:
        """`matches` for callers without a memory."""
        return self.matches(bytes_address(text), 0, len(text))

    def _find(self, memory: memoryview, start: int, end: int) -> None:
        """Have every property know where its value lies."""
        for operand in self._properties:
            operand.size = -1
        while start < end:
            piece_end = find_byte(memory, 2, start, end)
            for operand in self._properties:
                mark = start + operand.name_size
                if (
                    mark + 1 < piece_end
                    and memory[mark] == 1
                    and same_bytes(memory, start, operand.data_memory, 0, operand.name_size)
                ):
                    operand.start = mark + 1
                    operand.size = piece_end - mark - 1
                    break
            start = piece_end + 1
        for operand in self._properties:
            if operand.size < 0 and not operand.was_missing:
                operand.was_missing = True
                self.has_news = True

    def take_news(self, told: set[str]) -> list[str]:
        """Missing and incomparable values of messages that are not in `told` yet, in words for a
        log.
        """
        self.has_news = False
        news = []
        for operand in self._properties:
            if operand.was_missing:
                news.append(f"no property {operand.data.decode()}")
        for comparison in self._comparisons:
            if comparison.has_failed:
                news.append(f"values that cannot be compared: {comparison.source}")
        news = [text for text in news if text not in told]
        told.update(news)
        return news
