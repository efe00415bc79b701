"""RaftState keeps the saved state of a group member on the disk, beside the log.

The file is in the folder of the store, not of its settings: it belongs to the log, and goes where
the log goes.
"""

from collections.abc import Callable

from aerobee.errors import StorageError
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker
from aerobee.raft.membership import NOBODY
from aerobee.raft.node import LogBounds
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import load_state, save_state
from aerobee.replication.group_config import RaftGroupConfig
from aerobee.storage.metadata.background_save import BackgroundSave

FILE = "raft_state"


class RaftState:
    def __init__(self, disk: Disk, worker: DiskWorker, root: str) -> None:
        self._disk = disk
        self._root = root
        self._saving = BackgroundSave(worker)

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
                hint="members without messages could outvote it: begin the group with empty stores,"
                " or keep this broker a master and give it slaves",
            )
        return first_state(NOBODY if config.joins else config.members(), bounds.start)

    def save(self, state: SavedState, saved: Callable[[BaseException | None], None]) -> None:
        """Save a state on a disk thread, one at a time; `saved` is called when it is on the disk,
        or with the error."""
        self._saving.begin(lambda: save_state(self._disk, self.path, state), saved)
