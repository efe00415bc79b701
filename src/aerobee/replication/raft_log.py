"""RaftLog shows the commit log of a store as the log of a Raft node.

    an entry            records from one offset to another, as they are
    a control record    an ordinary message of the topic rmq_sys_aerobee_raft, whose body is the
                        epoch that it begins (`raft.epoch_bytes`)
    synced              flushed
    committed           confirmed: may be acknowledged and read (`storage.commit.confirmation`)
    a cut               the store opened anew with `cut_at`: never under a running broker

G1. A record that does not fit into its log file is preceded by a filler, which belongs to the same
    epoch: an epoch begins where the log ended before, filler or not.
G2. Until something is known to be committed, nothing can be read beyond what was known before.
G3. A store that has copied records takes none of its own (`storage.raw_appender`): a follower that
    is elected opens its store anew before it appends the first record of its term, and keeps its
    node.
"""

from aerobee.errors import DiskFull, Misuse, NothingTaken, RaftBroken, StoreBusy
from aerobee.model.names import RAFT_TOPIC
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.raft.epoch_bytes import encode_epoch
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import Members
from aerobee.raft.messages import Records
from aerobee.raft.node import LogBounds
from aerobee.raft.ready import Control
from aerobee.storage.store import Store

_TOPIC = RAFT_TOPIC.encode()
_AROUND_EPOCH_BYTES = 256
"""More than a control record has beside its body, with the filler behind it."""


class RaftLog:
    def __init__(self, store: Store, committed: int) -> None:
        """`committed`: so much is known to be committed, from an earlier life; 0 if nothing is."""
        self._store = store
        self._has_copied = False
        self._committed = min(committed, store.end_offset)
        store.confirmation.expect_copies(max(self._committed, store.min_offset))

    def bounds(self) -> LogBounds:
        """For the start of a node."""
        store = self._store
        return LogBounds(
            store.min_offset,
            store.end_offset,
            store.flushed_offset,
            max(self._committed, store.min_offset),
        )

    # Sending.

    def boundary(self, start: int, limit: int) -> int:
        """For `raft.leader`: where a message of records from `start` on is to end."""
        return self._store.log_range.record_end(start, limit)

    def slices(self, start: int, end: int) -> list[memoryview]:
        """The bytes of a range, not copied; they keep their files mapped."""
        found = []
        while start < end:
            part = self._store.log_slices(start, end - start)
            if not part:
                raise RaftBroken(f"no bytes at {start}, which the log should have up to {end}")
            found.append(part)
            start += len(part)
        return found

    # Appending.

    def append_records(self, records: Records, body: memoryview) -> None:
        """Append what the core has accepted. A StorageError: the disk is full, or the bytes are no
        sound records; the node must stop, because its core has counted them."""
        self._has_copied = True
        taken = self._store.append_raw(records.start, body)
        if taken != len(body):
            raise RaftBroken(
                f"records from {records.start} to {records.end} end inside one, at"
                f" {records.start + taken}",
                hint="the leader's log is damaged, or its file size is another one",
            )

    def find_shortage(self, end: int) -> NothingTaken | None:
        """Why records up to here cannot be appended now, but may be later; None: they can."""
        hindrance = self._store.appender.refusal
        if isinstance(hindrance, DiskFull | StoreBusy):
            return hindrance
        shortage = self._store.raw_appender.find_shortage(end)
        return shortage if isinstance(shortage, DiskFull | StoreBusy) else None

    def has_place_for_control(self, members: Members) -> bool:
        """Whether a leader's record with these members could be appended. Blocks while the next
        file is made, if it would need that."""
        end = self._store.end_offset
        size = len(encode_epoch(Epoch(end, 0, members))) + _AROUND_EPOCH_BYTES
        return not isinstance(self._store.raw_appender.find_shortage(end + size), DiskFull)

    def append_control(self, control: Control, wall_ms: int) -> int:
        """Append the first record of an epoch; the end of the log behind it. DiskFull: there is no
        file for it, and nothing has changed."""
        store = self._store
        if self._has_copied:
            raise Misuse("a record of a leader in a store that has copied another's: open it anew")
        if control.start != store.end_offset:
            raise RaftBroken(
                f"an epoch at {control.start} of a log that ends at {store.end_offset}"
            )
        draft = MessageDraft()
        draft.topic = _TOPIC
        draft.born_timestamp = wall_ms
        draft.set_body(memoryview(encode_epoch(Epoch(*control))))
        # Sends may wait for this very record, and nobody could be elected for lack of its bytes: it
        # is appended although a store refuses others, as long as its file has room.
        appender = store.appender
        refusal, appender.refusal = appender.refusal, store.failure
        try:
            appender.append(draft, wall_ms)
        finally:
            appender.refusal = refusal
        return store.end_offset

    # Agreeing.

    @property
    def has_copied(self) -> bool:
        """Whether this store must be opened anew before its node leads."""
        return self._has_copied

    @property
    def start(self) -> int:
        return self._store.min_offset

    @property
    def end(self) -> int:
        return self._store.end_offset

    @property
    def synced(self) -> int:
        return self._store.flushed_offset

    @property
    def committed(self) -> int:
        """So much is known to be committed, for the next life."""
        return self._committed

    def note_commit(self, offset: int) -> None:
        """Everything below is committed."""
        self._committed = max(self._committed, offset)
        self._store.confirmation.note_copied(offset)
