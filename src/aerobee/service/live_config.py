"""A configuration as it is now: what the process began with, and what was changed by request.

Changes are kept in a properties file of their own, with nothing else in it, and are read again at
the next start; the operator's file is never written. A change counts once it is on the disk.
"""

from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from aerobee.model.setting import Setting, changed, texts
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.java_properties import write_properties
from aerobee.storage.metadata.saved_value import Done, SavedValue

C = TypeVar("C")


class ChangesFile(NamedTuple):
    """Where changes are kept, and what it says so far."""

    disk: Disk
    path: str
    changes: Mapping[str, str]


class LiveConfig(Generic[C]):
    def __init__(
        self,
        config: C,
        settings: Sequence[Setting],
        file: ChangesFile,
        worker: DiskWorker,
        fixed: Mapping[str, str],
    ) -> None:
        """`config` is what holds at the start, its changes included; `fixed` is what else may be
        shown of the process: no path, nothing secret."""
        self.current = config
        self._settings = settings
        self._live = frozenset(setting.key for setting in settings if setting.is_live)
        self._fixed = fixed
        self._saved: SavedValue[Mapping[str, str]] = SavedValue(
            worker,
            lambda changes: file.disk.replace(file.path, write_properties(changes).encode()),
            file.changes,
        )

    def texts(self) -> dict[str, str]:
        """Everything that may be shown, under RocketMQ's names."""
        return dict(sorted({**self._fixed, **texts(self.current, self._settings)}.items()))

    def find_forbidden(self, values: Mapping[str, str]) -> str | None:
        """A key among these that may not be changed."""
        return next((key for key in values if key not in self._live), None)

    def change(self, values: Mapping[str, str], done: Done) -> None:
        """ValueError: a value is not of its kind, and nothing is changed."""
        changed(self.current, self._settings, values)

        def saved(error: BaseException | None) -> None:
            if error is None:
                self.current = changed(self.current, self._settings, values)
            done(error)

        self._saved.change(lambda changes: {**changes, **values}, saved)
