"""QueueMappings is the table of this broker's static topics, saved in RocketMQ's
`config/topicQueueMapping.json`.

A change takes effect once it is on the disk. An older mapping never replaces a newer one: by its
epoch, and by what its chains say (`model.mapping_rules`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.model.mapping_rules import find_change_fault, with_kept_queues
from aerobee.model.queue_mapping import MappingInfo, TopicMapping
from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.queue_mapping import mapping_from, mapping_json
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.state.versioned_table import (
    CopiedTable,
    Form,
    VersionedTable,
    load_table,
)
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

_Table: TypeAlias = VersionedTable[TopicMapping]
MAPPING_FORM = Form("topicQueueMappingInfoMap", mapping_from, mapping_json)
Changed: TypeAlias = Callable[[Sequence[str]], None]
"""Called with the topics whose mappings have changed."""


class QueueMappings:
    def __init__(self, file: ConfigFile, worker: DiskWorker, wall_ms: int) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        loaded = load_table(file, MAPPING_FORM, wall_ms)
        self.fault = loaded.fault
        """Empty, or why the backup was used: worth a warning."""
        self._saved: SavedValue[_Table] = SavedValue(
            worker, lambda table: file.store_text(table.text()), loaded.table
        )
        self._changed: Changed = lambda topics: None
        self.journal: Journal | None = None

    def tell_changes(self, changed: Changed) -> None:
        """Call back for changes that are on the disk, before their requests are answered."""
        self._changed = changed

    @property
    def version(self) -> DataVersion:
        return self._saved.value.version

    def find(self, topic: str) -> TopicMapping | None:
        return self._saved.value.find(topic)

    def has(self, topic: str) -> bool:
        return topic in self._saved.value.rows

    def row_json(self, topic: str) -> Mapping[str, Value] | None:
        """A mapping as it stands in the file; None: there is none."""
        return self._saved.value.row_json(topic)

    def all(self) -> list[TopicMapping]:
        return [row.config for row in self._saved.value.rows.values()]

    def infos(self) -> list[MappingInfo]:
        """What name servers are told."""
        return [mapping.info() for mapping in self.all()]

    def put(self, mapping: TopicMapping, now: Now, done: Done, *, is_forced: bool = False) -> None:
        """Take a mapping. RemoteProtocolError, given to `done`: it may not follow the one that is
        there; a forced one may."""

        def changed(table: _Table) -> _Table:
            old = table.find(mapping.topic)
            fault = None
            if old is not None and not is_forced:
                fault = find_change_fault(old, mapping)
            if fault is not None:
                raise RemoteProtocolError(fault)
            return table.changed({mapping.topic: with_kept_queues(old, mapping)}, now.wall_ms)

        self._change(changed, done)

    def drop_oldest(self, topic: str, number: int, gen: int, now: Now) -> None:
        """Take the oldest item off the chain of a queue that this broker leads, if it is the one of
        this generation and not the only one."""

        def changed(table: _Table) -> _Table:
            mapping = table.find(topic)
            chain = mapping.led_chain(number) if mapping is not None else None
            if mapping is None or chain is None or len(chain) < 2 or chain[0].gen != gen:
                return table
            kept = replace(mapping, hosted={**mapping.hosted, number: chain[1:]})
            return table.changed({topic: kept}, now.wall_ms)

        # One that could not be saved is found again in the next round.
        self._change(changed, lambda error: None)

    def remove(self, topics: Sequence[str], now: Now, done: Done) -> None:
        self._change(lambda table: table.changed(dict.fromkeys(topics), now.wall_ms), done)

    def take_over(self, copied: CopiedTable[TopicMapping], done: Done) -> None:
        """Have the mappings of a master, and their version, from now on."""
        self._change(lambda table: table.taken_over(copied, ()), done)

    def _change(self, change: Callable[[_Table], _Table], done: Done) -> None:
        names: list[str] = []

        def changed(table: _Table) -> _Table:
            after = change(table)
            if after is not table:
                names.extend(after.news)
            return after

        def saved(error: BaseException | None) -> None:
            if error is None and names:
                self._changed(names)
            tell_journal(self.journal, names, error, done)

        self._saved.change(changed, saved)
