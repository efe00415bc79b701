"""RequestModes has the mode, POP or PULL, of each group and topic:
`config/messageRequestMode.json`.

    {"messageRequestModeMap":{"topic":{"group":{"consumerGroup":"group","mode":"POP",
                                                "popShareQueueNum":0,"topic":"topic"}}}}

A change takes effect, and its request is answered, once it is on the disk. Without an entry a group
pulls.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.assignment import RequestMode, request_mode_from, request_mode_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value, write_compact
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

_log = logging.getLogger(__name__)

MODES_MAX = 100_000

_Table: TypeAlias = Mapping[tuple[str, str], RequestMode]


class RequestModes:
    def __init__(self, file: ConfigFile, worker: DiskWorker) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._saved: SavedValue[_Table] = SavedValue(
            worker, lambda table: file.store(_json(table)), _loaded(file)
        )
        self.journal: Journal | None = None

    def find(self, topic: str, group: str) -> RequestMode | None:
        return self._saved.value.get((topic, group))

    def put(self, mode: RequestMode, done: Done) -> None:
        def change(table: _Table) -> _Table:
            if table.get((mode.topic, mode.group)) == mode:
                return table
            changed = {**table, (mode.topic, mode.group): mode}
            if len(changed) > MODES_MAX:
                raise RemoteProtocolError(f"more than {MODES_MAX} groups and topics have a mode")
            return changed

        self._saved.change(
            change, lambda error: tell_journal(self.journal, [mode.topic], error, done)
        )

    def take_over(self, modes: Iterable[RequestMode], done: Done) -> None:
        """Have the modes of a master from now on."""
        copied = {(mode.topic, mode.group): mode for mode in modes}
        self._saved.change(lambda table: table if table == copied else copied, done)

    def names(self) -> list[str]:
        """Topics for which a group has a mode."""
        return list(_by_topic(self._saved.value))

    def row_json(self, topic: str) -> dict[str, Value] | None:
        """The modes of a topic's groups as they stand in the file; None: there are none."""
        return _by_topic(self._saved.value).get(topic)

    def body(self) -> bytes:
        """The content of the file, for GET_ALL_MESSAGE_REQUEST_MODE."""
        return write_compact(_json(self._saved.value))


def _loaded(file: ConfigFile) -> _Table:
    loaded = file.load()
    if loaded is None:
        return {}
    if loaded.fault:
        _log.warning("a backup had to do: %s", loaded.fault)
    try:
        members = Members(loaded.value, file.path)
        return {
            (topic, group): request_mode_from(one)
            for topic, groups in members.object("messageRequestModeMap").objects()
            for group, one in groups.objects()
        }
    except ProtocolError as error:
        raise CorruptFile(error.message, path=file.path) from None


def _json(table: _Table) -> dict[str, Value]:
    return {"messageRequestModeMap": _by_topic(table)}


def _by_topic(table: _Table) -> dict[str, dict[str, Value]]:
    topics: dict[str, dict[str, Value]] = {}
    for (topic, group), mode in table.items():
        topics.setdefault(topic, {})[group] = request_mode_json(mode)
    return topics
