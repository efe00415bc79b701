"""ConsumerOffsetsFile saves offsets every few seconds if any changed, and at the end.

A crash loses the commits since the last save: their messages are consumed once more. A save that
fails is tried again after the interval, because consuming goes on without it. Only offsets that a
start had to cut are saved at once.
"""

import logging
from collections.abc import Callable

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.state.consumer_offsets import BornAt, ConsumerOffsets, MaxOffset
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save

_log = logging.getLogger(__name__)


class ConsumerOffsetsFile:
    """Saves one table in one file."""

    def __init__(
        self,
        file: ConfigFile,
        worker: DiskWorker,
        offsets: ConsumerOffsets,
        interval_ms: int,
        monotonic_ms: int,
        end_offset: Callable[[], int],
    ) -> None:
        """`end_offset` returns the log offset at which the log ends."""
        self._file = file
        self._offsets = offsets
        self._end_offset = end_offset
        self.saving = PeriodicSave(worker, file.path, interval_ms, monotonic_ms, self._take)
        self.fault = ""
        """Empty, or why the backup was used at the start: worth a warning."""

    def load(self, max_offset: MaxOffset, born_at: BornAt) -> None:
        """Fill the table. CorruptFile: the file is damaged, and so is its backup."""
        loaded = self._file.load()
        if loaded is None:
            return
        self.fault = loaded.fault
        try:
            self._offsets.load(loaded.value, max_offset, born_at)
        except ProtocolError as error:
            raise CorruptFile(error.message, path=self._file.path) from None
        self._offsets.cut_log(self._end_offset())
        if self._offsets.is_dirty:
            self._keep_cut()

    def _keep_cut(self) -> None:
        """Save offsets that were cut to the ends of their queues or of the log, before these grow
        again: later the old file would point behind new messages."""
        picture = self._offsets.picture()._replace(log_offset=self._end_offset())
        try:
            self._file.store_text(picture.text())
        except OSError as error:
            _log.error("%s was not saved; it is tried again: %s", self._file.path, error)
        else:
            self._offsets.is_dirty = False

    def _take(self, wall_ms: int) -> Save | None:
        if not self._offsets.is_dirty:
            return None
        picture = self._offsets.take_saved(wall_ms, self._end_offset())
        return Save(lambda: self._file.store_text(picture.text()), self._written)

    def _written(self, is_on_disk: bool) -> None:
        if not is_on_disk:
            self._offsets.is_dirty = True
