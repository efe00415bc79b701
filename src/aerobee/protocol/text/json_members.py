"""Reading the members of a JSON object: text, numbers, truth, each checked, each error by name.

What Java's parser takes is taken where clients rely on it: a number may come as its text, and a
member that is null is one that is not there.
"""

import re
from collections.abc import Iterator
from typing import TypeVar

from aerobee.errors import RemoteProtocolError
from aerobee.protocol.text.fields import INT32, INT64
from aerobee.protocol.text.json_text import Key, Parsed, by_number

_T = TypeVar("_T")
_DECIMAL = re.compile(r"-?[0-9]{1,19}", re.ASCII)


class Members:
    """One JSON object, read by name. `what` is how an error calls it."""

    __slots__ = ("_members", "what")

    def __init__(self, value: Parsed, what: str) -> None:
        if not isinstance(value, dict):
            raise RemoteProtocolError(f"{what} is no JSON object")
        self._members: dict[Key, Parsed] = value
        self.what = what

    def text(self, name: str, default: str | None = None) -> str:
        value = self._members.get(name)
        if value is None:
            return self._otherwise(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, "no text")
        return value

    def int32(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, INT32)

    def int64(self, name: str, default: int | None = None) -> int:
        return self._number(name, default, INT64)

    def real(self, name: str, default: float | None = None) -> float:
        """A number, whole or not."""
        value = self._members.get(name)
        if value is None:
            return self._otherwise(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "no number")
        return float(value)

    def is_true(self, name: str, default: bool = False) -> bool:
        value = self._members.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        raise self._wrong(name, "neither true nor false")

    def has(self, name: str) -> bool:
        return self._members.get(name) is not None

    def object(self, name: str) -> "Members":
        """An object of its own; an empty one if it is not there."""
        value = self._members.get(name)
        return Members({} if value is None else value, f"{name} of {self.what}")

    def array(self, name: str) -> list[Parsed]:
        """The items of an array; none if it is not there."""
        value = self._members.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self._wrong(name, "no array")
        return value

    def texts(self) -> dict[str, str]:
        """All members, where the object is a map from text to text."""
        return {name: self.text(name) for name in self.names()}

    def objects(self) -> Iterator[tuple[str, "Members"]]:
        """All members, where the object is a map from text to objects."""
        for name in self.names():
            yield name, Members(self._members[name], f"{name[:100]} of {self.what}")

    def texts_by_number(self) -> dict[int, str]:
        """All members, where the object is a map from numbers, bare or quoted, to text."""
        found = {}
        for number, value in by_number(self._members).items():
            if not isinstance(value, str):
                raise self._wrong(str(number), "no text")
            found[number] = value
        return found

    def numbers_by_number(self) -> dict[int, int]:
        """All members, where the object is a map from numbers, bare or quoted, to numbers."""
        found = {}
        for number, value in by_number(self._members).items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise self._wrong(str(number), "no whole number")
            found[number] = value
        return found

    def names(self) -> list[str]:
        """The names of all members, which must be text."""
        names = [name for name in self._members if isinstance(name, str)]
        if len(names) < len(self._members):
            raise RemoteProtocolError(f"{self.what} has a key that is no text")
        return names

    def plain(self) -> dict[Key, Parsed]:
        """The object as it was read, for what is passed on unseen."""
        return self._members

    def _number(self, name: str, default: int | None, bounds: tuple[int, int]) -> int:
        value = self._members.get(name)
        if value is None:
            return self._otherwise(name, default)
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(name, "no whole number")
        if not bounds[0] <= value <= bounds[1]:
            raise self._wrong(name, f"{value}, which does not fit")
        return value

    def _otherwise(self, name: str, default: _T | None) -> _T:
        if default is None:
            raise RemoteProtocolError(f"{self.what} lacks {name}")
        return default

    def _wrong(self, name: str, fault: str) -> RemoteProtocolError:
        return RemoteProtocolError(f"{name[:100]} of {self.what} is {fault}")
