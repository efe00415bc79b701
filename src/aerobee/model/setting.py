"""Setting: RocketMQ's name of a setting, the config field that it fills, and its kind of value.

A component lists its settings beside its configuration; readers of files, variables and requests
need nothing else of it. A kind refuses a text with a ValueError in words that continue "must be":
`a whole number from 1 to 65535`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple, Protocol, TypeVar

C = TypeVar("C")


class Kind(Protocol):
    """The kind of a setting's values: reads and writes their text."""

    def read(self, text: str) -> object: ...

    def write(self, value: Any) -> str: ...


class Truth:
    def read(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise ValueError("true or false")
        return text.lower() == "true"

    def write(self, value: bool) -> str:
        return "true" if value else "false"


class Text:
    def read(self, text: str) -> str:
        return text

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number. The field has `scale` times the number in the text: RocketMQ counts some
    times in seconds, and fields are in ms."""

    low: int
    high: int
    scale: int = 1

    def read(self, text: str) -> int:
        digits = text.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) < 20:
            number = int(text)
            if self.low <= number <= self.high:
                return number * self.scale
        raise ValueError(f"a whole number from {self.low} to {self.high}")

    def write(self, value: int) -> str:
        return str(value // self.scale)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of an enum's members, by its value."""

    members: type[Enum]

    def read(self, text: str) -> Enum:
        for member in self.members:
            if member.value == text.upper():
                return member
        raise ValueError(" or ".join(str(member.value) for member in self.members))

    def write(self, value: Enum) -> str:
        return str(value.value)


class Setting(NamedTuple):
    key: str
    """RocketMQ's name."""
    field: str
    """The field of the component's configuration."""
    kind: Kind
    is_live: bool = False
    """Whether an administrator may change it while the process runs."""


TRUTH = Truth()
TEXT = Text()
PORT = Whole(0, 65535)


def texts(config: object, settings: Iterable[Setting]) -> dict[str, str]:
    """The settings of a configuration under RocketMQ's names."""
    return {setting.key: setting.kind.write(getattr(config, setting.field)) for setting in settings}


def changed(config: C, settings: Iterable[Setting], values: Mapping[str, str]) -> C:
    """The configuration with these live settings changed. ValueError: one is unknown or wrong."""
    known = {setting.key: setting for setting in settings if setting.is_live}
    fields = {}
    for key, text in values.items():
        setting = known.get(key)
        if setting is None:
            raise ValueError(f"{key} cannot be changed while the process runs")
        try:
            fields[setting.field] = setting.kind.read(text.strip())
        except ValueError as wanted:
            raise ValueError(f"{key} must be {wanted}, not {text[:40]!r}") from None
    return replace(config, **fields)  # type: ignore[type-var]
