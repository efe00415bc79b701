"""RaftState keeps the saved state of a group member on the disk, beside the log.

The file is in the folder of the store, not of its settings: it belongs to the log, and goes where
the log goes.
"""

import logging
from collections.abc import Callable
from typing import TypeAlias

from aerobee.errors import StorageError
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.raft.membership import NOBODY
from aerobee.raft.node import LogBounds
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.replication.group_config import RaftGroupConfig
from aerobee.storage.files.lack_of_room import is_out_of_room
from aerobee.storage.metadata.background_save import BackgroundSave

_log = logging.getLogger(__name__)

RETRY_MS = 500
Saved: TypeAlias = Callable[[BaseException | None], None]
"""Is told that a state is on the disk, or why not."""
FILE = "raft_state"
LEFT_FILE = "raft_state.left"
"""The state of a store that was a member's, and is a single broker's now."""


class RaftState:
    def __init__(self, disk: Disk, worker: DiskWorker, root: str) -> None:
        self._disk = disk
        self._root = root
        self._saving = BackgroundSave(worker)
        self._unsaved: tuple[SavedState, Saved] | None = None
        self._tried_ms: int | None = None

    @property
    def path(self) -> str:
        return f"{self._root}/{FILE}"

    def load(self, config: RaftGroupConfig, bounds: LogBounds) -> SavedState:
        """The state at the start of a process; of a store without one, that of a new member.
        CorruptFile: the file is damaged. StorageError: the store has messages, and was never that
        of a member."""
        saved = load_state(self._disk, self.path)
        if saved is not None:
            return saved
        is_alone = len(config.peers) == 1 and not config.joins
        if bounds.end > bounds.start and not is_alone:
            raise StorageError(
                f"the store {self._root} has messages, and is not that of a member of a group",
                hint="members without messages could outvote it: `aerobee broker convert` makes it"
                " the first member, and the others join it",
            )
        return first_state(NOBODY if config.joins else config.members(), bounds.start)

    def save(self, state: SavedState, saved: Saved) -> None:
        """Save a state on a disk thread, one at a time; `saved` is called when it is on the disk,
        or with the error. One for which there is no room waits until there is."""

        def ended(error: BaseException | None) -> None:
            if isinstance(error, OSError) and is_out_of_room(error):
                self._unsaved = (state, saved)
                return
            self._tried_ms = None
            saved(error)

        self._saving.begin(lambda: save_state(self._disk, self.path, state), ended)

    def try_again(self, now_ms: int) -> None:
        """Save a state for which there was no room, now and then. Until it is saved its node does
        nothing, so nothing rests on it."""
        if self._unsaved is None:
            return
        if self._tried_ms is None:
            _log.error("no room for %s: this member does nothing until there is", self.path)
        if self._tried_ms is None or now_ms - self._tried_ms >= RETRY_MS:
            self._tried_ms = now_ms
            unsaved, self._unsaved = self._unsaved, None
            self.save(*unsaved)


def check_single(disk: Disk, root: str) -> None:
    """StorageError: the store of a member is not to be changed by a single broker, whose records
    would belong to no term."""
    if disk.exists(f"{root}/{FILE}"):
        raise StorageError(
            f"the store {root} is that of a member of a Raft group",
            hint="start it with enableDLegerCommitLog=true, or make it a single broker's first:"
            " `aerobee broker convert`",
        )
