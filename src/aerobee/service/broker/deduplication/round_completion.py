"""A round is said to be finished, by a task or by whoever speaks for all of them.

    said ─▶ known, the sender's epoch is over ─▶ the log is on the disk ─▶ so is this ─▶ marks go

Each step is safe to stop at. Until the marks go they tell what is a repetition, so nobody has to
wait for the disk: what a kill takes away is that it was said, and the marks are still there. The
log comes first: a round that is done again could not bring back what it lost, being finished.

Called from the core's thread only.
"""

import logging
from collections.abc import Callable, Iterable

from aerobee.ports.clock import Now
from aerobee.service.broker.deduplication.finished_rounds import tasks_of
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.service.broker.deduplication.producer_epochs import ProducerEpochs
from aerobee.storage.store import Store

_log = logging.getLogger(__name__)


class RoundCompletion:
    def __init__(self, known: KnownProducers, epochs: ProducerEpochs, store: Store) -> None:
        self._known = known
        self._epochs = epochs
        self._store = store

    def finish_task(self, producer: str, topic: str, now: Now) -> int | None:
        """A producer whose round has begun has stored all that it has for a topic. The epoch that
        it goes on with; None: there is no room to remember it, so its marks stay."""
        epoch = self._known.finish_task(producer, topic, now.wall_ms)
        if epoch is not None:
            write_id = producer.rpartition("/")[0]
            self._when_safe([write_id], lambda: [producer])
        return epoch

    def finish_write(self, write_id: str, topic: str, round_id: int, now: Now) -> None:
        """All tasks of a round have stored what they have for a topic."""
        self._known.finish_write(write_id, topic, round_id, now.wall_ms)
        self._when_safe(
            [write_id], lambda: tasks_of(write_id, [name for name, _ in self._known.all()])
        )

    def forget_topic(self, topic: str) -> None:
        """It was deleted."""
        write_ids = self._known.forget_topic(topic)
        if write_ids:
            self._epochs.save_finished(write_ids, _report)

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
        # The marks stay: nothing is lost but room.
        _log.error("what is finished was not saved: %s", error)
