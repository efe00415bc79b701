"""Merges the consumer offsets of a master with those of this slave.

The master's offset counts, also if it is lower: an operator may have set it back. Only an offset
that a consumer committed at this slave, and that is higher, stays, unless the master's own has
moved since the last copy: then its consumers, or an operator, have decided. After a start of the
master that is not known (a crash takes commits of the last seconds back), and the slave's stays.

    master, last copy   master now   committed here   result
    10                  10           14               14, and the master is told
    10                  16           14               16
    10                  3            14               3
    10                  9, started   14               14, and the master is told
    10                  12           none             12
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from aerobee.service.broker.state.offset_table import UNKNOWN, Picture, TopicGroup

CommitsOf = Mapping[TopicGroup, Mapping[int, int]]
MaxOffset = Callable[[str, int], int]
"""(topic, queue) → the end of that queue."""
_NONE: Mapping[int, int] = {}


class OwedCommit(NamedTuple):
    """A commit made at this slave that its master does not have."""

    topic: str
    group: str
    queue_id: int
    offset: int


class OffsetMerge(NamedTuple):
    changed: dict[TopicGroup, Mapping[int, int]]
    """The offsets of pairs that this slave has otherwise."""
    gone: list[TopicGroup]
    """Pairs that the master does not have."""
    owed: list[OwedCommit]
    settled: list[OwedCommit]
    """Commits that the master has, or has overruled."""


def merge_offsets(
    now: Picture, before: Picture | None, own: Picture, here: CommitsOf, max_offset: MaxOffset
) -> OffsetMerge:
    """`now` and `before`: the master's offsets in this copy and in the last (None: there is none
    since the master's start). `own`: this slave's, `here`: those committed at it."""
    merge = OffsetMerge({}, [], [], [])
    for key in now.keys() | here.keys():
        said = now.get(key, _NONE)
        if key not in here and own.get(key) == said:
            continue  # of most pairs nothing has changed
        if key in here:
            last = None if before is None else before.get(key, _NONE)
            said = _with_commits(key, said, last, here[key], merge)
        topic = key[0]
        kept = {
            queue_id: max(0, min(offset, max_offset(topic, queue_id)))
            for queue_id, offset in said.items()
        }
        if kept and own.get(key) != kept:
            merge.changed[key] = kept
        elif not kept and key in own:
            merge.gone.append(key)
    merge.gone.extend(key for key in own if key not in now and key not in here)
    return merge


def _with_commits(
    key: TopicGroup,
    said: Mapping[int, int],
    last: Mapping[int, int] | None,
    here: Mapping[int, int],
    merge: OffsetMerge,
) -> Mapping[int, int]:
    """The offsets of one pair, with the commits made here that stay."""
    merged = dict(said)
    for queue_id, offset in here.items():
        commit = OwedCommit(*key, queue_id, offset)
        of_master = said.get(queue_id, UNKNOWN)
        has_moved = last is not None and of_master != last.get(queue_id, UNKNOWN)
        if of_master >= offset or has_moved:
            merge.settled.append(commit)
        else:
            merge.owed.append(commit)
            merged[queue_id] = offset
    return merged
