"""Who may send under an id: `config/producerEpochs.json`, ours.

    {"epochs":{"billing-1":1794732382394}}

An epoch is on the disk before whoever opened with it is told, so that after a crash, too, the one
who was succeeded is refused before the successor has stored anything. One that is given out is the
time, or one more than the last: a broker that has forgotten an id does not give one out twice.
"""

import logging
from collections.abc import Callable, Mapping

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.json_members import Members
from aerobee.service.broker.deduplication.known_producers import KnownProducers
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import SavedValue

_log = logging.getLogger(__name__)

Opened = Callable[[int, BaseException | None], None]
"""Told the epoch, or what went wrong."""


class Epochs:
    def __init__(self, file: ConfigFile, worker: DiskWorker, known: KnownProducers) -> None:
        """Reads the file. CorruptFile: it cannot be believed, and neither can its backup."""
        self._known = known
        loaded = file.load()
        if loaded is not None and loaded.fault:
            _log.warning("a backup had to do: %s", loaded.fault)
        table = {} if loaded is None else _epochs_in(Members(loaded.value, file.path), file.path)
        self._saved: SavedValue[Mapping[str, int]] = SavedValue(
            worker, lambda table: file.store({"epochs": table}), table
        )

    def restore(self, wall_ms: int) -> None:
        """Tell the producers what the file says of them, once the log has told the rest."""
        for producer, epoch in self._saved.value.items():
            if epoch > self._known.epoch_of(producer):
                self._known.raise_epoch(producer, epoch, wall_ms)

    def open(self, producer: str, wanted: int, now: Now, done: Opened) -> None:
        """Have a producer sent with this epoch from now on, or with the next (-1); the sender
        before it is refused at once."""
        before = max(self._known.epoch_of(producer), self._saved.value.get(producer, -1))
        epoch = wanted if wanted >= 0 else max(before + 1, now.wall_ms)
        self._known.raise_epoch(producer, epoch, now.wall_ms)
        self._saved.change(
            lambda table: self._with(table, producer, epoch),
            lambda error: done(epoch, error),
        )

    def _with(self, table: Mapping[str, int], producer: str, epoch: int) -> Mapping[str, int]:
        if table.get(producer) == epoch:
            return table
        # Who is forgotten is refused anyway until it opens again.
        kept = {name: old for name, old in table.items() if self._known.epoch_of(name) >= 0}
        kept[producer] = max(epoch, kept.get(producer, -1))
        return kept


def _epochs_in(members: Members, path: str) -> dict[str, int]:
    try:
        table = members.object("epochs")
        return {name: table.int64(name) for name in table.names()}
    except ProtocolError as error:
        raise CorruptFile(error.message, path=path) from None
