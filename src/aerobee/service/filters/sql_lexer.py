"""Splits an SQL expression into words, each with its position.

    keyword   AND OR NOT IN IS NULL TRUE FALSE BETWEEN CONTAINS STARTSWITH ENDSWITH, in any case
    property  a letter, _ or $, then letters, digits, _ and $; case-sensitive
    whole     0, or digits that do not begin with 0, and L or none after them
    real      digits with a point or an exponent or both
    text      between single quotes; two of them stand for one
    symbol    = <> < <= > >= ( ) , + -

White space and comments, `-- …` to the end of a line and `/* … */`, separate words. Anything else
in an expression is reported as an error, with a suggestion.
"""

import re
from enum import Enum
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError

KEYWORDS = frozenset(
    (
        *("AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE", "BETWEEN"),
        *("CONTAINS", "STARTSWITH", "ENDSWITH"),
    )
)
_SHOWN_CHARS = 20

_PIECE = re.compile(
    r"""
    (?P<skip>[ \t\n\r\f]++|--[^\n\r]*+|/\*.*?\*/)
    |(?P<real>[0-9]++\.[0-9]*+(?:[eE][+-]?[0-9]++)?|\.[0-9]++(?:[eE][+-]?[0-9]++)?
             |[0-9]++[eE][+-]?[0-9]++)
    |(?P<whole>0|[1-9][0-9]*+[lL]?)
    |(?P<text>'(?:[^']|'')*+')
    |(?P<word>[A-Za-z_$][A-Za-z0-9_$]*+)
    |(?P<symbol><>|<=|>=|[=<>(),+-])
    """,
    re.VERBOSE | re.DOTALL,
)
_MEANT = {
    '"': "a text stands between single quotes",
    "'": "the text does not end: a quote inside it is written twice",
    "!": "write <> or NOT",
    "|": "write OR",
    "&": "write AND",
    "*": "there is no arithmetic",
    "/": "there is no arithmetic, or the comment does not end",
    "%": "there is no arithmetic",
    ".": "the name of a property has letters, digits, _ and $ only",
    ";": "an expression ends without a sign",
}


class Kind(Enum):
    KEYWORD = "a keyword"
    PROPERTY = "a property"
    WHOLE = "a whole number"
    REAL = "a number"
    TEXT = "a text"
    SYMBOL = "a sign"
    END = "the end"


class Word(NamedTuple):
    kind: Kind
    text: str
    """As written; a keyword in capitals."""
    position: int

    def is_one(self, *texts: str) -> bool:
        """Whether it is one of these keywords or signs."""
        return self.kind in (Kind.KEYWORD, Kind.SYMBOL) and self.text in texts


class BadExpression(RemoteProtocolError):
    """The fault of an expression, its position, and a hint."""

    def __init__(self, fault: str, expression: str, position: int, hint: str = "") -> None:
        near = expression[position : position + _SHOWN_CHARS]
        place = f"at character {position + 1}, {near!r}" if near else "at its end"
        super().__init__(f"{place}: {fault}", hint=hint)
        self.position = position


_KINDS = {"real": Kind.REAL, "whole": Kind.WHOLE, "text": Kind.TEXT, "symbol": Kind.SYMBOL}


def words_of(expression: str) -> list[Word]:
    """The words, the last of them the end. BadExpression: a character begins no word."""
    words = []
    position = 0
    while position < len(expression):
        piece = _PIECE.match(expression, position)
        if piece is None:
            hint = _MEANT.get(expression[position], "")
            raise BadExpression("nothing begins like this", expression, position, hint)
        kind = piece.lastgroup
        assert kind is not None
        if kind == "word":
            words.append(_word(piece[0], position))
        elif kind != "skip":
            words.append(Word(_KINDS[kind], piece[0], position))
        if kind in ("whole", "real"):
            _check_end(expression, position, piece.end())
        position = piece.end()
    words.append(Word(Kind.END, "", len(expression)))
    return words


def text_of(word: Word) -> str:
    """The value of a quoted text."""
    return word.text[1:-1].replace("''", "'")


def _word(text: str, position: int) -> Word:
    capitals = text.upper()
    if capitals in KEYWORDS:
        return Word(Kind.KEYWORD, capitals, position)
    return Word(Kind.PROPERTY, text, position)


def _check_end(expression: str, start: int, end: int) -> None:
    """Refuse a number that is followed by a word character: RocketMQ takes `007` and `5x` for two
    words and ignores the second."""
    after = expression[end : end + 1]
    if after.isascii() and (after.isalnum() or after in ("_", "$", ".")):
        raise BadExpression(
            "a number is followed by what is none", expression, start, "put a space between them"
        )
