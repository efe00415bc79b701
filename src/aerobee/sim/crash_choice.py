"""CrashChoice says which unsynced writes survive a power cut; this module lists those worth trying.

There are 2^n subsets of n sector writes, times the prefixes of every folder's list of name
changes. Tried are, with W the writes and N the name changes:

    none, all, every prefix, every single drop of W, `random_count` random subsets
        each with no and with all changes of N
    every prefix of N in time; every prefix of each folder's list, the others all or none
        each with no, with all and with two random subsets of W
    every prefix of W and N together, in time

A choice that leaves the same disk as an earlier one is left out. That is at most about
4w + 2r + 12n + (w + n) disks.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aerobee.sim.names import NameChange
from aerobee.sim.sector_file import LENGTH, SectorFile, SectorWrite


class CrashChoice(NamedTuple):
    """Moments of the sector writes and of the name changes that survive; `label` says which, for
    the message of a failing test."""

    label: str
    writes: frozenset[int]
    names: frozenset[int]
    is_short: bool = False
    """A file whose length is lost comes back half as long (true) or empty (false)."""


def crash_choices(
    writes: Sequence[SectorWrite],
    folders: Sequence[Sequence[NameChange]],
    random_count: int,
    seed: int,
) -> Iterator[CrashChoice]:
    """As the table above says, repeats included. `writes` and each folder's list oldest first."""
    moments = [write.moment for write in writes]
    generator = random.Random(seed)
    changes = sorted(change.moment for listed in folders for change in listed)
    all_writes, all_names, none = frozenset(moments), frozenset(changes), frozenset[int]()
    for label, kept in _write_choices(moments, random_count, generator):
        is_short = generator.random() < 0.5 and label.startswith("random")
        yield CrashChoice(f"writes {label}, names all", kept, all_names, is_short)
        yield CrashChoice(f"writes {label}, names none", kept, none, is_short)
    for label, names in _name_choices(changes, folders):
        yield CrashChoice(f"writes none, names {label}", none, names)
        yield CrashChoice(f"writes all, names {label}", all_writes, names)
        for index in range(2):
            kept = frozenset(moment for moment in moments if generator.random() < 0.5)
            yield CrashChoice(f"writes random {index}, names {label}", kept, names, index == 1)
    for moment in sorted(all_writes | all_names):
        yield CrashChoice(
            f"everything before moment {moment}",
            frozenset(m for m in moments if m < moment),
            frozenset(m for m in changes if m < moment),
        )


def effective_writes(file: SectorFile, kept: Iterable[int]) -> list[SectorWrite]:
    """The kept writes of a file that show: the newest of each sector, and its length. None, if
    the length does not survive."""
    chosen = set(kept)
    newest = {write.sector: write for write in file.writes if write.moment in chosen}
    if file.has_new_length() and LENGTH not in newest:
        return []
    return list(newest.values())


def _write_choices(
    moments: Sequence[int], random_count: int, generator: random.Random
) -> Iterator[tuple[str, frozenset[int]]]:
    yield "none", frozenset()
    yield "all", frozenset(moments)
    for count in range(1, len(moments)):
        yield f"first {count} of {len(moments)}", frozenset(moments[:count])
    for moment in moments:
        yield f"all but moment {moment}", frozenset(moments) - {moment}
    if len(moments) > 1:
        for index in range(random_count):
            kept = frozenset(moment for moment in moments if generator.random() < 0.5)
            yield f"random {index}", kept


def _name_choices(
    changes: Sequence[int], folders: Sequence[Sequence[NameChange]]
) -> Iterator[tuple[str, frozenset[int]]]:
    for count in range(1, len(changes)):
        yield f"first {count} of {len(changes)}", frozenset(changes[:count])
    for index, listed in enumerate(folders):
        own = [change.moment for change in listed]
        others = frozenset(changes) - frozenset(own)
        for count in range(len(own) + 1):
            label = f"first {count} of {len(own)} in folder {index}"
            yield f"{label}, others all", others | frozenset(own[:count])
            yield f"{label}, others none", frozenset(own[:count])
