"""StoreFacts: what a closed store is, as far as a conversion must know it: where its log is, how it
was stopped, and which group it belongs to.
"""

import contextlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from aerobee.app.offline.store_folder import StoreFolder
from aerobee.errors import NotFound, StoreLocked
from aerobee.raft.saved_state import SavedState
from aerobee.raft.state_file import load_state
from aerobee.replication.raft_state import FILE, LEFT_FILE
from aerobee.storage.recover.checkpoint import FILE_BYTES, Checkpoint
from aerobee.system.disk import MappedDisk


class StoreFacts(NamedTuple):
    root: str
    log_start: int
    log_end: int | None
    """None: it is RocketMQ's own, which has no durable mark."""
    confirmed: int
    """So much of the log is known to be on enough disks; 0: nobody has counted."""
    is_clean: bool
    """Whether the last broker on it stopped in order."""
    state: SavedState | None
    """That of a member; None: it is a single broker's."""
    left: SavedState | None
    """That of a member of an earlier time; None: it never was one."""


@contextlib.contextmanager
def held_store(root: str) -> Iterator[StoreFacts]:
    """The facts of a store, which nobody else can use meanwhile. NotFound: there is no store.
    StoreLocked: a broker uses it. CorruptFile: its state is damaged."""
    if not os.path.isdir(os.path.join(root, "commitlog")):
        raise NotFound(
            f"{root} is no store with messages: it has no commitlog",
            hint="a broker keeps its store in storePathRootDir, ~/store unless set",
        )
    disk = MappedDisk()
    try:
        lock = disk.lock(os.path.join(root, "lock"))
    except BlockingIOError:
        raise StoreLocked(f"a broker has {root}", hint="stop it first") from None
    try:
        yield _facts(root, disk)
    finally:
        lock.release()


def _facts(root: str, disk: MappedDisk) -> StoreFacts:
    folder = StoreFolder(root)
    mark = folder.mark()
    return StoreFacts(
        root,
        folder.log_start,
        None if mark is None else mark.flushed,
        _confirmed(root, disk),
        not folder.is_aborted(),
        load_state(disk, os.path.join(root, FILE)),
        load_state(disk, os.path.join(root, LEFT_FILE)),
    )


def _confirmed(root: str, disk: MappedDisk) -> int:
    path = os.path.join(root, "checkpoint")
    if not disk.exists(path) or disk.size(path) != FILE_BYTES:
        return 0
    return Checkpoint.open(disk, path).fields.confirmed_offset
