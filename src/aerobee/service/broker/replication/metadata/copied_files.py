"""CopiedFiles replaces state files of a slave by those of its master, in the background.

They belong to parts that do not run on a slave: a later start as master finds them. Each file is
replaced atomically, all of one copy in one disk job, in an order in which any prefix is safe
(`state_files`). A file that the master does not have is removed. JSON is parsed before it replaces
anything.

    delayOffset.json, timermetrics, timercheck    by requests of RocketMQ
    producerEpochs.json, …                        by COPY_BROKER_STATE
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_text import BadJson, parse
from aerobee.storage.metadata.background_save import BackgroundSave
from aerobee.storage.metadata.config_file import BACKUP_SUFFIX, ConfigFile

Written = Callable[[BaseException | None], None]


class FileCopy(NamedTuple):
    name: str
    content: bytes
    """Empty: the master has no such file."""
    is_json: bool = True


class CopiedFiles:
    """At most one job is under way."""

    def __init__(self, disk: Disk, worker: DiskWorker, root: str) -> None:
        """`root` is the store directory."""
        self._disk = disk
        self._folder = f"{root}/config"
        self._saving = BackgroundSave(worker)
        self._crcs: dict[str, int] = {}

    @property
    def crcs(self) -> Mapping[str, int]:
        """The CRC-32 of each file that was written by this process; 0: it was removed."""
        return self._crcs

    @property
    def is_busy(self) -> bool:
        return self._saving.is_busy

    def begin(self, copies: Sequence[FileCopy], written: Written) -> None:
        """Write files that are not written yet, in this order; only while not busy."""
        wanted = [
            (copy, crc)
            for copy in copies
            if self._crcs.get(copy.name) != (crc := zlib.crc32(copy.content))
        ]
        if not wanted:
            written(None)
            return
        done: list[tuple[str, int]] = []

        def write() -> None:
            for copy, crc in wanted:
                self._write(copy)
                done.append((copy.name, crc))

        def finished(error: BaseException | None) -> None:
            self._crcs.update(done)
            written(error)

        self._saving.begin(write, finished)

    def finish(self) -> None:
        """Block until the job under way is done."""
        self._saving.wait()

    def _write(self, copy: FileCopy) -> None:
        path = f"{self._folder}/{copy.name}"
        if not copy.content:
            for old in (path + BACKUP_SUFFIX, path):
                if self._disk.exists(old):
                    self._disk.remove(old)
            return
        if not copy.is_json:
            self._disk.replace(path, copy.content)
            return
        try:
            is_object = isinstance(parse(copy.content), dict)
        except BadJson as error:
            raise CorruptFile(error.message, path=f"the master's {copy.name}") from None
        if not is_object:
            raise CorruptFile("it holds no JSON object", path=f"the master's {copy.name}")
        ConfigFile(self._disk, path).store_text(copy.content)
