"""Producer epochs in `config/producerEpochs.json`, a file of Aerobee: which client may send under
an id.

    {"epochs":{"billing-1":1794732382394,"q7/0":9437185},
     "rounds":{"q7/0":{"roundId":9,"plans":{"Orders":"1 broker-a:4"},"queues":{"Orders":4}}},
     "finished":{"nightly":{"roundId":4,"epoch":4194307,"usedMs":1794732382394,
                            "whole":["Orders"],"tasks":{"Refunds":[0,812,813,814]}}}}

An epoch is on the disk before the client that opened with it is answered, so that after a crash,
too, the fenced client is refused before its successor has stored anything. A new epoch is the time,
or one more than the last: a broker that has forgotten an id does not give one out twice. In a round
it is the round's next.

The plan of a round is saved with it: a repeated round sends the same messages to the same queues,
and stored ones are recognised.

Finished rounds (`finished_rounds`) are saved before their marks are dropped, and after their
messages are on the disk. Replaying the log relies on this.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.message.producer_mark import ROUND_EPOCHS
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.deduplication.finished_rounds import SavedRound
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

_log = logging.getLogger(__name__)

Opened = Callable[[int, BaseException | None], None]
"""Called with the epoch, and the error if it could not be saved."""


class EpochRound(NamedTuple):
    round_id: int
    plans: Mapping[str, str]
    queues: Mapping[str, int] = MappingProxyType({})
    """The number of reserved queues, by topic."""


class _Table(NamedTuple):
    epochs: Mapping[str, int]
    rounds: Mapping[str, EpochRound]
    finished: Mapping[str, SavedRound]


class ProducerEpochs:
    def __init__(self, file: ConfigFile, worker: DiskWorker, known: KnownProducers) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._known = known
        loaded = file.load()
        if loaded is not None and loaded.fault:
            _log.warning("a backup had to do: %s", loaded.fault)
        table = _Table({}, {}, {})
        if loaded is not None:
            table = _table_in(Members(loaded.value, file.path), file.path)
        known.expect_rounds(table.rounds)
        known.finished.restore(table.finished.items())
        self._saved: SavedValue[_Table] = SavedValue(
            worker, lambda table: file.store(_as_json(table)), table
        )
        self.journal: Journal | None = None
        """Is told of producers."""
        self.journal_of_finished: Journal | None = None
        """Is told of writes."""

    def restore(self, wall_ms: int) -> None:
        """Apply the file to the table of producers, after the log was replayed."""
        for producer, epoch in self._saved.value.epochs.items():
            if epoch > self._known.epoch_of(producer):
                self._known.raise_epoch(producer, epoch, wall_ms)
        for producer, round_ in self._saved.value.rounds.items():
            left = self._unfinished(producer, round_)
            if left is None:
                continue
            known = self._known.begin_round(producer, left.round_id, wall_ms)
            # If part of it is finished, the epoch must be above that of the clients that sent it.
            known.epoch = max(known.epoch, self._known.finished.epoch_floor(producer))
            known.plans = dict(left.plans)
            self._reserve(producer, left)

    def open(self, producer: str, wanted: int, now: Now, done: Opened) -> None:
        """Let a producer send with this epoch from now on, or with the next (-1); the client before
        it is refused at once."""
        epoch = wanted if wanted >= 0 else max(self._last_of(producer) + 1, now.wall_ms)
        self._raise(producer, epoch, now, done)

    def open_round(
        self, producer: str, epoch: int, round_: EpochRound, now: Now, done: Opened
    ) -> None:
        """The same, with an epoch of a round that the caller has checked not to be over. An
        existing plan of the round stays."""
        known = self._known.begin_round(producer, round_.round_id, now.wall_ms)
        for topic, plan in round_.plans.items():
            known.plans.setdefault(topic, plan)
        self._reserve(producer, round_)
        self._raise(producer, epoch, now, done)

    def next_in(self, producer: str, round_id: int) -> int:
        """The epoch that the round's next attempt would get, or one of a later round."""
        return max(self._last_of(producer) + 1, round_id * ROUND_EPOCHS)

    def save_finished(self, write_ids: Sequence[str], done: Done) -> None:
        """Save the finished rounds of these writes, or that they have none any more."""
        self._saved.change(
            lambda table: self._with_finished(table, write_ids),
            lambda error: tell_journal(self.journal_of_finished, write_ids, error, done),
        )

    # Rows of the file.

    def epochs(self) -> Mapping[str, int]:
        """By producer."""
        return self._saved.value.epochs

    def rounds(self) -> Mapping[str, EpochRound]:
        """By producer."""
        return self._saved.value.rounds

    def finished(self) -> Mapping[str, SavedRound]:
        """By write."""
        return self._saved.value.finished

    def _unfinished(self, producer: str, round_: EpochRound) -> EpochRound | None:
        """The unfinished part of a round; None: there is none."""
        left = [
            topic
            for topic in round_.plans
            if not self._known.finished.covers(producer, topic, round_.round_id)
        ]
        if round_.plans and not left:
            return None
        return EpochRound(
            round_.round_id,
            {topic: round_.plans[topic] for topic in left},
            {topic: round_.queues[topic] for topic in left if topic in round_.queues},
        )

    def _with_finished(self, table: _Table, write_ids: Iterable[str]) -> _Table:
        finished = {
            name: one for name, one in table.finished.items() if name in self._known.finished
        }
        for write_id in write_ids:
            saved = self._known.finished.saved(write_id)
            if saved is not None:
                finished.pop(write_id, None)  # the order is that of the last report
                finished[write_id] = saved
        return table._replace(finished=finished)

    def _reserve(self, producer: str, round_: EpochRound) -> None:
        for topic, queues in round_.queues.items():
            self._known.reserve(producer, topic, queues)

    def _last_of(self, producer: str) -> int:
        return max(self._known.epoch_of(producer), self._saved.value.epochs.get(producer, -1))

    def _raise(self, producer: str, epoch: int, now: Now, done: Opened) -> None:
        self._known.raise_epoch(producer, epoch, now.wall_ms)

        def saved(error: BaseException | None) -> None:
            tell_journal(self.journal, [producer], error, lambda error: done(epoch, error))

        self._saved.change(lambda table: self._with(table, producer, epoch), saved)

    def _with(self, table: _Table, producer: str, epoch: int) -> _Table:
        known = self._known.find_producer(producer)
        round_ = None
        if known is not None and known.round_id >= 0:
            round_ = EpochRound(known.round_id, dict(known.plans), dict(known.reserved))
        if table.epochs.get(producer) == epoch and table.rounds.get(producer) == round_:
            return table
        # A forgotten producer is refused anyway until it opens again.
        kept = {name: old for name, old in table.epochs.items() if self._is_known(name)}
        kept[producer] = max(epoch, kept.get(producer, -1))
        rounds = {name: old for name, old in table.rounds.items() if name in kept}
        if round_ is not None:
            rounds[producer] = round_
        return table._replace(epochs=kept, rounds=rounds)

    def _is_known(self, producer: str) -> bool:
        return self._known.find_producer(producer) is not None


