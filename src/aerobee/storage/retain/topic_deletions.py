"""Deleting topics: their queues go, and stay gone whatever stops the process.

    1  hide     the queues are taken out: nothing is read, appends are refused as busy
    2  note     `deleted_topics` says so on the disk: no start builds them from the log again
    3  mark     the durable mark on the disk counts the other queues only
    4  remove   their files and folders go, a disk thread removes them
    5  over     appends are taken again, from queue offset 0 on; the caller is told

Each step is durable before the next begins. A start after a crash finds the note, takes out what is
older than it, and compares the rest with the mark: with the queues before 3, without them after it.
So it need not build all queues again because some were on their way out. For the same reason no
checkpoint begins between 1 and 3: its fingerprint would be without queues that a start without the
note still finds. A checkpoint that began before 1 is finished before the note is, because the jobs
of a lane run in order.

Step 3 needs no checkpoint: the share of the deleted queues is subtracted from the fingerprint in
the mark, and only the mark is synced. So a deletion takes a few syncs of small files, however much
the store has written since its last checkpoint. A topic of the same name that is made after step 5
is empty, and takes messages at once.

Topics that are deleted while others are on their way wait for the next round. Called from the
core's thread only; notes and removals are disk jobs.

A replica is told of a deletion later than of the messages behind it (`delete_before`). Its queues
may hold messages of the topic's next life already, and get more at any time: so nothing is hidden
first, and files are removed by the core's thread, between two messages. Queues that end before the
deletion are cleared once the note is on the disk; the others stay. A crash between that and the
next mark makes the next start build all queues again.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

from aerobee.errors import DiskFailed
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.index.deleted_topics import DeletedTopics
from aerobee.storage.index.derived_files import DerivedFiles, Fingerprint, TakenTopic

Over: TypeAlias = Callable[[DiskFailed | None], None]
"""Called with None when a deletion is over, or with the error that ended the store's writes."""


class Marks(Protocol):
    """The durable mark and the checkpoints, as far as deletions use them: see `Marking`."""

    is_held: bool
    """Set while no checkpoint may begin."""

    @property
    def durable_subtraction(self) -> int:
        """The number of the newest subtraction that is on the disk."""

    def subtract(self, share_at: Callable[[int], Fingerprint]) -> int:
        """Subtract queues from the fingerprint in the mark; the number of the subtraction."""


