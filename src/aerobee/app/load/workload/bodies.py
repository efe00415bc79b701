"""The bodies that are sent: of one size or of sizes in a range, or pieces of a file.

    stamped (to be timed on arrival)
    ┌────────────┬──────────────┬────────┐
    │ run 8 bytes│ due, ns, 8 BE│ filling│     never shorter than its stamp
    └────────────┴──────────────┴────────┘

The sizes of a range are spread evenly over it. All are made before the first send; a stamped one is
put together when it is sent. Their bytes do not compress.
"""

from random import Random

POOL = 256
STAMP_BYTES = 16


def bodies_of(low: int, high: int, seed: int, payload: bytes | None = None) -> list[bytes]:
    """Return the bodies. They are cut from `payload`, repeatedly; else they are random bytes."""
    chance = Random(seed)
    low, high = max(1, low), max(1, high)
    count = 1 if low == high and payload is None else POOL
    sizes = [low + (high - low) * number // max(1, count - 1) for number in range(count)]
    chance.shuffle(sizes)
    if not payload:
        return [chance.randbytes(size) for size in sizes]
    endless = payload * (high // len(payload) + 2)
    starts = [chance.randrange(len(payload)) for _ in sizes]
    return [endless[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def stamped(run: bytes, due_ns: int, body: bytes) -> bytes:
    return run + due_ns.to_bytes(8, "big") + body[STAMP_BYTES:]


def stamp_in(run: bytes, body: bytes) -> int | None:
    """Return the due time of a stamped message of this run; else None."""
    if len(body) < STAMP_BYTES or body[:8] != run:
        return None
    return int.from_bytes(body[8:STAMP_BYTES], "big")
