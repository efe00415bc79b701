"""Deleting topics: their queues go, and stay gone whatever stops the process.

    1  hide     the queues are taken out: nothing is read, appends are refused as busy
    2  note     `deleted_topics` says so on the disk: no start builds them from the log again
    3  mark     a checkpoint without them is on the disk
    4  remove   their files and folders go, a disk thread removes them
    5  over     appends are taken again, from queue offset 0 on

Each step is durable before the next begins. A start after a crash finds the note, takes out what is
older than it, and compares the rest with the mark: with the queues before 3, without them after it.
So it need not build all queues again because some were on their way out.

Topics that are deleted while others are on their way wait for the next round. Called from the
core's thread only; notes and removals are disk jobs.
"""

from collections.abc import Callable
from contextlib import suppress

from aerobee.errors import DiskFailed
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.index.deleted_topics import DeletedTopics
from aerobee.storage.index.derived_files import DerivedFiles


class TopicDeletions:
    """The topics that are on their way out of one store.

    I1. A topic is in `_folders` from `delete` until its files are gone.
    """

    def __init__(
        self,
        disk: Disk,
        worker: DiskWorker,
        deleted: DeletedTopics,
        derived: DerivedFiles,
        ask_checkpoint: Callable[[], int],
        is_removing_in: Callable[[str], bool],
    ) -> None:
        """`ask_checkpoint` has one made and numbers it; `is_removing_in` knows of files of a folder
        that are still to go for another reason."""
        self._disk = disk
        self._worker = worker
        self._deleted = deleted
        self._derived = derived
        self._ask_checkpoint = ask_checkpoint
        self._is_removing_in = is_removing_in
        # Folders of the queues of each topic.
        self._folders: dict[bytes, list[str]] = {}
        # Deleted since the round that is under way began; of that round.
        self._waiting: list[bytes] = []
        self._round: list[bytes] = []
        self._job: _Work | None = None
        # The checkpoint that the round waits for; 0: none yet.
        self._checkpoint = 0
        self.failure: DiskFailed | None = None

    def delete(self, topic: bytes, end_offset: int) -> None:
        """Take the queues of a topic out; everything that the log holds of it is dead."""
        if topic in self._folders:
            return  # nothing was appended since
        folders = self._derived.take_topic(topic)
        if folders:
            # Queues that are made from here on look there.
            self._deleted.offsets[topic] = end_offset
            self._folders[topic] = folders
            self._waiting.append(topic)

    def step(self, durable_checkpoint: int) -> None:
        """Go on with what can go on. `durable_checkpoint`: the newest that is on the disk."""
        if self._job is not None or self.failure is not None:
            return
        if not self._round and self._waiting:
            self._round, self._waiting = self._waiting, []
            self._start(_Note(self, self._deleted))
        elif self._round and 0 < self._checkpoint <= durable_checkpoint:
            folders = self._folders_of_round()
            if not any(map(self._is_removing_in, folders)):
                self._checkpoint = 0
                self._start(_Remove(self, self._disk, folders))

    def note_now(self) -> None:
        """Block until every deletion is noted (stop)."""
        if self._job is not None:
            self._worker.wait(self._job)
        if self._waiting and self.failure is None:
            self._round += self._waiting
            self._waiting = []
            self._deleted.save(self._deleted.encode())

    def remove_now(self) -> None:
        """Remove what is noted; a mark without it is on the disk (stop)."""
        remove_folders(self._disk, self._folders_of_round())

    def _folders_of_round(self) -> list[str]:
        return [folder for topic in self._round for folder in self._folders[topic]]

    def _start(self, job: "_Work") -> None:
        self._job = job
        self._worker.submit(Lane.BACKGROUND, job)

    def _finish(self, job: "_Work", error: BaseException | None) -> None:
        self._job = None
        if error is not None:
            self.failure = DiskFailed(
                f"a topic could not be deleted: {error}",
                hint="the store takes no more writes; check the disk, then restart",
            )
        elif isinstance(job, _Note):
            self._checkpoint = self._ask_checkpoint()
        else:
            for topic in self._round:
                del self._folders[topic]
                self._derived.queues.let_in(topic)
            self._round = []


class _Work:
    """Disk job: one step of a round."""

    def __init__(self, deletions: TopicDeletions) -> None:
        self._deletions = deletions

    def run(self) -> None:
        raise NotImplementedError

    def done(self, error: BaseException | None) -> None:
        self._deletions._finish(self, error)


class _Note(_Work):
    def __init__(self, deletions: TopicDeletions, deleted: DeletedTopics) -> None:
        super().__init__(deletions)
        self._deleted = deleted
        self._content = deleted.encode()

    def run(self) -> None:
        self._deleted.save(self._content)


class _Remove(_Work):
    def __init__(self, deletions: TopicDeletions, disk: Disk, folders: list[str]) -> None:
        super().__init__(deletions)
        self._disk = disk
        self._folders = folders

    def run(self) -> None:
        remove_folders(self._disk, self._folders)


def remove_folders(disk: Disk, folders: list[str]) -> None:
    """Remove folders of queues with all that is in them, and the topics' own; durably. Blocks."""
    topics: dict[str, None] = {}
    for folder in folders:
        for name in reversed(disk.list_directory(folder)):
            disk.remove(f"{folder}/{name}")
        with suppress(FileNotFoundError):
            disk.remove_directory(folder)
        topics[folder.rpartition("/")[0]] = None
    for topic in topics:
        if disk.list_directory(topic):
            disk.sync_directory(topic)  # somebody else has something there
        elif disk.exists(topic):
            disk.remove_directory(topic)
    for parent in {topic.rpartition("/")[0] for topic in topics}:
        with suppress(FileNotFoundError):
            disk.sync_directory(parent)
