r"""Java's properties text ⇄ keys and values: RocketMQ's configuration, in files and on the wire.

    # a comment, or with !
    key=value          also `key: value` and `key value`; blanks around the separator do not count
    key=one \
        two            a line that ends in a backslash goes on, without the blanks, on the next
    key=\u0041\t\\     escapes; a backslash before any other character is dropped

Agrees with java.util.Properties in what it reads; the text is UTF-8 where Java's may be Latin-1.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from aerobee.errors import RemoteProtocolError

_BLANKS = " \t\f"
_LINE_END = re.compile(r"\r\n|\n|\r")
# A key: up to the first separator that is not escaped.
_KEY = re.compile(r"(?:[^\\=: \t\f]|\\.)*", re.DOTALL)
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED_IN_KEY = re.compile(r"[\\=: \t\f\r\n#!]")
_ESCAPED_IN_VALUE = re.compile(r"[\\\t\f\r\n]|^ ")


class Property(NamedTuple):
    line: int
    """Where its key stands, counted from 1."""
    key: str
    value: str


def parse_properties(text: str) -> list[Property]:
    """In the order in which they stand; a key may come twice, and then the later one counts."""
    found = []
    for number, line in _logical_lines(text):
        key = _KEY.match(line)
        assert key is not None
        separator = _SEPARATOR.match(line, key.end())
        assert separator is not None
        found.append(
            Property(
                number, _unescaped(key[0], number), _unescaped(line[separator.end() :], number)
            )
        )
    return found


def write_properties(table: Mapping[str, str]) -> str:
    """One property a line, in the order given."""
    return "".join(
        f"{_ESCAPED_IN_KEY.sub(_escape, key)}={_ESCAPED_IN_VALUE.sub(_escape, value)}\n"
        for key, value in table.items()
    )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number: continued ones joined, comments and empty ones left out."""
    connections = iter(enumerate(_LINE_END.split(text), start=1))
    for number, natural in connections:
        line = natural.lstrip(_BLANKS)
        if not line or line[0] in "#!":
            continue
        while _is_continued(line):
            _, following = next(connections, (0, ""))
            line = line[:-1] + following.lstrip(_BLANKS)
        yield number, line


def _is_continued(line: str) -> bool:
    """Whether the backslash at the end, if there is one, is not itself escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str, line: int) -> str:
    def replace(found: re.Match[str]) -> str:
        escaped: str = found[1]
        if len(escaped) == 5:
            return chr(int(escaped[1:], 16))
        if escaped == "u":
            raise RemoteProtocolError(f"line {line}: \\u without four hexadecimal digits")
        return _CONTROLS.get(escaped, escaped)

    return _joined(_ESCAPE.sub(replace, text), line) if "\\" in text else text


def _joined(text: str, line: int) -> str:
    """Pairs of surrogates, which is how Java escapes what is beyond 16 bits, as what they mean."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise RemoteProtocolError(f"line {line}: half of a pair of surrogates") from None


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    for name, control in _CONTROLS.items():
        if character == control:
            return f"\\{name}"
    return f"\\{character}"