def _as_json(table: _Table) -> dict[str, Value]:
    return {
        "epochs": dict(table.epochs),
        "rounds": {name: round_json(one) for name, one in table.rounds.items()},
        "finished": {name: finished_json(one) for name, one in table.finished.items()},
    }


def round_json(one: EpochRound) -> dict[str, Value]:
    """A round as it stands in the file."""
    return {"roundId": one.round_id, "plans": dict(one.plans), "queues": dict(one.queues)}


def finished_json(one: SavedRound) -> dict[str, Value]:
    """A finished round as it stands in the file."""
    return {
        "roundId": one.round_id,
        "epoch": one.epoch,
        "usedMs": one.used_ms,
        "whole": list(one.whole),
        "tasks": {topic: list(runs) for topic, runs in one.tasks.items()},
    }


def _table_in(members: Members, path: str) -> _Table:
    try:
        epochs = members.object("epochs")
        rounds = {
            name: EpochRound(
                one.int64("roundId"), one.object("plans").texts(), _numbers(one, "queues")
            )
            for name, one in members.object("rounds").objects()
        }
        finished = {name: _finished_in(one) for name, one in members.object("finished").objects()}
        return _Table({name: epochs.int64(name) for name in epochs.names()}, rounds, finished)
    except ProtocolError as error:
        raise CorruptFile(error.message, path=path) from None


def _numbers(members: Members, name: str) -> dict[str, int]:
    found = members.object(name)
    return {key: found.int32(key) for key in found.names()}


def _finished_in(one: Members) -> SavedRound:
    whole = one.array("whole")
    if not all(isinstance(topic, str) for topic in whole):
        raise RemoteProtocolError(f"topics of {one.what} are more than names")
    tasks = one.object("tasks")
    return SavedRound(
        one.int64("roundId"),
        one.int64("epoch"),
        one.int64("usedMs"),
        [str(topic) for topic in whole],
        {topic: _runs(tasks, topic) for topic in tasks.names()},
    )


def _runs(tasks: Members, topic: str) -> list[int]:
    runs = [value for value in tasks.array(topic) if type(value) is int]
    if len(runs) != len(tasks.array(topic)) or len(runs) % 2 or sorted(set(runs)) != runs:
        raise RemoteProtocolError(f"tasks of {topic[:200]!r} are out of order")
    return runs
