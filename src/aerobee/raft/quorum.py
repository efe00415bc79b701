"""Numbers that a majority of voters has reached.

Offsets on their disks say what is committed, stamps of heartbeats how long a leader is alone.
"""

from collections.abc import Iterable


def reached_by(values: Iterable[int], quorum: int) -> int:
    """The largest number that at least `quorum` of the values reach."""
    return sorted(values, reverse=True)[quorum - 1]
