"""A small value that is changed on the disk first.

    change ──▶ candidate ──▶ disk job ──▶ value, and whoever asked is told

Changes that come while one is being saved go together into the next save: however many ask, at
most one save is under way, and each costs one write of the whole. A change that could not be saved
never happened. Called from the core's thread only; the value itself is never changed in place.
"""

from collections.abc import Callable, Sequence
from typing import Generic, TypeAlias, TypeVar

from aerobee.errors import AerobeeError
from aerobee.ports.disk_worker import DiskWorker
from aerobee.storage.metadata.background_save import BackgroundSave

T = TypeVar("T")
Change = Callable[[T], T]
"""The value after the change: a new object, or the same one if nothing changes. May refuse with an
AerobeeError, which the asker is then told."""
Done = Callable[[BaseException | None], None]
Journal: TypeAlias = Callable[[Sequence[str], Done], None]
"""Is told the names of rows that have changed and are on the disk, none if a request has changed
nothing; calls back when that may be acknowledged."""


class SavedValue(Generic[T]):
    """S1. `value` is what the disk holds, or held when this was made."""

    __slots__ = ("_save", "_saving", "_waiting", "value")

    def __init__(self, worker: DiskWorker, save: Callable[[T], None], value: T) -> None:
        """`save` writes a value durably; it is called on a disk thread, never twice at once."""
        self.value = value
        self._save = save
        self._saving = BackgroundSave(worker)
        self._waiting: list[tuple[Change[T], Done]] = []

    def change(self, change: Change[T], done: Done) -> None:
        """Change the value; `done` hears, perhaps at once, what went wrong or None."""
        self._waiting.append((change, done))
        if not self._saving.is_busy:
            self._save_waiting()

    def _save_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        candidate = self.value
        taken = []
        for change, done in waiting:
            try:
                candidate = change(candidate)
            except AerobeeError as error:
                done(error)
            else:
                taken.append(done)
        if candidate is self.value:
            for done in taken:
                done(None)
        else:
            self._saving.begin(
                lambda: self._save(candidate), lambda error: self._saved(candidate, taken, error)
            )

    def _saved(self, candidate: T, taken: list[Done], error: BaseException | None) -> None:
        if error is None:
            self.value = candidate
        for done in taken:
            done(error)
        if self._waiting and not self._saving.is_busy:
            self._save_waiting()


def tell_journal(
    journal: Journal | None, names: Sequence[str], error: BaseException | None, done: Done
) -> None:
    """A change of these rows is on the disk, or failed: tell the journal, if there is one, or who
    waits for it."""
    if error is None and journal is not None:
        journal(names, done)
    else:
        done(error)
