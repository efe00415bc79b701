"""Parser of amounts as people write them: `10ms`, `3d`, `1KiB`, `100-2000`, `2e9`, `50k`.

A bare number is seconds, bytes or messages. Sizes have units of powers of two (KiB) and ten (kB).
"""

import re

from aerobee.errors import Misuse

_SECONDS = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400, "": 1}
_BYTES = {
    "": 1, "b": 1,
    "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "tib": 1 << 40, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_NUMBER = r"[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+]?[0-9]+)?|\.[0-9]+"
_AMOUNT = re.compile(rf"\s*({_NUMBER})\s*([a-zµA-Z]*)\s*")


def seconds(text: str) -> float:
    return _amount(text, _SECONDS, "a time like 500ms, 10s, 5m or 3d")


def size(text: str) -> int:
    return round(_amount(text, _BYTES, "a size like 100, 1KiB or 2MB"))


def sizes(text: str) -> tuple[int, int]:
    """Parse one size, or two with `-` between: the smallest and the largest."""
    low, dash, high = text.partition("-")
    smallest = size(low)
    largest = size(high) if dash else smallest
    if largest < smallest:
        raise Misuse(f"{text}: the largest size is below the smallest", hint="write 100-2000")
    return smallest, largest


def count(text: str) -> int:
    return round(_amount(text, _COUNTS, "a number like 1000, 50k or 2e9"))


def rate(text: str) -> float | None:
    """Parse a rate per second. None: as fast as possible; Kafka's tools write -1 for that."""
    if text.strip() in ("-1", "max"):
        return None
    wanted = _amount(text, _COUNTS, "messages a second like 1000 or 50k, or max")
    if wanted <= 0:
        raise Misuse(f"{text!r} is no rate", hint="write max for as fast as it goes")
    return wanted


def shown_seconds(amount: float) -> str:
    """Format seconds for people, in the unit that keeps it short."""
    for unit, scale in (("d", 86400.0), ("h", 3600.0), ("s", 1.0), ("ms", 1e-3)):
        if amount >= scale:
            return f"{amount / scale:.3g} {unit}"
    return f"{amount * 1e6:.3g} µs"


def shown_bytes(amount: float) -> str:
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if amount >= 1 << shift:
            return f"{amount / (1 << shift):.3g} {unit}"
    return f"{amount:.0f} bytes"


def _amount(text: str, units: dict[str, float] | dict[str, int], wanted: str) -> float:
    found = _AMOUNT.fullmatch(text)
    unit = "" if found is None else found[2].lower()
    if found is None or unit not in units:
        raise Misuse(f"{text!r} is not {wanted}")
    return float(found[1]) * units[unit]
