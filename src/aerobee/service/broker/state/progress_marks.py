"""ProgressMarks remembers how far the broker's own features were when the log was shorter:
`config/progressMarks.json`, of Aerobee.

    {"marks":[{"logOffset":81505,"delays":{1:5,2:0},"timerReadMs":1794732399000,"timerTaken":12,
               "offsets":{"RMQ_SYS_TRANS_HALF_TOPIC@CID_RMQ_SYS_TRANS":{0:7}}}]}

Delay levels, timer, transactions and pops put messages into the log and save that they are past
the ones these were made of. When the tail of a log is cut off (`storage.recover.log_cut`), what
they put may be in the tail while the original is before it, and they would never put it again.

M1. A mark is true in every log that has the bytes up to its offset: what it counts as done was put
    before that offset, or into the log of another broker.
M2. After a cut the progress is no further than the newest mark that the cut has left, and marks
    behind the cut are gone, before the log grows again. What was put between that mark and the cut
    is put twice. Without a mark everything that the log has is put again.

A cut is recognized by its saved tail, which begins where the log ends, or by a mark behind the end.
There are at most `MARKS_MAX` marks; the farther back they are, the farther they are apart.

Imports more than 15 modules because it knows where each feature saves its progress.
"""

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from aerobee.errors import CorruptFile, DiskFailed, ProtocolError
from aerobee.model.names import SCHEDULE_TOPIC, TIMER_TOPIC, is_system_group
from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.consumer_offsets_file import ConsumerOffsetsFile
from aerobee.service.broker.state.delay_offsets import DelayOffsets
from aerobee.service.broker.state.offset_table import Picture, TopicGroup, key_text, parse_key
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save
from aerobee.storage.recover.log_cut import is_cut_at
from aerobee.storage.store import Store
from aerobee.storage.timer.timer_checkpoint import (
    TimerCheck,
    check_path,
    copied_check,
    decode_check,
    encode_check,
)

_log = logging.getLogger(__name__)

SAVE_MS = 3_000
MARKS_MAX = 16


class Mark(NamedTuple):
    log_offset: int = 0
    delays: Mapping[int, int] = MappingProxyType({})
    """The first message of each level that has yet to be delivered."""
    timer_read_ms: int = 0
    timer_taken: int = 0
    """The timer has delivered what its queue holds before this, for a time before `read`."""
    offsets: Picture = MappingProxyType({})
    """Of the broker's own groups."""

    def json(self) -> dict[str, Value]:
        return {
            "logOffset": self.log_offset,
            "delays": dict(self.delays),
            "timerReadMs": self.timer_read_ms,
            "timerTaken": self.timer_taken,
            "offsets": {key_text(key): dict(found) for key, found in self.offsets.items()},
        }


