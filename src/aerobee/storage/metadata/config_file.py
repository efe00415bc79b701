"""One small state file, `config/X.json`, and the copy before it, `X.json.bak`.

    store    X → X.bak, new value → X, each replaced at once and durably (`Disk.replace`)
    load     X; if it is missing or cannot be believed, X.bak, and the answer says so

Laws. After any crash X is whole: the old value or the new one. A file that cannot be believed never
becomes the backup, and never becomes an empty default: it is an error that names it. The file holds
RocketMQ's JSON and nothing else (no checksum line), so that Apache's broker can read it; that it
parses is the proof that it is whole, because it is only ever replaced whole.

Calls block on the disk: make them from a disk job, one at a time for each file. Apache itself
renames X away before it writes the new one; a crash in between leaves only X.bak, which loads here.
"""

from typing import NamedTuple

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.protocol.text.json_text import (
    BadJson,
    Key,
    Parsed,
    Value,
    parse,
    write_compact,
    write_pretty,
)
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects

BACKUP_SUFFIX = ".bak"


class Loaded(NamedTuple):
    value: dict[Key, Parsed]
    fault: str
    """Empty, or why the backup had to do: report it, the newest changes may be missing."""


class _Read(NamedTuple):
    """What reading one file brought: a value, or a fault, or neither if there is no such file."""

    value: dict[Key, Parsed] | None
    fault: str


class ConfigFile:
    """One state file and its backup."""

    __slots__ = ("_defects", "_disk", "_is_pretty", "_is_sound", "path")

    def __init__(
        self, disk: Disk, path: str, *, is_pretty: bool = True, defects: Defects = NO_DEFECTS
    ) -> None:
        self.path = path
        self._disk = disk
        self._is_pretty = is_pretty
        self._defects = defects
        # Whether what lies at `path` is known to be worth keeping as the backup.
        self._is_sound = False

    def load(self) -> Loaded | None:
        """The value; None if it was never stored. CorruptFile if neither copy can be believed."""
        current = self._read(self.path)
        if current.value is not None:
            self._is_sound = True
            return Loaded(current.value, "")
        backup = self._read(self.path + BACKUP_SUFFIX)
        current_fault = current.fault or "there is no such file"
        if backup.value is not None:
            return Loaded(backup.value, f"{self.path}: {current_fault}; its backup was used")
        if not current.fault and not backup.fault:
            return None
        raise CorruptFile(
            f"{current_fault}; its backup: {backup.fault or 'there is no such file'}",
            path=self.path,
            hint="restore one of the two from a copy, or remove both to begin with nothing",
        )

    def store(self, value: Value) -> None:
        """Replace the value. Once this returns, it survives a power cut."""
        self.store_text(write_pretty(value) if self._is_pretty else write_compact(value))

    def store_text(self, content: bytes) -> None:
        """`store` for a value that is written already: a large table is put together from what
        was written of its rows before."""
        if self._is_sound or self._read(self.path).value is not None:
            self._disk.replace(self.path + BACKUP_SUFFIX, self._disk.read(self.path))
        self._is_sound = False
        if Defect.CONFIG_WRITTEN_IN_PLACE in self._defects and self._disk.exists(self.path):
            self._disk.remove(self.path)
        self._disk.replace(self.path, content)
        self._is_sound = True

    def _read(self, path: str) -> _Read:
        try:
            content = self._disk.read(path)
        except FileNotFoundError:
            return _Read(None, "")
        except OSError as error:
            return _Read(None, f"it cannot be read: {error}")
        try:
            value = parse(content)
        except BadJson as error:
            return _Read(None, error.message)
        if not isinstance(value, dict):
            return _Read(None, "it holds no JSON object")
        return _Read(value, "")
