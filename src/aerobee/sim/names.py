"""The names of the pretended disk: what the program sees, and what a power cut leaves of it.

Making a folder is durable at once, or waits as the port says. Every other change of a name waits,
in order, in the list of its folder until that folder is synced; a power cut keeps any prefix of
each list, and nothing in a folder that is lost. A rename inside a folder is one change; across
folders it is a new name there and, only if that survives, the loss of the old name here: the file
may come back under both, never under none.
"""

import errno
import posixpath
from collections.abc import Callable, Container
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from aerobee.sim.sector_file import SectorFile

Names = dict[str, SectorFile]
Folders = set[str]

folder_of = lru_cache(maxsize=1 << 12)(posixpath.dirname)
"""The folder of a path; a story asks for those of a few paths a million times."""


class Change(Enum):
    LINK = "+"
    UNLINK = "-"
    MOVE = ">"
    MAKE_FOLDER = "+/"
    REMOVE_FOLDER = "-/"


class NameChange(NamedTuple):
    """One step in a folder's list."""

    moment: int  # when it was made, one count for the whole disk
    change: Change
    path: str
    target: str = ""  # of a MOVE
    file: SectorFile | None = None  # of a LINK
    needs: int = -1  # moment of the LINK without which this cannot survive

    def apply(self, names: Names, folders: Folders) -> None:
        if self.change is Change.LINK:
            assert self.file is not None
            names[self.path] = self.file
        elif self.change is Change.UNLINK:
            del names[self.path]
        elif self.change is Change.MOVE:
            names[self.target] = names.pop(self.path)
        elif self.change is Change.MAKE_FOLDER:
            folders.add(self.path)
        else:
            # If the folder's end survives so does that of everything in it.
            inside = f"{self.path}/"
            for path in [path for path in names if path.startswith(inside)]:
                del names[path]
            folders.difference_update([path for path in folders if path.startswith(inside)])
            folders.discard(self.path)


