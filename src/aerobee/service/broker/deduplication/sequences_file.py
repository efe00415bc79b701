"""Stored sequences in `config/producerSequences.json`, a file of Aerobee, as of some end of the
log.

    {"logOffset":81505,"producers":[{"id":"billing-1","epoch":1794732382394,"usedMs":1794732399000,
     "queues":[{"topic":"Orders","queueId":3,"floor":0,"runs":[0,41],"places":[40,977,80912]}]}]}

The log is authoritative; this file only spares reading it from its beginning. The log is replayed
from `logOffset` on. `runs` are starts and ends, `places` sequence, queue offset and log offset of
the last messages, alternating; producers are in the order of their last send.

F1. It is written once the log is lasting up to `logOffset`: it never names a message that a power
    cut took, or that another leader of its group has cut off. A file with a `logOffset` beyond the
    log's end belongs to another log.
F2. A damaged file is treated as missing: everything is read from the log again.
F3. Sequences in a topic that was deleted after the save are dropped: a topic that is made under the
    same name has none of those messages.
"""

import logging
from typing import NamedTuple, cast

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value, write_compact
from aerobee.service.broker.deduplication.known_producers import KnownProducer, KnownProducers
from aerobee.service.broker.deduplication.log_replay import replay_log
from aerobee.service.broker.deduplication.seen_sequences import SeenSequences
from aerobee.storage.metadata.background_save import BackgroundSave
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)

SAVE_MS = 5_000
"""The shortest time between two saves."""
LOG_BYTES = 16 << 20
"""Save after so much log even if no producer sent: it bounds the replay at a start."""
PLACES_SAVED = 64


class _Snapshot(NamedTuple):
    log_offset: int
    changes: int
    text: bytes


class SequencesFile:
    def __init__(
        self, file: ConfigFile, worker: DiskWorker, store: Store, known: KnownProducers
    ) -> None:
        """Reads the file, and replays the log from `logOffset` on."""
        self._file = file
        self._store = store
        self._known = known
        self._saved_offset = self._load()
        replay_log(store, self._saved_offset, known)
        self._saved_changes = 0  # so that replayed changes are saved
        self._next_ms = 0
        self._taken: _Snapshot | None = None
        self._saving = BackgroundSave(worker)

    def on_tick(self, now: Now) -> None:
        if self._saving.is_busy or self._store.failure is not None:
            return
        if self._taken is None and now.monotonic_ms >= self._next_ms and self._is_due():
            self._next_ms = now.monotonic_ms + SAVE_MS
            self._known.forget_idle(now.wall_ms)
            self._taken = self._snapshot()
        if (
            self._taken is not None
            and self._store.confirmation.lasting_offset >= self._taken.log_offset
        ):
            self._save(self._taken)

    def stop(self, now: Now) -> None:
        """Save the present state, if none of it can be taken back. Blocks on the disk."""
        self._saving.wait()
        if self._store.failure is None and self._known.changes != self._saved_changes:
            self._store.sync()
            snapshot = self._snapshot()
            if self._store.confirmation.lasting_offset >= snapshot.log_offset:
                self._save(snapshot)
                self._saving.wait()

    def _is_due(self) -> bool:
        grown = self._store.end_offset - self._saved_offset
        return self._known.changes != self._saved_changes or grown >= LOG_BYTES

    def _snapshot(self) -> _Snapshot:
        offset = self._store.end_offset
        value: dict[str, Value] = {
            "logOffset": offset,
            "producers": [_producer_json(name, one) for name, one in self._known.all()],
        }
        return _Snapshot(offset, self._known.changes, write_compact(value))

    def _save(self, snapshot: _Snapshot) -> None:
        self._taken = None
        self._saving.begin(
            lambda: self._file.store_text(snapshot.text),
            lambda error: self._written(snapshot, error),
        )

    def _written(self, snapshot: _Snapshot, error: BaseException | None) -> None:
        if error is None:
            self._saved_offset, self._saved_changes = snapshot.log_offset, snapshot.changes
        else:
            # Nothing is lost: the next start reads more of the log.
            _log.error("%s was not saved: %s", self._file.path, error)

    def _load(self) -> int:
        """Load the file; returns the log offset from which the log must be replayed."""
        try:
            loaded = self._file.load()
            if loaded is None:
                return self._store.min_offset
            members = Members(loaded.value, self._file.path)
            log_offset = members.int64("logOffset")
            producers = [_producer_from(row) for row in members.array("producers")]
        except (CorruptFile, ProtocolError) as error:
            _log.warning("what is known of producers is read from the log: %s", error)
            return self._store.min_offset
        if log_offset > self._store.end_offset:
            _log.warning("%s belongs to another log", self._file.path)
            return self._store.min_offset
        for name, producer in producers:
            for key in [key for key in producer.queues if self._is_dead(key[0], log_offset)]:
                del producer.queues[key]
            self._known.restore(name, producer)
        return max(log_offset, self._store.min_offset)

    def _is_dead(self, topic: str, log_offset: int) -> bool:
        """Whether a topic was deleted after a save at this log offset."""
        return self._store.born_at(topic.encode()) >= max(1, log_offset)


def _producer_json(name: str, producer: KnownProducer) -> dict[str, Value]:
    return {
        "id": name,
        "epoch": producer.epoch,
        "usedMs": producer.used_ms,
        "queues": [
            {
                "topic": topic,
                "queueId": queue_id,
                "floor": seen.floor,
                "runs": seen.runs(),
                "places": seen.last_places(PLACES_SAVED),
            }
            for (topic, queue_id), seen in producer.queues.items()
        ],
    }


def _producer_from(row: Parsed) -> tuple[str, KnownProducer]:
    members = Members(row, "a producer")
    producer = KnownProducer(members.int64("epoch"), members.int64("usedMs"))
    for one in members.array("queues"):
        queue = Members(one, "a queue of a producer")
        try:
            seen = SeenSequences.restored(
                queue.int64("floor"), _numbers(queue, "runs"), _numbers(queue, "places")
            )
        except ValueError as error:
            raise RemoteProtocolError(f"{queue.what}: {error}") from None
        producer.queues[queue.text("topic"), queue.int32("queueId")] = seen
    return members.text("id"), producer


def _numbers(queue: Members, name: str) -> list[int]:
    values = queue.array(name)
    if not all(type(value) is int and -(2**63) <= value < 2**63 for value in values):
        raise RemoteProtocolError(f"{name} of {queue.what} holds more than numbers")
    return cast("list[int]", values)
