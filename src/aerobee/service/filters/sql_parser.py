"""Parses an SQL expression to a tree, by RocketMQ's grammar. Lower rules bind more tightly:

    or          and { OR and }
    and         equality { AND equality }
    equality    comparison { = comparison | <> comparison | IS [NOT] NULL }
    comparison  unary { < unary | <= unary | > unary | >= unary | [NOT] BETWEEN unary AND unary
                      | [NOT] IN ( text {, text} ) | [NOT] CONTAINS text | … STARTSWITH, ENDSWITH }
    unary       + unary | - unary | NOT unary | primary
    primary     text | number | TRUE | FALSE | NULL | property | ( or )

So NOT binds more tightly than a comparison: `NOT a = 1` is `(NOT a) = 1`, as in RocketMQ.

The type rules are RocketMQ's, too: only numbers and properties have an order; NULL is not compared
with =; IN is for properties and texts; the bounds of BETWEEN must be in order; operands of AND, OR
and NOT are conditions or properties. Text behind a whole expression, which RocketMQ ignores
silently, is refused here.

Everything is bounded, because every message is evaluated: characters, terms, properties, depth.
"""

from collections.abc import Callable
from typing import TypeAlias

from aerobee.service.filters.sql_lexer import BadExpression, Kind, Word, text_of, words_of
from aerobee.service.filters.sql_tree import (
    CONDITIONS,
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
    parts_of,
)

CHARS_MAX = 16 * 1024
TERMS_MAX = 256
"""Limit of comparisons, tests and bare properties of one expression."""
PROPERTIES_MAX = 64
"""Limit of different properties of one expression."""
DEPTH_MAX = 50
"""Limit of nested parentheses, signs and NOT; the tree may be twice as deep."""

_INT64_MAX = 2**63 - 1
_REAL_MAX = 1.7976931348623157e308
_REAL_MIN = 5e-324
_ORDERS = ("<", "<=", ">", ">=")
_SEARCHES = ("CONTAINS", "STARTSWITH", "ENDSWITH")
_MEANT = {
    "LIKE": "there is no LIKE: use CONTAINS, STARTSWITH or ENDSWITH",
    "=": "= is written once",
}
_TRUTHS = {"TRUE": True, "FALSE": False, "NULL": None}
_Rule: TypeAlias = Callable[[], Node]


