"""Any bytes are a send or not; what the scan reads, the general codec reads the same.

Two headers are scanned one after the other, the second made from the first by one edit, so that
what was learned from the first is tried on one almost like it.
"""

from importlib import import_module

from tests.pure import pure
from tests.wire import Wire, frame

_compiled = Wire(import_module)
_interpreted = Wire(pure)


def check(data: bytes) -> None:
    """Any bytes are a send or not; what the scan reads, the general codec reads the same."""
    if len(data) < 8:
        return
    serialize_type = data[0] & 1
    first = data[7:]
    start = int.from_bytes(data[1:3], "big") % (len(first) + 1)
    second = first[:start] + data[3 : 3 + data[0] % 5] + first[start + data[0] // 5 % 5 :]
    frames = [frame(header, b"body", serialize_type) for header in (first, second, first)]
    alone = [_compiled.scans([data])[0] for data in frames]
    assert _compiled.scans(frames) == alone
    assert _interpreted.scans(frames) == alone
    for values, one in zip(alone, frames, strict=True):
        if values is not None:
            assert _compiled.taken(one) == values
            assert _interpreted.taken(one) == values
