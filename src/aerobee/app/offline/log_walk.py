"""LogWalk reads the log of a store, record after record, and continues after damage.

A record contains its own log offset. So after damage the walk continues at the next bytes that are
a sound record with the log offset at which they are found: nothing else is mistaken for one.

The log ends where nothing but zeros follows. Other bytes after the last sound record are a torn
tail, which a broker's start cuts off; they are damage if the durable mark covers them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from aerobee.app.offline.store_folder import StoredFile, StoreFolder
from aerobee.protocol.message.record import Record
from aerobee.protocol.message.record_check import CHECK_FINDINGS, FILLER, SOUND, RecordCheck

_ZEROS = bytes(1 << 16)


class FoundRecord(NamedTuple):
    """A sound record, at `position` of a file."""

    file: StoredFile
    position: int
    record: Record
    """The walk's own: it is filled anew for the next one."""

    @property
    def log_offset(self) -> int:
        return self.file.first + self.position

    @property
    def topic(self) -> str:
        start = self.record.topic_start
        return str(self.file.view[start : start + self.record.topic_size], "utf-8", "replace")


class Damage(NamedTuple):
    """Bytes that are no record, between two log offsets."""

    path: str
    position: int
    log_offset: int
    size: int
    reason: str
    is_tail: bool
    """Nothing sound comes after it."""


class LogWalk:
    """Iterates over records and damage, from `start`; after the walk, `end` is the end of the
    log."""

    def __init__(self, folder: StoreFolder, start: int | None = None) -> None:
        """`start`: a log offset at which a record begins, or any offset before the next record."""
        self._folder = folder
        self._check = RecordCheck()
        self.record = self._check.record
        self.start = folder.log_start if start is None else start
        self.end = self.start

    def __iter__(self) -> Iterator[FoundRecord | Damage]:
        for number, file in enumerate(self._folder.log):
            if file.end <= self.start:
                continue
            expected = self._folder.log[number - 1].end if number else file.first
            if file.first != expected:
                reason = "files of the log are missing"
                yield Damage(file.path, 0, expected, file.first - expected, reason, False)
            yield from self._walk_file(file, max(0, self.start - file.first))

    def _walk_file(self, file: StoredFile, position: int) -> Iterator[FoundRecord | Damage]:
        while position < file.size:
            finding = self.reason_at(file, position)
            if finding is None:
                yield FoundRecord(file, position, self.record)
                position += self.record.size
                self.end = file.first + position
                continue
            if finding == "":
                return  # a filler: the file ends here
            after = self._next_sound(file, position + 1)
            if after is None and _is_zero(file, position):
                if not self._has_more(file):
                    return  # nothing was written after this
                finding = "nothing, in a log that goes on"
            is_tail = after is None and not self._has_more(file)
            end = file.size if after is None else after
            log_offset = file.first + position
            yield Damage(file.path, position, log_offset, end - position, finding, is_tail)
            position = end

    def reason_at(self, file: StoredFile, position: int) -> str | None:
        """Return what is wrong with the record there. None: nothing, and `record` holds it; empty:
        the file ends there."""
        finding = self._check.judge_in(file.view, position, file.first, file.end, False)
        if finding == SOUND:
            return None
        return "" if finding == FILLER else CHECK_FINDINGS[finding]

    def record_at(self, log_offset: int) -> StoredFile | str | None:
        """Return the file that has a sound record there, and read it into `record`; or what is
        there instead. None: it expired."""
        if log_offset < self._folder.log_start:
            return None
        file = self._folder.find(log_offset)
        if file is None:
            return f"points behind the log, at {log_offset}"
        reason = self.reason_at(file, log_offset - file.first)
        if reason is not None:
            return f"points at {reason or 'the end of a file'}, at {log_offset}"
        return file

    def _next_sound(self, file: StoredFile, start: int) -> int | None:
        found = self._check.find_next_in(file.view, start, file.first, file.end, False)
        return None if found < 0 else found

    def _has_more(self, file: StoredFile) -> bool:
        """Whether a later file has a sound record."""
        return any(
            self._next_sound(other, 0) is not None
            for other in self._folder.log
            if other.first > file.first
        )


def _is_zero(file: StoredFile, position: int) -> bool:
    """Whether nothing but zeros follows."""
    while position < file.size:
        block = file.view[position : position + len(_ZEROS)]
        if block != _ZEROS[: len(block)]:
            return False
        position += len(block)
    return True
