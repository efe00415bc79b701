"""StagedRounds has each writer's last round to be published: `config/stagedRounds.json`, of
Aerobee.

    {"writes":{"q7":{"roundId":9,"places":[81505,90210],"isDone":false,"usedMs":1794732382394}}}

D1. A decision is on the disk before any batch of its round is published, and is marked done once
    all of them are on the disk: a start finishes rounds that are not done.
D2. Of two decisions on one round the first counts.

A writer without a decision for seven days is forgotten, and of more than 10,000 the oldest.
"""

import logging
from collections.abc import Mapping
from typing import NamedTuple

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

_log = logging.getLogger(__name__)

WRITERS_MAX = 10_000
IDLE_MS_MAX = 7 * 24 * 3_600_000


class StagedRound(NamedTuple):
    round_id: int
    places: tuple[int, ...]
    """Log offsets of its batches, in order; empty once it is done."""
    is_done: bool
    used_ms: int


class StagedRounds:
    def __init__(self, file: ConfigFile, worker: DiskWorker) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        loaded = file.load()
        if loaded is not None and loaded.fault:
            _log.warning("a backup had to do: %s", loaded.fault)
        table: Mapping[str, StagedRound] = {}
        if loaded is not None:
            table = _table_in(Members(loaded.value, file.path), file.path)
        self._saved: SavedValue[Mapping[str, StagedRound]] = SavedValue(
            worker, lambda table: file.store(_as_json(table)), table
        )
        self.journal: Journal | None = None

    def find(self, write_id: str) -> StagedRound | None:
        return self._saved.value.get(write_id)

    def open(self) -> list[tuple[str, StagedRound]]:
        """Rounds that are decided and not done."""
        return [(name, one) for name, one in self._saved.value.items() if not one.is_done]

    def decide(self, write_id: str, decision: StagedRound, done: Done) -> None:
        """Save a decision, or that it is done."""
        self._saved.change(
            lambda table: _with(table, write_id, decision),
            lambda error: tell_journal(self.journal, [write_id], error, done),
        )

    def names(self) -> list[str]:
        """Writers that have a decision."""
        return list(self._saved.value)

    def row_json(self, write_id: str) -> dict[str, Value] | None:
        """A decision as it stands in the file; None: there is none."""
        found = self.find(write_id)
        return None if found is None else _decision_json(found)


def _with(
    table: Mapping[str, StagedRound], write_id: str, decision: StagedRound
) -> Mapping[str, StagedRound]:
    oldest_ms = decision.used_ms - IDLE_MS_MAX
    kept = {
        name: one
        for name, one in table.items()
        if name != write_id and (one.used_ms >= oldest_ms or not one.is_done)
    }
    for name in [name for name, one in kept.items() if one.is_done][: len(kept) - WRITERS_MAX + 1]:
        if len(kept) >= WRITERS_MAX:
            del kept[name]
    kept[write_id] = decision
    return kept


def _as_json(table: Mapping[str, StagedRound]) -> dict[str, Value]:
    return {"writes": {name: _decision_json(one) for name, one in table.items()}}


def _decision_json(one: StagedRound) -> dict[str, Value]:
    return {
        "roundId": one.round_id,
        "places": list(one.places),
        "isDone": one.is_done,
        "usedMs": one.used_ms,
    }


def _table_in(members: Members, path: str) -> dict[str, StagedRound]:
    try:
        return {name: _decision_in(one) for name, one in members.object("writes").objects()}
    except ProtocolError as error:
        raise CorruptFile(error.message, path=path) from None


def _decision_in(one: Members) -> StagedRound:
    places = []
    for place in one.array("places"):
        if type(place) is not int:
            raise RemoteProtocolError(f"places of {one.what} hold more than numbers")
        places.append(place)
    return StagedRound(
        one.int64("roundId"), tuple(places), one.is_true("isDone"), one.int64("usedMs")
    )
