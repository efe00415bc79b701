"""ConsumerOffsetsFile saves offsets every few seconds if any changed, and at the end.

A crash loses the commits since the last save: their messages are consumed once more. A save that
fails is tried again after the interval, because consuming goes on without it. Only offsets that a
start had to cut are saved at once.
"""

import logging

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets, MaxOffset
from aerobee.storage.metadata.background_save import BackgroundSave
from aerobee.storage.metadata.config_file import ConfigFile

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
    ) -> None:
        self._file = file
        self._offsets = offsets
        self._interval_ms = interval_ms
        self._saved_ms = monotonic_ms
        self._saving = BackgroundSave(worker)
        self.fault = ""
        """Empty, or why the backup was used at the start: worth a warning."""

    def load(self, max_offset: MaxOffset) -> None:
        """Fill the table. CorruptFile: the file is damaged, and so is its backup."""
        loaded = self._file.load()
        if loaded is None:
            return
        self.fault = loaded.fault
        try:
            self._offsets.load(loaded.value, max_offset)
        except ProtocolError as error:
            raise CorruptFile(error.message, path=self._file.path) from None
        if self._offsets.is_dirty:
            self._keep_cut()

    def _keep_cut(self) -> None:
        """Save offsets that were cut to the ends of their queues, before the queues grow again:
        later the old file would point behind new messages."""
        try:
            self._file.store_text(self._offsets.picture().text())
        except OSError as error:
            self._written(error)
        else:
            self._offsets.is_dirty = False

    def on_tick(self, now: Now) -> None:
        if now.monotonic_ms - self._saved_ms >= self._interval_ms:
            self._saved_ms = now.monotonic_ms
            self._save(now)

    def close(self, now: Now) -> None:
        """Block until all commits are on the disk, or the save has failed."""
        self._saving.wait()
        self._save(now)  # commits since the beginning of the save that was under way
        self._saving.wait()

    def _save(self, now: Now) -> None:
        if not self._saving.is_busy and self._offsets.is_dirty:
            picture = self._offsets.take_saved(now.wall_ms)
            self._saving.begin(lambda: self._file.store_text(picture.text()), self._written)

    def _written(self, error: BaseException | None) -> None:
        if error is not None:
            self._offsets.is_dirty = True
            _log.error(
                "offsets were not saved; it is tried again",
                extra={"path": self._file.path, "error": str(error)},
            )
