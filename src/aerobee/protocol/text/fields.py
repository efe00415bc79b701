"""Reading the fields of a request: text, numbers, truth, each checked, each error by name.

Every value travels as text. Numbers are decimal digits with an optional minus and nothing else:
Python's int() would also take blanks, underscores and the digits of other scripts.
"""

import re
from collections.abc import Mapping

from aerobee.errors import RemoteProtocolError

_DECIMAL = re.compile(r"-?[0-9]{1,19}", re.ASCII)
INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)


def read_number(name: str, text: str, bounds: tuple[int, int]) -> int:
    """The number that a field says."""
    if _DECIMAL.fullmatch(text):
        value = int(text)
        if bounds[0] <= value <= bounds[1]:
            return value
    raise RemoteProtocolError(f"the field {name} is no number of its kind: {text[:40]!r}")


def read_truth(text: str) -> bool:
    """Java's rule, and the 1 that old C++ clients send."""
    return text.lower() == "true" or text == "1"


class Fields:
    """The ext fields of one request, read by name."""

    __slots__ = ("_fields",)

    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        """A field that must be there."""
        value = self._fields.get(name)
        if value is None:
            raise RemoteProtocolError(f"the field {name} is missing")
        return value

    def optional_text(self, name: str, default: str = "") -> str:
        return self._fields.get(name, default)

    def int32(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, INT32)

    def int64(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, INT64)

    def is_true(self, name: str, default: bool = False) -> bool:
        value = self._fields.get(name)
        return default if value is None else read_truth(value)

    def _number(self, name: str, default: int | None, bounds: tuple[int, int]) -> int:
        text = self._fields.get(name)
        if not text:
            if default is None:
                raise RemoteProtocolError(f"the field {name} is missing")
            return default
        return read_number(name, text, bounds)
