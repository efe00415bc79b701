"""LiveConfig holds the current configuration: that of the start, with changes made by requests.

Changes are saved in a separate properties file, which is read again at the next start; the
operator's file is never written. A change takes effect once it is on the disk.

Only keys on a list can be changed, each with its kind and range.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from aerobee.model.setting import Setting, changed, texts
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.java_properties import write_properties
from aerobee.storage.metadata.saved_value import Done, SavedValue

C = TypeVar("C")

_KEY_CHARS_SHOWN = 100


class ChangesFile(NamedTuple):
    """The file of changes, and its content at the start."""

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
        without_effect: Mapping[str, str] | None = None,
    ) -> None:
        """`config` is the configuration at the start, with saved changes; `fixed` are further
        values that may be shown: no path, nothing secret. `without_effect` are RocketMQ's other
        keys, each with the reason why it has no effect here, or an empty text."""
        self.current = config
        self._settings = settings
        self._live = frozenset(setting.key for setting in settings if setting.is_live)
        self._known = frozenset((*fixed, *(setting.key for setting in settings)))
        self._fixed = fixed
        self._without_effect = without_effect or {}
        self._told: list[Callable[[C, C], None]] = []
        self._saved: SavedValue[Mapping[str, str]] = SavedValue(
            worker,
            lambda changes: file.disk.replace(file.path, write_properties(changes).encode()),
            file.changes,
        )

    def texts(self) -> dict[str, str]:
        """The settings that may be shown, under RocketMQ's names."""
        return dict(sorted({**self._fixed, **texts(self.current, self._settings)}.items()))

    def when_changed(self, told: Callable[[C, C], None]) -> None:
        """Register a callback for (configuration before, configuration now) after each change."""
        self._told.append(told)

    def find_forbidden(self, values: Mapping[str, str]) -> list[str]:
        """The keys that may not be changed, each with the reason."""
        return [
            f"{key[:_KEY_CHARS_SHOWN]} {self._reason(key)}"
            for key in values
            if key not in self._live
        ]

    def _reason(self, key: str) -> str:
        if key in self._known:
            return "is read at the start: change it in the file and restart"
        if key in self._without_effect:
            why = self._without_effect[key]
            return f"has no effect here: {why}" if why else "has no effect here"
        return "cannot be changed by a request"

    def find_misfits(self, values: Mapping[str, str]) -> list[str]:
        """The errors in values of keys that may be changed."""
        found = []
        for key, text in values.items():
            if key in self._live:
                try:
                    changed(self.current, self._settings, {key: text})
                except ValueError as error:
                    found.append(str(error))
        return found

    def change(self, values: Mapping[str, str], done: Done) -> None:
        """Save and apply the values. ValueError: one is not of its kind, and nothing is changed."""
        changed(self.current, self._settings, values)

        def saved(error: BaseException | None) -> None:
            if error is None:
                before = self.current
                self.current = changed(before, self._settings, values)
                for told in self._told:
                    told(before, self.current)
            done(error)

        self._saved.change(lambda changes: {**changes, **values}, saved)
