"""FINISH_ROUND, in steps. A crash between two steps is safe.

1. The round is marked finished in memory, and the sender's epoch is refused.
2. The log is synced.
3. `producerEpochs.json` is saved.
4. The round's marks are dropped.

Until step 4 the marks recognise repeated sends, so the client need not wait for the disk: a crash
loses only the fact that the round is finished. The log is synced first: a finished round cannot be
sent again to replace lost messages. Called from the core's thread only.
"""

import logging
from collections.abc import Callable, Iterable

from aerobee.ports.clock import Now
from aerobee.service.broker.deduplication.finished_rounds import tasks_of
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.deduplication.producer_epochs import ProducerEpochs
from aerobee.storage.metadata.saved_value import Done
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class RoundCompletion:
    def __init__(self, known: KnownProducers, epochs: ProducerEpochs, store: Store) -> None:
        self._known = known
        self._epochs = epochs
        self._store = store

    def finish_task(self, producer: str, topic: str, now: Now) -> int | None:
        """A producer whose round has begun has stored its messages for a topic. Returns the epoch
        that it continues with; None: there is no room for the record, so its marks stay."""
        epoch = self._known.finish_task(producer, topic, now.wall_ms)
        if epoch is not None:
            write_id = producer.rpartition("/")[0]
            self._when_safe([write_id], lambda: [producer])
        return epoch

    def finish_write(self, write_id: str, topic: str, round_id: int, now: Now) -> None:
        """All tasks of a round have stored their messages for a topic."""
        self._known.finish_write(write_id, topic, round_id, now.wall_ms)
        self._when_safe(
            [write_id], lambda: tasks_of(write_id, [name for name, _ in self._known.all()])
        )

    def forget_topic(self, topic: str, done: Done) -> None:
        """A topic was deleted: its finished rounds are forgotten. `done` is called when that is
        on the disk, or with the error."""
        write_ids = self._known.forget_topic(topic)
        if write_ids:
            self._epochs.save_finished(write_ids, done)
        else:
            done(None)

    def _when_safe(self, write_ids: list[str], whose: Callable[[], Iterable[str]]) -> None:
        def saved(error: BaseException | None) -> None:
            _report(error)
            if error is None:
                self._known.let_go(whose())

        def on_disk(is_safe: bool) -> None:
            if is_safe:
                self._epochs.save_finished(write_ids, saved)

        self._store.wait_for(self._store.end_offset, on_disk)


def _report(error: BaseException | None) -> None:
    if error is not None:
        # The marks stay: only their memory is not freed.
        _log.error("what is finished was not saved: %s", error)