class NameSpace:
    """I1: applying every pending change to the durable names gives the current ones."""

    __slots__ = ("_durable", "_durable_folders", "_files", "_pending", "folders", "names")

    def __init__(self, names: Names | None = None, folders: Folders | None = None) -> None:
        self.names: Names = names if names is not None else {}
        self.folders: Folders = folders if folders is not None else set()
        self._durable: Names = dict(self.names)
        self._durable_folders: Folders = set(self.folders)
        self._pending: dict[str, list[NameChange]] = {}
        self._files: list[SectorFile] = []
        """What `files` told; nothing once a name or what is pending has changed."""

    # Asking.

    def find(self, path: str) -> SectorFile:
        file = self.names.get(path)
        if file is not None:
            return file
        if self.is_folder(path):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        raise FileNotFoundError(errno.ENOENT, "no such file", path)

    def is_folder(self, path: str) -> bool:
        return path in ("", ".", "/") or path.rstrip("/") in self.folders

    def children(self, folder: str) -> list[str]:
        folder = _clean(folder)
        prefix = folder if folder in ("", "/") else f"{folder}/"
        size = len(prefix)
        return sorted(
            path[size:]
            for path in (*self.names, *self.folders)
            if path.startswith(prefix) and path.find("/", size) < 0 and len(path) > size
        )

    def pending(self) -> list[NameChange]:
        """Every change that is not durable, oldest first."""
        return sorted(
            (change for listed in self._pending.values() for change in listed),
            key=lambda change: change.moment,
        )

    def pending_by_folder(self) -> list[list[NameChange]]:
        return [listed for listed in self._pending.values() if listed]

    def files(self) -> list[SectorFile]:
        """Every file that a name, now or after some power cut, leads to."""
        if self._files:
            return self._files
        found = {id(file): file for file in self.names.values()}
        for listed in self._pending.values():
            found.update((id(change.file), change.file) for change in listed if change.file)
        if self._pending:
            found.update((id(file), file) for file in self._durable.values())
        self._files = list(found.values())
        return self._files

    # Changing. The caller counts moments; a rename takes two.

    def link(self, path: str, file: SectorFile, moment: int) -> None:
        """A new name for a new file. The folder must be there."""
        self._change(NameChange(moment, Change.LINK, path, file=file))

    def unlink(self, path: str, moment: int) -> None:
        self.find(path)
        self._change(NameChange(moment, Change.UNLINK, path))

    def rename(self, source: str, target: str, moment: int) -> None:
        file = self.find(source)
        if self.is_folder(target):
            raise IsADirectoryError(errno.EISDIR, "is a folder", target)
        here, there = folder_of(source), folder_of(target)
        if not self.is_folder(there):
            raise FileNotFoundError(errno.ENOENT, "no such folder", there)
        if source == target:
            return
        if here == there:
            self._change(NameChange(moment, Change.MOVE, source, target))
        else:
            self._change(NameChange(moment, Change.LINK, target, file=file))
            self._change(NameChange(moment + 1, Change.UNLINK, source, needs=moment))

    def make_folder(self, path: str) -> None:
        """With parents, durably."""
        path = _clean(path)
        if self.is_folder(path):
            return
        if path in self.names:
            raise FileExistsError(errno.EEXIST, "is a file", path)
        parent = folder_of(path)
        self.make_folder(parent)
        self.sync_folder(parent)
        self.folders.add(path)
        self._durable_folders.add(path)

    def make_folder_unsynced(self, path: str, moment: int) -> int:
        """With parents, to be synced like any name; the next free moment."""
        path = _clean(path)
        if self.is_folder(path):
            return moment
        if path in self.names:
            raise FileExistsError(errno.EEXIST, "is a file", path)
        moment = self.make_folder_unsynced(folder_of(path), moment)
        self._change(NameChange(moment, Change.MAKE_FOLDER, path))
        return moment + 1

    def remove_folder(self, path: str, moment: int) -> None:
        path = _clean(path)
        if path not in self.folders:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        if self.children(path):
            raise OSError(errno.ENOTEMPTY, "folder is not empty", path)
        self._change(NameChange(moment, Change.REMOVE_FOLDER, path))

    def sync_folder(self, path: str) -> None:
        path = _clean(path)
        self._files = []
        self._end_former_folders(path)
        for change in self._pending.pop(path, []):
            self._make_durable(change)

    def _end_former_folders(self, path: str) -> None:
        """A folder that was removed and made again, or is in one: the removal becomes durable with
        what is in the new one, since one journal holds both in order."""
        parent = folder_of(path)
        if path in ("", "/"):
            return
        self._end_former_folders(parent)
        listed = self._pending.get(parent, [])
        removals = [
            index
            for index, change in enumerate(listed)
            if change.change is Change.REMOVE_FOLDER and change.path == path
        ]
        if removals:
            self._pending[parent] = listed[removals[-1] + 1 :]
            for change in listed[: removals[-1] + 1]:
                self._make_durable(change)

    def sync_all(self) -> None:
        pending = self.pending()
        self._pending = {}
        self._files = []
        for change in pending:
            change.apply(self._durable, self._durable_folders)

    def _change(self, change: NameChange) -> None:
        change.apply(self.names, self.folders)
        self._files = []
        self._pending.setdefault(folder_of(change.path), []).append(change)

    def _make_durable(self, change: NameChange) -> None:
        if change.needs >= 0:
            self._make_arrival_durable(change.needs)
        if change.change is Change.REMOVE_FOLDER:
            for folder in [f for f in self._pending if f"{f}/".startswith(f"{change.path}/")]:
                # What came later is in a folder that was made again.
                listed = [c for c in self._pending[folder] if c.moment > change.moment]
                self._pending[folder] = listed
        change.apply(self._durable, self._durable_folders)

    def _make_arrival_durable(self, moment: int) -> None:
        """One journal holds both: the arrival, and what came before it in its folder."""
        for folder, listed in self._pending.items():
            count = next((i + 1 for i, c in enumerate(listed) if c.moment == moment), 0)
            if count:
                self._pending[folder] = listed[count:]
                for earlier in listed[:count]:
                    self._make_durable(earlier)
                break

    # Crashing.

    def after_cut(self, kept: Container[int]) -> tuple[Names, Folders]:
        """Names and folders if, of what is pending, the changes of these moments survive. In each
        folder, what comes after a change that does not survive is lost with it."""
        names, folders = dict(self._durable), set(self._durable_folders)
        lost: set[int] = set()
        cut_folders: set[str] = set()
        for change in self.pending():
            folder = folder_of(change.path)
            is_kept = change.moment in kept and change.needs not in lost
            if is_kept and folder not in cut_folders:
                change.apply(names, folders)
            else:
                lost.add(change.moment)
                cut_folders.add(folder)
        folders = {path for path in folders if _is_reachable(path, folders)}
        names = {path: file for path, file in names.items() if _is_reachable(path, folders)}
        return names, folders

    def copy(self, twin_of: Callable[[SectorFile], SectorFile]) -> "NameSpace":
        """The same names over the twins of the files, pending changes and all."""
        twin = NameSpace()
        twin.folders = set(self.folders)
        twin.names = {path: twin_of(file) for path, file in self.names.items()}
        twin._durable = {path: twin_of(file) for path, file in self._durable.items()}
        twin._durable_folders = set(self._durable_folders)
        twin._pending = {
            folder: [c._replace(file=twin_of(c.file)) if c.file else c for c in listed]
            for folder, listed in self._pending.items()
        }
        return twin


def _is_reachable(path: str, folders: Folders) -> bool:
    """Whether every folder on the way is there."""
    return folders.issuperset(_folders_above(path))


@lru_cache(maxsize=1 << 12)
def _folders_above(path: str) -> tuple[str, ...]:
    folder = folder_of(path)
    return () if folder in ("", "/") else (folder, *_folders_above(folder))


def _clean(path: str) -> str:
    if path in ("/", "."):
        return "/" if path == "/" else ""
    return path.rstrip("/")
