"""Verification checks everything in a store: each record, each unit of a queue, each key.

    damage   stored data is broken: a broker will not deliver it
    note     repaired by the next start, or harmless: a torn tail, a stop that was not clean

Nothing is changed. It takes as long as reading the whole store.
"""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from aerobee.app.offline.index_walk import IndexCheck, IndexWalk
from aerobee.app.offline.log_walk import Damage, LogWalk
from aerobee.app.offline.queue_walk import UnitCheck, units_of
from aerobee.app.offline.store_folder import StoreFolder

DAMAGE, NOTE = ("damage", "note")
_SAME_MAX = 20  # findings of one file: a file of zeros has millions


class StoreFault(NamedTuple):
    kind: str
    path: str
    position: int
    what: str


class Verification:
    """Iterate over `findings` to run it; the counts are complete when that has ended."""

    def __init__(
        self, folder: StoreFolder, step: Callable[[int], None] = lambda count: None
    ) -> None:
        """`step` is called with the number of checked items."""
        self._folder = folder
        self._step = step
        self.records = 0
        self.log_end = folder.log_start
        self.units = 0
        self.keys = 0
        self.queues = 0

    def findings(self) -> Iterator[StoreFault]:
        yield from self._log()
        yield from self._queues()
        yield from self._index()
        yield from self._configs()

    def _log(self) -> Iterator[StoreFault]:
        walk = LogWalk(self._folder)
        mark = self._folder.mark()
        for found in walk:
            if isinstance(found, Damage):
                yield self._judged(found, 0 if mark is None else mark.flushed)
            else:
                self.records += 1
                self._step(1)
        self.log_end = walk.end
        if mark is not None and walk.end < mark.flushed:
            what = f"the log ends at {walk.end}, and went on to {mark.flushed} at least"
            yield StoreFault(DAMAGE, f"{self._folder.root}/commitlog", 0, what)
        if self._folder.is_aborted():
            what = "it was not stopped in order; a start looks through it"
            yield StoreFault(NOTE, f"{self._folder.root}/abort", 0, what)

    def _judged(self, found: Damage, flushed: int) -> StoreFault:
        what = f"{found.reason} at log offset {found.log_offset}, {found.size} bytes"
        if not found.is_tail or found.log_offset < flushed:
            return StoreFault(DAMAGE, found.path, found.position, what)
        return StoreFault(
            NOTE, found.path, found.position, f"torn tail, which a start cuts: {what}"
        )

    def _queues(self) -> Iterator[StoreFault]:
        check = UnitCheck(self._folder)
        for queue in self._folder.queues():
            self.queues += 1
            faults = 0
            before = -1
            for unit in units_of(queue):
                self.units += 1
                self._step(1)
                fault = check.fault(queue, unit)
                if fault is None and unit.log_offset <= before:
                    fault = f"comes after one that is further on in the log, at {before}"
                before = unit.log_offset
                if fault is None:
                    continue
                faults += 1
                if faults <= _SAME_MAX:
                    what = f"unit {unit.queue_offset} of {queue.topic}:{queue.queue_id} {fault}"
                    yield self._unit_finding(unit.log_offset, unit.path, unit.position, what)
            if faults > _SAME_MAX:
                yield StoreFault(
                    DAMAGE, queue.path, 0, f"{faults - _SAME_MAX} more units like these"
                )

    def _index(self) -> Iterator[StoreFault]:
        check = IndexCheck(self._folder)
        for path in self._folder.index_paths():
            walk = IndexWalk(path)
            if walk.header is None:
                yield StoreFault(DAMAGE, path, 0, "it is too short for an index")
                continue
            faults = 0
            for unit in walk.units():
                self.keys += 1
                self._step(1)
                fault = check.fault(unit)
                if fault is None:
                    continue
                faults += 1
                if faults <= _SAME_MAX:
                    what = f"key {unit.number} {fault}"
                    yield self._unit_finding(unit.log_offset, path, unit.position, what)
            if faults > _SAME_MAX:
                yield StoreFault(DAMAGE, path, 0, f"{faults - _SAME_MAX} more keys like these")

    def _unit_finding(self, log_offset: int, path: str, position: int, what: str) -> StoreFault:
        """Return the finding of a unit. After an unclean stop, a unit that points after the end of
        the log is only a note: the next start cuts it off."""
        is_cut = log_offset >= self.log_end and self._folder.is_aborted()
        return StoreFault(NOTE if is_cut else DAMAGE, path, position, what)

    def _configs(self) -> Iterator[StoreFault]:
        for path in self._folder.config_paths():
            try:
                with open(path, encoding="utf-8") as file:
                    json.load(file)
            except (ValueError, UnicodeDecodeError) as error:
                # RocketMQ writes objects as keys, which no JSON has.
                if "property name" not in str(error):
                    yield StoreFault(DAMAGE, path, getattr(error, "pos", 0), "it is no JSON")
