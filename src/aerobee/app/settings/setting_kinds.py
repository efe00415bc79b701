"""Kinds of settings that only a configuration file has: names, addresses, sizes, times as
RocketMQ writes them. `model/setting.py` defines a kind.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_NAME = re.compile(r"[%|a-zA-Z0-9_.-]{1,127}")
_HOST = re.compile(r"[a-zA-Z0-9_.%:-]{0,253}")
_ADDRESS = re.compile(r"([a-zA-Z0-9_.-]{1,253}|\[[0-9a-fA-F:.%a-zA-Z]{2,64}\]):([0-9]{1,5})")
_DELAY = re.compile(r"([0-9]{1,9})([smhd])")
_UNIT_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000}


class NameKind:
    """A name that goes over the wire and into file names."""

    def read(self, text: str) -> str:
        if not _NAME.fullmatch(text):
            raise ValueError("1 to 127 letters, digits and % | _ . -")
        return text

    def write(self, value: str) -> str:
        return value


class HostKind:
    """A host or an address without a port; empty: detected at the start."""

    def read(self, text: str) -> str:
        host = text.strip("[]")
        if not _HOST.fullmatch(host):
            raise ValueError("a host name or an address")
        return host

    def write(self, value: str) -> str:
        return value


class AddressesKind:
    """`host:port;host:port`"""

    def read(self, text: str) -> tuple[str, ...]:
        found = tuple(part.strip() for part in text.split(";") if part.strip())
        for address in found:
            match = _ADDRESS.fullmatch(address)
            if match is None or not 0 < int(match[2]) < 65536:
                raise ValueError("addresses as host:port, with ; in between")
        return found

    def write(self, value: tuple[str, ...]) -> str:
        return ";".join(value)


@dataclass(frozen=True, slots=True)
class Only:
    """A setting with one valid value. Another value asks for a feature that is missing here, and
    must not be ignored silently."""

    text: str
    reason: str

    def read(self, text: str) -> str:
        if text.lower() != self.text.lower():
            raise ValueError(f"{self.text or 'empty'} ({self.reason})")
        return self.text

    def write(self, value: str) -> str:
        return value


@dataclass(frozen=True, slots=True)
class BytesOfUnits:
    """A size in bytes; the field counts units, rounded up."""

    unit_bytes: int
    high_bytes: int

    def read(self, text: str) -> int:
        if text.isascii() and text.isdigit() and 0 < int(text[:20]) <= self.high_bytes:
            return -(-int(text) // self.unit_bytes)
        raise ValueError(f"a whole number from 1 to {self.high_bytes}")

    def write(self, value: int) -> str:
        return str(value * self.unit_bytes)


@dataclass(frozen=True, slots=True)
class Percent:
    """A whole percentage; the field is a fraction of 1."""

    low: int
    high: int

    def read(self, text: str) -> float:
        if text.isascii() and text.isdigit() and self.low <= int(text[:4]) <= self.high:
            return int(text) / 100
        raise ValueError(f"a whole number from {self.low} to {self.high}")

    def write(self, value: float) -> str:
        return str(round(value * 100))


@dataclass(frozen=True, slots=True)
class Delays:
    """`1s 5s 1m 2h`; the field has them in ms."""

    count_max: int

    def read(self, text: str) -> tuple[int, ...]:
        found = []
        for part in text.split():
            match = _DELAY.fullmatch(part)
            if match is None or int(match[1]) == 0:
                raise ValueError(f"times like 1s 10m 2h 1d, and {part!r} is none")
            found.append(int(match[1]) * _UNIT_MS[match[2]])
        if not 0 < len(found) <= self.count_max:
            raise ValueError(f"from 1 to {self.count_max} times like 1s 10m 2h 1d")
        return tuple(found)

    def write(self, value: tuple[int, ...]) -> str:
        return " ".join(_delay_text(ms, _UNIT_MS) for ms in value)


def _delay_text(ms: int, units: Mapping[str, int]) -> str:
    """Format a delay in the largest unit that divides it, up to hours."""
    for unit, unit_ms in units.items():
        if unit != "d" and ms % unit_ms == 0:
            return f"{ms // unit_ms}{unit}"
    return f"{ms // 1000}s"


NAME = NameKind()
HOST = HostKind()
ADDRESSES = AddressesKind()
