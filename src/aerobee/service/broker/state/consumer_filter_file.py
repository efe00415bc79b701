"""ConsumerFilterFile saves the groups' SQL filters in Apache's format:
`config/consumerFilter.json`.

    {"filterDataByTopic":{"T":{"groupFilterData":{"g":{
       "bloomFilterData":{"bitNum":112,"bitPos":[57,40,23]},"bornTime":1700000000000,
       "clientVersion":1700000000000,"consumerGroup":"g","dead":false,"deadTime":0,
       "expression":"a > 1","expressionType":"SQL92","topic":"T"}},"topic":"T"}}}

This broker learns filters from heartbeats and needs no file; an Apache broker that gets the store
reads the filters from it. So it is written at intervals, and entries of groups that were here under
Apache are kept: a group that is gone is marked dead, and removed after a day.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.subscription import BY_SQL, Subscription
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.filters.bloom_positions import BITS, bloom_positions
from aerobee.service.filters.filter_cache import FilterCache
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save

_log = logging.getLogger(__name__)

INTERVAL_MS = 10_000
DEAD_MS_MAX = 24 * 3_600_000
ROWS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class FilterRow:
    """A group's filter of one topic."""

    topic: str
    group: str
    expression: str
    version: int
    born_ms: int
    dead_ms: int = 0
    """0: it is in use."""


_Key = tuple[str, str]
_Table = Mapping[_Key, FilterRow]


class ConsumerFilterFile:
    def __init__(
        self,
        file: ConfigFile,
        worker: DiskWorker,
        consumers: Consumers,
        filters: FilterCache,
        monotonic_ms: int,
    ) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._file = file
        self._consumers = consumers
        self._filters = filters
        self.saving = PeriodicSave(worker, file.path, INTERVAL_MS, monotonic_ms, self._take)
        self.saved: _Table = {}
        """The content of the file, as far as is known."""
        loaded = file.load()
        if loaded is not None:
            if loaded.fault:
                _log.warning("a backup had to do: %s", loaded.fault)
            try:
                self.saved = _table_from(Members(loaded.value, file.path))
            except ProtocolError as error:
                raise CorruptFile(error.message, path=file.path) from None

    def _take(self, wall_ms: int) -> Save | None:
        self._filters.tell_news()
        table = self._table_now(wall_ms)
        if table == self.saved:
            return None
        return Save(
            lambda: self._file.store(_json(table.values())),
            lambda is_on_disk: self._written(table, is_on_disk),
        )

    def _table_now(self, wall_ms: int) -> _Table:
        table: dict[_Key, FilterRow] = {}
        for key, row in self.saved.items():
            wanted = self._subscription(row.group, row.topic)
            dead_ms = row.dead_ms or wall_ms
            if wanted is None:
                if wall_ms - dead_ms < DEAD_MS_MAX:
                    table[key] = replace(row, dead_ms=dead_ms)
            elif wanted.expression == row.expression:
                table[key] = replace(row, dead_ms=0)
        for entry in self._filters:
            group, topic, expression = entry.key
            wanted = self._subscription(group, topic)
            if entry.filter is None or wanted is None or wanted.expression != expression:
                continue
            before = self.saved.get((topic, group))
            is_same = before is not None and before.expression == expression
            born_ms = before.born_ms if before is not None and is_same else wall_ms
            if len(table) < ROWS_MAX:
                table[topic, group] = FilterRow(topic, group, expression, wanted.version, born_ms)
        return table

    def _subscription(self, group: str, topic: str) -> Subscription | None:
        """The group's subscription from its heartbeats, if it filters by SQL."""
        found = self._consumers.find(group)
        wanted = found.subscriptions.get(topic) if found is not None else None
        return wanted if wanted is not None and wanted.expression_type == BY_SQL else None

    def _written(self, table: _Table, is_on_disk: bool) -> None:
        if is_on_disk:
            self.saved = table


def _json(rows: Iterable[FilterRow]) -> dict[str, Value]:
    topics: dict[str, dict[str, Value]] = {}
    for row in sorted(rows, key=lambda row: (row.topic, row.group)):
        topics.setdefault(row.topic, {})[row.group] = {
            "bloomFilterData": {
                "bitNum": BITS,
                "bitPos": list(bloom_positions(row.group, row.topic)),
            },
            "bornTime": row.born_ms,
            "clientVersion": row.version,
            "consumerGroup": row.group,
            "dead": row.dead_ms != 0,
            "deadTime": row.dead_ms,
            "expression": row.expression,
            "expressionType": BY_SQL,
            "topic": row.topic,
        }
    return {
        "filterDataByTopic": {
            topic: {"groupFilterData": groups, "topic": topic} for topic, groups in topics.items()
        }
    }


def _table_from(members: Members) -> _Table:
    found: dict[_Key, FilterRow] = {}
    for topic, by_group in members.object("filterDataByTopic").objects():
        for group, row in by_group.object("groupFilterData").objects():
            found[topic, group] = FilterRow(
                topic,
                group,
                row.text("expression", ""),
                row.int64("clientVersion", 0),
                row.int64("bornTime", 0),
                row.int64("deadTime", 0),
            )
    return found
