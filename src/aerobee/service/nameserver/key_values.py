"""KeyValues has key-values in namespaces, saved on the disk: order configuration, and tools'
entries.

`kvConfig.json`, as RocketMQ writes it, replaced whole at every change:

    {"configTable":{"ORDER_TOPIC_CONFIG":{"Orders":"broker-a:4;broker-b:4"}}}

A value takes effect, and its request is answered, once it is on the disk. A namespace whose last
key was deleted stays, empty, as in Apache's.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.text.json_members import Members
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, SavedValue

ORDER_NAMESPACE = "ORDER_TOPIC_CONFIG"

_Table: TypeAlias = Mapping[str, Mapping[str, str]]


class KeyValueLimits(NamedTuple):
    """Limits: the whole file is written at every change, and sent to every slave and tool that
    asks."""

    entries_max: int = 10_000
    chars_max: int = 4 << 20


_LIMITS = KeyValueLimits()


class KeyValues:
    def __init__(
        self, file: ConfigFile, worker: DiskWorker, limits: KeyValueLimits = _LIMITS
    ) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self._limits = limits
        loaded = file.load()
        self.fault = loaded.fault if loaded is not None else ""
        """Empty, or why the backup was used: worth a warning."""
        table: _Table = {}
        if loaded is not None:
            try:
                members = Members(loaded.value, file.path)
                table = {
                    name: values.texts() for name, values in members.object("configTable").objects()
                }
            except ProtocolError as error:
                raise CorruptFile(error.message, path=file.path) from None
        self._saved: SavedValue[_Table] = SavedValue(
            worker, lambda table: file.store({"configTable": table}), table
        )

    def find(self, namespace: str, key: str) -> str | None:
        return self._saved.value.get(namespace, {}).get(key)

    def find_namespace(self, namespace: str) -> Mapping[str, str] | None:
        return self._saved.value.get(namespace)

    def put(self, namespace: str, key: str, value: str, done: Done) -> None:
        def change(table: _Table) -> _Table:
            values = table.get(namespace, {})
            if values.get(key) == value:
                return table
            changed = {**table, namespace: {**values, key: value}}
            self._check_size(changed)
            return changed

        self._saved.change(change, done)

    def delete(self, namespace: str, key: str, done: Done) -> None:
        def change(table: _Table) -> _Table:
            values = table.get(namespace, {})
            if key not in values:
                return table
            return {**table, namespace: {name: values[name] for name in values if name != key}}

        self._saved.change(change, done)

    def _check_size(self, table: _Table) -> None:
        entries = sum(1 + len(values) for values in table.values())
        chars = sum(
            len(name) + sum(len(key) + len(value) for key, value in values.items())
            for name, values in table.items()
        )
        if entries > self._limits.entries_max:
            raise RemoteProtocolError(f"more than {self._limits.entries_max} key-values")
        if chars > self._limits.chars_max:
            raise RemoteProtocolError(
                f"more than {self._limits.chars_max} characters of key-values"
            )