class TopicDeletions:
    """The topics that are on their way out of one store.

    I1. A topic is in `_going` from `delete` until its files are gone.
    I2. Each of these is in `_waiting`, or in `_round`.
    I3. Deletions of a master are in `_told`, or in `_noting` while their note is written.
    """

    def __init__(
        self,
        disk: Disk,
        worker: DiskWorker,
        deleted: DeletedTopics,
        derived: DerivedFiles,
        marks: Marks,
        is_removing_in: Callable[[str], bool],
    ) -> None:
        """`is_removing_in` knows of files of a folder that are still to go for another reason."""
        self._disk = disk
        self._worker = worker
        self._deleted = deleted
        self._derived = derived
        self._marks = marks
        self._is_removing_in = is_removing_in
        self._going: dict[bytes, _Going] = {}
        # Deleted since the round that is under way began; of that round.
        self._waiting: list[bytes] = []
        self._round: list[bytes] = []
        self._told: list[_Told] = []
        self._noting: list[_Told] = []
        self._job: _Work | None = None
        # The subtraction that the round waits for; 0: none yet.
        self._subtraction = 0
        self.failure: DiskFailed | None = None

    def delete(self, topic: bytes, end_offset: int, over: Over | None = None) -> None:
        """Take the queues of a topic out; everything that the log holds of it is dead. `over` is
        called when its files are gone and appends are taken again."""
        going = self._going.get(topic)
        if going is None:
            # Queues that are made from here on look there.
            self._deleted.offsets[topic] = end_offset
            going = self._going[topic] = _Going(self._derived.take_topic(topic))
            self._waiting.append(topic)
            self._marks.is_held = True
        # While it is on its way out nothing is appended: a second request is the same deletion.
        if over is not None:
            going.told.append(over)

    def delete_before(self, topic: bytes, log_offset: int, over: Over | None = None) -> None:
        """For a replica: its master deleted the topic at this log offset, which the log has
        reached. What the log holds of it before is dead; queues that end before it go."""
        if topic in self._going or self._deleted.offsets.get(topic, 0) >= log_offset:
            if over is not None:
                over(None)
            return
        self._deleted.offsets[topic] = log_offset
        self._told.append(_Told(topic, log_offset, over))
        self._marks.is_held = True

    def step(self, min_offset: int) -> None:
        """Go on with what can go on. `min_offset`: where the log begins."""
        if self._job is not None or self.failure is not None:
            return
        if not self._round and (self._waiting or self._told):
            # The files of earlier ones are gone from the disk. Those of this round are not.
            self._deleted.forget_before(min_offset, self._going)
            self._round, self._waiting = self._waiting, []
            self._noting, self._told = self._told, []
            self._start(_Note(self, self._deleted))
        elif self._round and 0 < self._subtraction <= self._marks.durable_subtraction:
            folders = self._folders_of_round()
            if not any(map(self._is_removing_in, folders)):
                self._subtraction = 0
                self._start(_Remove(self, self._disk, folders))

    def stop(self, failure: DiskFailed) -> None:
        """The store takes no more writes: tell all callers that wait for a deletion."""
        told = [over for going in self._going.values() for over in going.take_told()]
        told += [one.over for one in (*self._noting, *self._told) if one.over is not None]
        self._noting, self._told = [], []
        for over in told:
            over(failure)

    def note_now(self) -> None:
        """Block until every deletion is noted (stop)."""
        if self._job is not None:
            self._worker.wait(self._job)
        if (self._waiting or self._told) and self.failure is None:
            self._round += self._waiting
            self._waiting = []
            self._noting, self._told = self._told, []
            self._deleted.save(self._deleted.encode())
            self._clear_noted()
            self._let_go_of_round()

    def remove_now(self) -> None:
        """Remove what is noted; a mark without it is on the disk (stop)."""
        remove_folders(self._disk, self._folders_of_round())

    def _folders_of_round(self) -> list[str]:
        return [folder for topic in self._round for folder in self._going[topic].taken.folders]

    def _start(self, job: "_Work") -> None:
        self._job = job
        self._worker.submit(Lane.BACKGROUND, job)

    def _finish(self, job: "_Work", error: BaseException | None) -> None:
        self._job = None
        if error is not None:
            self._fail(error)
        elif isinstance(job, _Note):
            self._clear_noted()
            if self._folders_of_round():
                self._subtraction = self._marks.subtract(self._share_at)
            self._let_go_of_round()
            if self._subtraction == 0:
                self._end_round()  # topics without queues have no files to remove
        else:
            self._end_round()

    def _fail(self, error: BaseException) -> None:
        self.failure = DiskFailed(
            f"a topic could not be deleted: {error}",
            hint="the store takes no more writes; check the disk, then restart",
        )

    def _clear_noted(self) -> None:
        """Clear what ended before the deletions of a master that are noted now."""
        noted, self._noting = self._noting, []
        for one in noted:
            ended = self._derived.ended_before(one.topic, one.log_offset)
            if ended.folders:
                self._marks.subtract(ended.share_at)
                ended.clear()
        if noted:
            # Queues that are empty now are made again with the offset of the deletion.
            self._derived.queues.take_dead()
            compacted = self._derived.kept.take_dead()
            if compacted:
                self._worker.submit(Lane.BACKGROUND, _RemoveCompacted(self, self._disk, compacted))
        for one in noted:
            if one.over is not None:
                one.over(None)

    def _share_at(self, log_offset: int) -> Fingerprint:
        shares = [self._going[topic].taken.share_at(log_offset) for topic in self._round]
        return Fingerprint(*map(sum, zip(*shares, strict=True)))

    def _let_go_of_round(self) -> None:
        """Unmap the files of the round: the mark does not count them any more."""
        for topic in self._round:
            self._going[topic].taken.let_go()
        self._marks.is_held = bool(self._waiting or self._told)

    def _end_round(self) -> None:
        told = []
        for topic in self._round:
            told += self._going.pop(topic).take_told()
            self._derived.queues.let_in(topic)
        self._round = []
        for over in told:
            over(None)


class _Told(NamedTuple):
    """A deletion of a master."""

    topic: bytes
    log_offset: int
    over: Over | None


class _Going:
    """One topic that is on its way out, and the callbacks of the callers that wait for it."""

    __slots__ = ("taken", "told")

    def __init__(self, taken: TakenTopic) -> None:
        self.taken = taken
        self.told: list[Over] = []

    def take_told(self) -> list[Over]:
        told, self.told = self.told, []
        return told


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


class _RemoveCompacted(_Remove):
    """The files of a compacted topic that a master deleted: nothing waits for it."""

    def done(self, error: BaseException | None) -> None:
        if error is not None:
            self._deletions._fail(error)


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
