"""LogCut ends the log of a store at an earlier record, while the store is opened.

A replica whose log has records that its master's has not must give them up before it can follow.
They were promised to nobody by that master, but perhaps by another: they are saved, not lost.

    1  the tail is saved as `diverged/{its first log offset}-{its end}`, on the disk, name and all
    2  the mark and the abort flag say that the whole log is ours, as any start has them say
    3  the mark is lowered to the cut, and RocketMQ's checkpoint with it
    4  the first bytes of the tail become zero: from here on the log ends at the cut
    5  later files are removed, the rest of the tail becomes zero

Each step is on the disk before the next begins. A crash up to step 3 leaves the old log, whose
records above the mark are scanned and kept; one after step 4 leaves the cut log, behind which the
next start cleans up as behind a torn tail. The mark goes first because damage below it is
corruption. Queues and index are cut by the recovery that follows (`derived_recovery`).

Blocks: it happens at a start.
"""

import contextlib

from aerobee.errors import Misuse, StorageError
from aerobee.ports.disk import Disk
from aerobee.protocol.message.durable_mark_slots import NO_CRC, DurableMark
from aerobee.protocol.message.record_check import SOUND
from aerobee.storage.defects import Defects
from aerobee.storage.files.file_sequence import NAME_DIGITS, FileSequence
from aerobee.storage.index.kept_files import FOLDER as KEPT_FOLDER
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.read.record_walk import RecordWalk
from aerobee.storage.recover.abort_flag import AbortFlag
from aerobee.storage.recover.checkpoint import Checkpoint
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.recover.log_recovery import cut_tail
from aerobee.storage.recover.recovery import RecoveredLog

FOLDER = "diverged"

_UNFINISHED = ".new"
_HEAD_BYTES = 8  # size and magic: without them there is no record


class LogCut:
    """The cutting of one store's log, and the files that tell of it."""

    def __init__(
        self,
        disk: Disk,
        root: str,
        mark_file: DurableMarkFile,
        checkpoint: Checkpoint,
        abort_flag: AbortFlag,
        defects: Defects,
    ) -> None:
        self._disk = disk
        self._root = root
        self._mark_file = mark_file
        self._checkpoint = checkpoint
        self._abort_flag = abort_flag
        self._defects = defects

    def cut(self, recovered: RecoveredLog, cut_at: int) -> RecoveredLog:
        """End a log, which is whole and on the disk, at this log offset; nothing to do if it ends
        there. Misuse, StorageError: it cannot end there, and nothing was changed."""
        log, state = recovered.sequence, recovered.state
        if cut_at == state.end_offset:
            return recovered
        last_timestamp = self._require_boundary(recovered, cut_at)
        self._require_not_compacted(cut_at)
        self._save_tail(log, cut_at, state.end_offset)
        whole = self._mark_file.mark.ending_at(state.end_offset)
        whole = whole._replace(crc_from=recovered.crc_from)
        self._write_mark(whole)
        self._abort_flag.set()
        fields = self._checkpoint.fields
        self._checkpoint.write(
            fields._replace(
                log_timestamp_ms=min(fields.log_timestamp_ms, last_timestamp),
                queue_timestamp_ms=min(fields.queue_timestamp_ms, last_timestamp),
                index_timestamp_ms=min(fields.index_timestamp_ms, last_timestamp),
                queue_log_offset=min(fields.queue_log_offset, cut_at),
            )
        )
        self._checkpoint.sync()
        self._write_mark(whole.ending_at(cut_at))
        self._end_log(log, cut_at)
        cut_tail(log, cut_at, self._defects)
        scan_start = min(state.scan_start, cut_at)  # records behind the cut will be new
        cut_state = state._replace(end_offset=cut_at, scan_start=scan_start, has_mark=True)
        crc_from = recovered.crc_from
        if crc_from != NO_CRC:
            crc_from = min(crc_from, cut_at)
        return recovered._replace(state=cut_state, last_timestamp=0, crc_from=crc_from)

    def _require_boundary(self, recovered: RecoveredLog, cut_at: int) -> int:
        """When the last record before the cut was stored; 0: its file ends there."""
        log, state = recovered.sequence, recovered.state
        hint = "the store is as it was; open it without a cut"
        if not state.min_offset < cut_at < state.end_offset:
            raise Misuse(
                f"the log cannot be cut at {cut_at}: it holds {state.min_offset} to "
                f"{state.end_offset}",
                hint=hint,
            )
        file = log.find(cut_at)
        assert file is not None
        walk = RecordWalk()
        position = cut_at - file.first_offset
        if walk.run(file, 0, position) != SOUND or walk.position != position:
            raise Misuse(
                f"the log cannot be cut at {cut_at}: no record ends there, but at "
                f"{file.first_offset + walk.position}",
                hint=hint,
            )
        return walk.last_timestamp

    def _require_not_compacted(self, cut_at: int) -> None:
        """Of what compaction has kept, nothing was behind the cut: it cannot be made again without
        the log that went since."""
        kept = KeptFiles(self._disk, f"{self._root}/{KEPT_FOLDER}")
        kept.load()
        for topic, queue_id, file in kept.all():
            if file.log_end > cut_at:
                raise StorageError(
                    f"the log cannot be cut at {cut_at}: queue {queue_id} of {topic.decode()} is "
                    f"compacted up to {file.log_end}",
                    hint="the store is as it was; begin this replica with an empty store",
                )

    def _save_tail(self, log: FileSequence, start: int, end: int) -> None:
        folder = f"{self._root}/{FOLDER}"
        path = f"{folder}/{start:0{NAME_DIGITS}d}-{end:0{NAME_DIGITS}d}"
        unfinished = path + _UNFINISHED
        self._disk.make_directory(folder)
        with contextlib.suppress(FileNotFoundError):
            self._disk.remove(unfinished)
        copy = self._disk.create(unfinished, end - start)
        try:
            for file in log.files:
                first = max(start, file.first_offset)
                last = min(end, file.end_offset())
                if first < last:
                    part = file.slice(first - file.first_offset, last - first)
                    copy.view[first - start : last - start] = part
            copy.sync()
            self._disk.rename(unfinished, path)
        except OSError:
            with contextlib.suppress(OSError):
                self._disk.remove(unfinished)
            raise
        finally:
            copy.close()
        self._disk.sync_directory(folder)

    def _write_mark(self, mark: DurableMark) -> None:
        self._mark_file.write(mark)
        self._mark_file.begin_sync()
        self._mark_file.sync()
        self._mark_file.note_synced()

    def _end_log(self, log: FileSequence, cut_at: int) -> None:
        """Have no record at the cut any more. Alone and first: of a whole tail that becomes zero a
        power cut may keep any part, the first records, too."""
        file = log.find(cut_at)
        assert file is not None
        position = cut_at - file.first_offset
        end = min(position + _HEAD_BYTES, file.size)
        file.view[position:end] = bytes(end - position)
        file.disk_file.sync()


def is_cut_at(disk: Disk, root: str, end_offset: int) -> bool:
    """Whether the log of a store, which ends here, was cut here and has not grown since."""
    start = f"{end_offset:0{NAME_DIGITS}d}-"
    names = disk.list_directory(f"{root}/{FOLDER}")
    return any(name.startswith(start) and not name.endswith(_UNFINISHED) for name in names)
