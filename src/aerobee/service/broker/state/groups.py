"""Groups is the table of consumer groups, saved in RocketMQ's `config/subscriptionGroup.json`.

    {"dataVersion":{…},"forbiddenTable":{"G":{"T":4}},"subscriptionGroupTable":{"G":{…}}}

An administrator's change takes effect once it is on the disk. A group that is made by its first
consumer exists at once and is saved meanwhile: a crash in between loses only defaults, and the
consumer makes the group again.

Topics that a group may not read are in the forbidden table, one bit for each permission.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias, cast

from aerobee.errors import CorruptFile, ProtocolError, RemoteProtocolError
from aerobee.model.flags import Permission, is_readable
from aerobee.model.group import GroupConfig
from aerobee.model.names import find_group_fault, is_system_group
from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.group_config import group_config_from, group_config_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Parsed, Value
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.state.versioned_table import (
    CopiedTable,
    Form,
    VersionedTable,
    load_table,
)
from aerobee.service.live_config import LiveConfig
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

_log = logging.getLogger(__name__)

GROUPS_MAX = 50_000
FORBIDDEN_MAX = 50_000
"""Limit of (group, topic) pairs."""

SYSTEM_GROUPS_AT_START = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
    "CID_RMQ_SYS_TRANS",
)

Find: TypeAlias = Callable[[str], GroupConfig | None]
Edit: TypeAlias = Callable[[Find], Iterable[GroupConfig]]
"""Called with the lookup of groups when it is the change's turn; returns the groups to make or
change. May refuse with an AerobeeError."""
Forbidden: TypeAlias = Mapping[str, Mapping[str, int]]
_Table: TypeAlias = VersionedTable[GroupConfig]
GROUP_FORM = Form("subscriptionGroupTable", group_config_from, group_config_json)
_FORBIDDEN = "forbiddenTable"


class Groups:
    def __init__(
        self,
        file: ConfigFile,
        worker: DiskWorker,
        config: LiveConfig[BrokerConfig],
        wall_ms: int,
        groups_max: int = GROUPS_MAX,
    ) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        loaded = load_table(file, GROUP_FORM, wall_ms)
        self.fault = loaded.fault
        """Empty, or why the backup was used: worth a warning."""
        self._config = config
        self._groups_max = groups_max
        table = _with_forbidden(loaded.table, file.path)
        self._saved: SavedValue[_Table] = SavedValue(
            worker,
            lambda table: file.store_text(table.text()),
            table.changed(
                {
                    name: GroupConfig(name)
                    for name in SYSTEM_GROUPS_AT_START
                    if table.find(name) is None
                },
                wall_ms,
            ),
        )
        # Groups made by their consumers that are not saved yet.
        self._unsaved: dict[str, GroupConfig] = {}
        # Groups removed since the start and not made again, oldest first.
        self._removed: dict[str, None] = {}
        self.journal: Journal | None = None

    @property
    def version(self) -> DataVersion:
        return self._saved.value.version

    def find(self, name: str) -> GroupConfig | None:
        return self._saved.value.find(name) or self._unsaved.get(name)

    def row_json(self, name: str) -> Mapping[str, Value] | None:
        """A group as it stands in the file; None: there is none."""
        return self._saved.value.row_json(name)

    def all(self) -> list[GroupConfig]:
        saved = self._saved.value
        return [row.config for row in saved.rows.values()] + [
            config for name, config in self._unsaved.items() if name not in saved.rows
        ]

    def was_removed(self, name: str) -> bool:
        """Whether an administrator removed the group since the start of this process."""
        return name in self._removed

    def ensure(self, name: str, now: Now) -> GroupConfig | None:
        """The group, made now if it does not exist; None: it may not be made, or its name is
        illegal."""
        known = self.find(name)
        if known is not None:
            return known
        if not (self._config.current.creates_groups or is_system_group(name)):
            return None
        if find_group_fault(name) is not None:
            return None
        if len(self._saved.value.rows) + len(self._unsaved) >= self._groups_max:
            return None
        made = self._unsaved[name] = GroupConfig(name)
        self._removed.pop(name, None)
        self._change(
            lambda table: table if name in table.rows else table.changed({name: made}, now.wall_ms),
            [name],
            _report,
        )
        return made

    def put(self, configs: Sequence[GroupConfig], now: Now, done: Done) -> None:
        """Create groups, or replace their configs."""
        self.edit(lambda find: configs, now, done)

    def edit(self, edit: Edit, now: Now, done: Done) -> None:
        """Create or change groups, based on their configs when it is this change's turn."""
        names: list[str] = []

        def change(table: _Table) -> _Table:
            configs = {config.name: config for config in edit(table.find)}
            names.extend(configs)
            return table.changed(configs, now.wall_ms)

        def made(error: BaseException | None) -> None:
            if error is None:
                for name in names:
                    self._removed.pop(name, None)
            done(error)

        self._change(change, names, made)

    def remove(self, names: Sequence[str], now: Now, done: Done) -> None:
        """Remove groups, and their entries of the forbidden table."""

        def change(table: _Table) -> _Table:
            left = table.changed(dict.fromkeys(names), now.wall_ms)
            forbidden = _forbidden_of(left)
            if forbidden.keys().isdisjoint(names):
                return left
            kept = {group: topics for group, topics in forbidden.items() if group not in names}
            return left.with_rest(_FORBIDDEN, kept, now.wall_ms)

        def removed(error: BaseException | None) -> None:
            if error is None:
                self._note_removed(names)
            done(error)

        self._change(change, list(names), removed)

    def begin_term(self, now: Now, done: Done, term: int = 0) -> None:
        """Begin the next term of the version, or this one if it is later: this broker is master."""
        self._saved.change(lambda table: table.in_next_term(now.wall_ms, term), done)

    def take_over(self, copied: CopiedTable[GroupConfig], forbidden: Forbidden, done: Done) -> None:
        """Have the groups of a master, their version and the forbidden table from now on; others
        are removed, but for system groups."""
        removed = [config.name for config in self.all() if config.name not in copied.rows]

        def taken(error: BaseException | None) -> None:
            if error is None:
                self._note_removed(name for name in removed if self.find(name) is None)
                for name in copied.rows:
                    self._removed.pop(name, None)
            done(error)

        self._change(
            lambda table: table.taken_over(
                copied, SYSTEM_GROUPS_AT_START, {_FORBIDDEN: dict(forbidden)}
            ),
            list(copied.rows),
            taken,
        )

    def _note_removed(self, names: Iterable[str]) -> None:
        self._removed |= dict.fromkeys(names)
        while len(self._removed) > self._groups_max:
            del self._removed[next(iter(self._removed))]

    def _change(self, change: Callable[[_Table], _Table], names: list[str], done: Done) -> None:
        def changed(table: _Table) -> _Table:
            after = change(table)
            if len(table.rows) < len(after.rows) > self._groups_max:
                raise RemoteProtocolError(f"more than {self._groups_max} groups: delete some")
            return after

        def saved(error: BaseException | None) -> None:
            if error is None:
                for name in names:
                    self._unsaved.pop(name, None)
            tell_journal(self.journal, names, error, done)

        self._saved.change(changed, saved)

    # The forbidden table.

    @property
    def forbidden(self) -> Forbidden:
        return _forbidden_of(self._saved.value)

    def may_read(self, group: str, topic: str) -> bool:
        bits = self.forbidden.get(group, {}).get(topic, 0)
        return not is_readable(bits)  # a bit that is set forbids

    def set_readable(
        self, group: str, topic: str, *, is_readable: bool, now: Now, done: Done
    ) -> None:
        """Allow or forbid a group to read a topic."""

        def change(table: _Table) -> _Table:
            forbidden = _forbidden_of(table)
            bits = forbidden.get(group, {})
            before = bits.get(topic, 0)
            after = before & ~Permission.READ if is_readable else before | Permission.READ
            if after == before:
                return table
            changed = {name: value for name, value in bits.items() if name != topic}
            if after:
                changed[topic] = int(after)
            others = {name: value for name, value in forbidden.items() if name != group}
            whole = {**others, group: changed} if changed else others
            if sum(map(len, whole.values())) > FORBIDDEN_MAX:
                raise RemoteProtocolError(f"more than {FORBIDDEN_MAX} topics are forbidden")
            return table.with_rest(_FORBIDDEN, whole, now.wall_ms)

        self._saved.change(change, lambda error: tell_journal(self.journal, [group], error, done))


def _with_forbidden(table: _Table, path: str) -> _Table:
    """The table with a valid forbidden table: 4.x writes none."""
    try:
        forbidden = forbidden_from(Members(cast("Parsed", table.rest), path))
    except ProtocolError as error:
        raise CorruptFile(error.message, path=path) from None
    return VersionedTable(
        GROUP_FORM, table.version, table.rows, {**table.rest, _FORBIDDEN: forbidden}
    )


def forbidden_from(members: Members) -> Forbidden:
    """The forbidden table in a file, or in an answer of a master. ProtocolError: it is not
    valid."""
    return {
        group: {topic: topics.int32(topic, 0) for topic in topics.names()}
        for group, topics in members.object(_FORBIDDEN).objects()
    }


def _forbidden_of(table: _Table) -> Forbidden:
    return cast("Forbidden", table.rest[_FORBIDDEN])


def _report(error: BaseException | None) -> None:
    if error is not None:
        _log.warning("a group that its consumer made is only in memory: %s", error)
