"""DelayOffsets saves the next offset of each delay level: `config/delayOffset.json`.

    {"dataVersion":{"counter":6,"stateVersion":0,"timestamp":1700000000000},
     "offsetTable":{1:5,2:0,18:12}}

The keys are levels from 1 on, the values the queue offset of the first message that has yet to be
delivered. The format is Apache's, with unquoted keys. A level that is not there begins at 0. Levels
that are no longer configured stay in the file: they may be configured again.
"""

import logging
from collections.abc import Mapping
from typing import NamedTuple

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.model.topic import DataVersion
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, by_number, write_compact, write_pretty
from aerobee.storage.metadata.background_save import BackgroundSave
from aerobee.storage.metadata.config_file import ConfigFile

_log = logging.getLogger(__name__)


class DelayOffsets:
    """The file. `saved` is its content, as far as is known."""

    def __init__(self, file: ConfigFile, worker: DiskWorker) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._file = file
        self._version = DataVersion()
        self._saving = BackgroundSave(worker)
        self.saved: Mapping[int, int] = {}
        loaded = file.load()
        if loaded is None:
            return
        if loaded.fault:
            _log.warning("delayed messages may be delivered again: %s", loaded.fault)
        try:
            members = Members(loaded.value, file.path)
            self._version, self.saved = delay_offsets_from(members)
        except ProtocolError as error:
            raise CorruptFile(error.message, path=file.path) from None

    @property
    def version(self) -> DataVersion:
        return self._version

    @property
    def is_saving(self) -> bool:
        return self._saving.is_busy

    def save(self, offsets: Mapping[int, int], wall_ms: int) -> None:
        """Write the file, if it changes; one save at a time, so not while `is_saving`."""
        table = {**self.saved, **offsets}
        if table != self.saved:
            self._version = self._version.next(wall_ms)
            value = _json(self._version, table)
            self._saving.begin(
                lambda: self._file.store(value), lambda error: self._written(table, error)
            )

    def finish(self) -> None:
        """Block until the save under way is done."""
        self._saving.wait()

    def body(self) -> bytes:
        """The content of the file, for GET_ALL_DELAY_OFFSET."""
        return write_compact(_json(self._version, self.saved))

    def took_over(self, copied: "CopiedDelayOffsets") -> None:
        """A slave has replaced the file by its master's."""
        self._version, self.saved = copied

    def _written(self, table: Mapping[int, int], error: BaseException | None) -> None:
        if error is None:
            self.saved = table
        else:
            # Nothing is lost: the file has lower offsets, and the save is tried again.
            _log.error("%s was not saved: %s", self._file.path, error)


class CopiedDelayOffsets(NamedTuple):
    """The offsets that a master saved."""

    version: DataVersion
    offsets: Mapping[int, int]

    def text(self) -> bytes:
        """The content of the file."""
        return write_pretty(_json(self.version, self.offsets))


def delay_offsets_from(members: Members) -> CopiedDelayOffsets:
    """The offsets in a file, or in an answer of a master. ProtocolError: it is not valid."""
    return CopiedDelayOffsets(
        data_version_from(members.object("dataVersion")), _offsets_in(members)
    )


def _json(version: DataVersion, table: Mapping[int, int]) -> dict[str, Value]:
    return {"dataVersion": data_version_json(version), "offsetTable": dict(sorted(table.items()))}


def _offsets_in(members: Members) -> dict[int, int]:
    found = {}
    for level, offset in by_number(members.object("offsetTable").plain()).items():
        if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0 or level < 1:
            raise RemoteProtocolError(f"level {level} is at {offset!r:.100}")
        found[level] = offset
    return found