def parse_sql(expression: str) -> Node:
    """The tree of an expression. BadExpression: the fault, and its position."""
    if len(expression) > CHARS_MAX:
        raise BadExpression(
            f"{len(expression)} characters, at most {CHARS_MAX} may be", expression, CHARS_MAX
        )
    return _Parser(expression).parse()


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._words = words_of(expression)
        self._next = 0
        self._depth = 0
        self._terms = 0
        self._properties: set[str] = set()

    def parse(self) -> Node:
        if self._is_at_end():
            raise self._bad("there is no expression", "write TRUE to get every message")
        start = self._word
        tree = self._condition(self._or(), start)
        if not self._is_at_end():
            raise self._bad(
                "the expression ends before this", _MEANT.get(self._word.text.upper(), "")
            )
        if _depth_of(tree) > 2 * DEPTH_MAX:
            raise self._bad("the expression is too deep", "use parentheses less", start)
        return tree

    # The grammar.

    def _or(self) -> Node:
        return self._joined("OR", self._and)

    def _and(self) -> Node:
        return self._joined("AND", self._equality)

    def _joined(self, keyword: str, part: _Rule) -> Node:
        start = self._word
        first = part()
        if not self._word.is_one(keyword):
            return first
        parts = [self._condition(first, start)]
        while self._took(keyword):
            start = self._word
            parts.append(self._condition(part(), start))
        return AnyOf(tuple(parts)) if keyword == "OR" else AllOf(tuple(parts))

    def _equality(self) -> Node:
        start = self._word
        left = self._comparison()
        while True:
            if self._word.is_one("=", "<>"):
                operator = self._take()
                after = self._word
                left = self._equal(operator, left, self._comparison(), start, after)
            elif self._took("IS"):
                is_negated = self._took("NOT")
                self._expect("NULL")
                left = self._term(NullTest(left, is_negated))
            else:
                return left

    def _comparison(self) -> Node:
        start = self._word
        left = self._unary()
        while True:
            if self._word.is_one(*_ORDERS):
                operator = self._take()
                self._check_order(left, start)
                left = self._term(Compared(operator.text, left, self._bound()))
                continue
            is_negated = self._word.is_one("NOT")
            test = self._words[self._next + 1] if is_negated else self._word
            if not test.is_one("BETWEEN", "IN", *_SEARCHES):
                return left
            self._next += 1 + is_negated
            left = self._term(self._tested(test, left, start, is_negated))

    def _tested(self, test: Word, left: Node, start: Word, is_negated: bool) -> Node:
        """Parse the operands of BETWEEN, IN or a search."""
        if test.text == "IN":
            if not isinstance(left, Property):
                raise self._bad("IN is for properties", "name a property before it", start)
            return OneOf(left, self._texts(), is_negated)
        if test.text != "BETWEEN":
            return Searched(test.text, left, self._text(), is_negated)
        self._check_order(left, start)
        low = self._bound()
        self._expect("AND")
        after = self._word
        high = self._bound()
        if not is_negated and _is_below(high, low):
            raise self._bad("BETWEEN … AND …: this is below the first", "swap them", after)
        return Between(left, low, high, is_negated)

    def _bound(self) -> Node:
        """Parse the right operand of an order comparison."""
        start = self._word
        node = self._unary()
        self._check_order(node, start)
        return node

    def _unary(self) -> Node:
        if not self._word.is_one("+", "-", "NOT"):
            return self._primary()
        sign = self._take()
        start = self._word
        self._deeper()
        part = self._unary()
        self._depth -= 1
        if sign.text == "+":
            return part
        return Negative(part) if sign.text == "-" else Not(self._condition(part, start))

    def _primary(self) -> Node:
        word = self._take()
        if word.kind is Kind.TEXT:
            return Text(text_of(word))
        if word.kind is Kind.WHOLE:
            return self._whole(word)
        if word.kind is Kind.REAL:
            return self._real(word)
        if word.kind is Kind.PROPERTY:
            return self._property(word)
        if word.is_one(*_TRUTHS):
            return Truth(_TRUTHS[word.text])
        if word.is_one("("):
            self._deeper()
            inner = self._or()
            self._expect(")")
            self._depth -= 1
            return inner
        hint = "such a property cannot be named here" if word.kind is Kind.KEYWORD else ""
        raise self._bad("a value is missing here", _MEANT.get(word.text, hint), word)

    # Values.

    def _whole(self, word: Word) -> Whole:
        digits = word.text.rstrip("lL")
        # Checked by length first: a number of thousands of digits is not converted.
        if len(digits) > 19 or int(digits) > _INT64_MAX:
            raise self._bad(f"at most {_INT64_MAX} can be compared", "", word)
        return Whole(int(digits))

    def _real(self, word: Word) -> Real:
        value = float(word.text)
        if not _REAL_MIN <= value <= _REAL_MAX:
            hint = "write 0" if value == 0 else ""
            raise self._bad(f"such a number is from {_REAL_MIN} to {_REAL_MAX}", hint, word)
        return Real(value)

    def _property(self, word: Word) -> Property:
        self._properties.add(word.text)
        if len(self._properties) > PROPERTIES_MAX:
            raise self._bad(f"at most {PROPERTIES_MAX} properties may be asked for", "", word)
        return Property(word.text)

    def _texts(self) -> tuple[str, ...]:
        self._expect("(")
        texts = [self._text()]
        while self._took(","):
            texts.append(self._text())
        self._expect(")")
        return tuple(texts)

    def _text(self) -> str:
        word = self._take()
        if word.kind is not Kind.TEXT:
            raise self._bad("a text is wanted here", "write it between single quotes", word)
        return text_of(word)

    # Rules of types.

    def _condition(self, node: Node, start: Word) -> Node:
        if isinstance(node, (Property, Truth)):
            return self._term(node)
        if isinstance(node, CONDITIONS):
            return node
        raise self._bad("a condition is wanted here, not a value", "compare it", start)

    def _equal(self, operator: Word, left: Node, right: Node, start: Word, after: Word) -> Node:
        hint = f"write IS {'NOT ' if operator.text == '<>' else ''}NULL"
        for node, word in ((left, start), (right, after)):
            if node == Truth(None):
                raise self._bad("NULL is equal to nothing", hint, word)
        if isinstance(left, Truth) and isinstance(right, LITERALS) and not isinstance(right, Truth):
            raise self._bad("TRUE and FALSE are not compared with this", "", after)
        return self._term(Compared(operator.text, left, right))

    def _check_order(self, node: Node, start: Word) -> None:
        if isinstance(node, (Text, *CONDITIONS)):
            raise self._bad("only numbers and properties have an order", "", start)

    def _term(self, node: Node) -> Node:
        self._terms += 1
        if self._terms > TERMS_MAX:
            raise self._bad(f"at most {TERMS_MAX} comparisons may be", "use IN for lists")
        return node

    # Words.

    @property
    def _word(self) -> Word:
        return self._words[self._next]

    def _is_at_end(self) -> bool:
        return self._word.kind is Kind.END

    def _take(self) -> Word:
        word = self._word
        if word.kind is not Kind.END:
            self._next += 1
        return word

    def _took(self, text: str) -> bool:
        """Take the next word if it is this one."""
        is_it = self._word.is_one(text)
        self._next += is_it
        return is_it

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise self._bad(f"{text} is missing here", _MEANT.get(self._word.text.upper(), ""))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise self._bad(f"more than {DEPTH_MAX} inside each other", "use parentheses less")

    def _bad(self, fault: str, hint: str, word: Word | None = None) -> BadExpression:
        return BadExpression(fault, self._expression, (word or self._word).position, hint)


def _is_below(high: Node, low: Node) -> bool:
    """Whether both bounds are written as numbers, in the wrong order."""
    numbers = (Whole, Real)
    return isinstance(high, numbers) and isinstance(low, numbers) and high.value < low.value


def _depth_of(tree: Node) -> int:
    """The depth of a tree, without recursion: chains like a = b = c … are as deep as they are
    long."""
    depth = 0
    level: tuple[Node, ...] = (tree,)
    while level:
        depth += 1
        level = tuple(part for node in level for part in parts_of(node))
    return depth