class ProgressMarks:
    def __init__(
        self,
        file: ConfigFile,
        disk: Disk,
        worker: DiskWorker,
        store: Store,
        delays: DelayOffsets,
        offsets: ConsumerOffsets,
        offsets_file: ConsumerOffsetsFile,
        now: Now,
    ) -> None:
        """Reads the file; after a cut, takes the progress back, blocking on the disk. CorruptFile:
        a file is damaged, and so is its backup. DiskFailed: what was taken back is not saved."""
        self._file = file
        self._disk = disk
        self._store = store
        self._delays = delays
        self._offsets = offsets
        self._marks = self._load()
        check = self._timer_check()
        end = store.end_offset
        is_behind = bool(self._marks) and self._marks[-1].log_offset > end
        if is_behind or is_cut_at(disk, store.root, end):
            kept = [mark for mark in self._marks if mark.log_offset <= end]
            last = kept[-1] if kept else Mark()
            _log.warning(
                "the log was cut at %d: what was delivered after %d is delivered again",
                end,
                last.log_offset,
            )
            self._take_back(last, offsets_file, check, now)
            check = self._timer_check()
            if kept != self._marks:
                self._marks = kept
                file.store(_json(kept))
        # A checkpoint of the timer counts from the next mark on: it was there before that one.
        self._timer = check or TimerCheck()
        self.saving = PeriodicSave(worker, file.path, SAVE_MS, now.monotonic_ms, self._take)

    # After a cut.

    def _take_back(
        self, mark: Mark, offsets_file: ConsumerOffsetsFile, check: TimerCheck | None, now: Now
    ) -> None:
        """Go on from a mark, or from where the progress is if that is before it."""
        if check is not None:
            lower = check._replace(
                read_ms=min(check.read_ms, mark.timer_read_ms),
                queue_offset=0,
                master_queue_offset=min(check.taken_in, mark.timer_taken),
            )
            fitted = copied_check(lower, self._bounds(TIMER_TOPIC, 0)[1])
            self._disk.replace(check_path(self._store.root), encode_check(fitted, None))
        levels = {}
        for level, offset in self._delays.saved.items():
            first, end = self._bounds(SCHEDULE_TOPIC, level - 1)
            levels[level] = max(first, min(offset, mark.delays.get(level, 0), end))
        self._delays.save(levels, now.wall_ms)
        self._delays.finish()
        for (topic, group), found in self._own_offsets().items():
            before = mark.offsets.get((topic, group), {})
            for queue_id, offset in found.items():
                first, end = self._bounds(topic, queue_id)
                back = max(first, min(offset, before.get(queue_id, 0)))
                self._offsets.commit(group, topic, queue_id, back, end)
        offsets_file.saving.close(now)
        if self._delays.saved != levels or self._offsets.is_dirty:
            raise DiskFailed("how far delivery is after the cut of the log could not be saved")

    def _bounds(self, topic: str, queue_id: int) -> tuple[int, int]:
        queue = self._store.queue(topic.encode(), queue_id)
        return (0, 0) if queue is None else (queue.min_offset, queue.max_offset)

    # Marks.

    def _own_offsets(self) -> dict[TopicGroup, Mapping[int, int]]:
        own = sorted(pair for pair in self._offsets.pairs() if is_system_group(pair[1]))
        return {(topic, group): dict(self._offsets.of(group, topic)) for topic, group in own}

    def _take(self, wall_ms: int) -> Save:
        """Look at the timer's checkpoint, for the next mark, and save a mark if anything moved."""
        check = self._timer
        mark = Mark(
            self._store.flushed_offset,  # progress is saved when what was put is on the disk
            self._delays.saved,
            check.read_ms,
            check.taken_in,
            self._own_offsets(),
        )
        marks = self._marks
        if not marks or mark[1:] != marks[-1][1:]:
            marks = with_mark(marks, mark)
        is_new = marks is not self._marks
        found: list[TimerCheck | None] = []  # of the job that runs once

        def write() -> None:
            found.append(self._timer_check())
            if is_new:
                self._file.store(_json(marks))

        def written(is_on_disk: bool) -> None:
            for check in found:
                self._timer = check or self._timer
            if is_on_disk:
                self._marks = marks

        return Save(write, written)

    # Files.

    def _timer_check(self) -> TimerCheck | None:
        path = check_path(self._store.root)
        found = decode_check(self._disk.read(path)) if self._disk.exists(path) else None
        return None if found is None else found[0]

    def _load(self) -> Sequence[Mark]:
        loaded = self._file.load()
        if loaded is None:
            return []
        try:
            marks = Members(loaded.value, self._file.path).array("marks")
            return [_mark_from(Members(one, self._file.path)) for one in marks]
        except ProtocolError as error:
            raise CorruptFile(error.message, path=self._file.path) from None


def with_mark(marks: Sequence[Mark], new: Mark) -> list[Mark]:
    """Add a mark; of too many, one goes that is close to its neighbours, compared with how far
    they are back. The oldest stays."""
    kept = [mark for mark in marks if mark.log_offset < new.log_offset]
    if len(kept) >= MARKS_MAX:
        places = [mark.log_offset for mark in kept]
        end = new.log_offset

        def gap(number: int) -> float:
            return (places[number + 1] - places[number - 1]) / (end - places[number])

        places.append(end)
        del kept[min(range(1, len(kept)), key=gap)]
    return [*kept, new]


def _json(marks: Sequence[Mark]) -> dict[str, Value]:
    return {"marks": [mark.json() for mark in marks]}


def _mark_from(members: Members) -> Mark:
    offsets: dict[TopicGroup, Mapping[int, int]] = {}
    for name, found in members.object("offsets").objects():
        key = parse_key(name)
        if key is not None:
            offsets[key] = found.numbers_by_number()
    return Mark(
        members.int64("logOffset"),
        members.object("delays").numbers_by_number(),
        members.int64("timerReadMs"),
        members.int64("timerTaken"),
        offsets,
    )
