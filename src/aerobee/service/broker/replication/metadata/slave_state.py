"""SlaveState keeps over restarts what a slave must know of its copying: `config/slaveState.json`,
of Aerobee.

    {"versions":{"topics":{…},"groups":{…}},"commits":{"topic@group":{"0":123}}}

The versions are those of the last tables that were taken over: an older table is not. `commits` are
offsets that consumers committed at this slave and that the master does not have yet. The broker may
have been a master meanwhile: after a start a version counts only if the table still has it, and a
commit only if the offset table does.

The file is saved every few seconds if anything changed, and at the end. A damaged one is treated as
missing: any table of the master is taken over then, and commits made here are forgotten.
"""

import logging
from collections.abc import Callable, Mapping

from aerobee.errors import CorruptFile, ProtocolError
from aerobee.model.names import is_system_group
from aerobee.model.topic import DataVersion
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.topic_config import data_version_from, data_version_json
from aerobee.protocol.text.json_members import Members
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.replication.metadata.copied_offsets import OwedCommit
from aerobee.service.broker.state.offset_table import TopicGroup, key_text, parse_key
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.periodic_save import PeriodicSave, Save

_log = logging.getLogger(__name__)

SAVE_MS = 5_000
COMMITS_MAX = 100_000

Find = Callable[[str, str, int], int]
"""(group, topic, queue) → the offset in the table."""


class SlaveState:
    """T1. `_count` is the number of commits."""

    def __init__(
        self,
        file: ConfigFile,
        worker: DiskWorker,
        present: Mapping[str, DataVersion],
        find: Find,
        now: Now,
        *,
        commits_max: int = COMMITS_MAX,
    ) -> None:
        """Reads the file. `present`: the versions of this broker's tables, `find`: its offsets."""
        self._file = file
        self._commits_max = commits_max
        self._versions: dict[str, DataVersion] = {}
        self._commits: dict[TopicGroup, dict[int, int]] = {}
        self._count = 0
        self._is_dirty = False
        self._is_full = False
        self._load(present, find)
        self.saving = PeriodicSave(worker, file.path, SAVE_MS, now.monotonic_ms, self._take)

    # Versions.

    def version(self, what: str) -> DataVersion | None:
        """The version of the master's table that was taken over last; None: none was."""
        return self._versions.get(what)

    def took(self, what: str, version: DataVersion) -> None:
        """A table of the master was taken over."""
        if self._versions.get(what) != version:
            self._versions[what] = version
            self._is_dirty = True

    # Commits.

    @property
    def commits(self) -> Mapping[TopicGroup, Mapping[int, int]]:
        return self._commits

    def note_commit(self, topic: str, group: str, queue_id: int, offset: int) -> None:
        """A consumer committed at this slave."""
        if is_system_group(group):
            return
        offsets = self._commits.get((topic, group))
        if offsets is None or queue_id not in offsets:
            if self._count >= self._commits_max:
                if not self._is_full:
                    _log.warning(
                        "%d queues have commits that the master does not have: further ones are "
                        "not handed to it",
                        self._count,
                    )
                self._is_full = True
                return
            offsets = self._commits.setdefault((topic, group), {})
            self._count += 1
        offsets[queue_id] = offset
        self._is_dirty = True

    def settle(self, commit: OwedCommit) -> None:
        """The master has a commit, or has overruled it; a later one of the same queue stays."""
        key = (commit.topic, commit.group)
        offsets = self._commits.get(key, {})
        if offsets.get(commit.queue_id) == commit.offset:
            del offsets[commit.queue_id]
            self._count -= 1
            self._is_full = False
            self._is_dirty = True
            if not offsets:
                del self._commits[key]

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: a new one of the same name has other messages."""
        for key in [key for key in self._commits if key[0] == topic]:
            self._count -= len(self._commits.pop(key))
            self._is_dirty = True

    # The file.

    def _load(self, present: Mapping[str, DataVersion], find: Find) -> None:
        try:
            loaded = self._file.load()
            if loaded is None:
                return
            members = Members(loaded.value, self._file.path)
            for what, version in members.object("versions").objects():
                if present.get(what) == data_version_from(version):
                    self._versions[what] = present[what]
            for name, offsets in members.object("commits").objects():
                key = parse_key(name)
                for queue_id, offset in offsets.numbers_by_number().items():
                    if key is not None and find(key[1], key[0], queue_id) == offset:
                        self.note_commit(*key, queue_id, offset)
        except (CorruptFile, ProtocolError) as error:
            _log.warning("what this slave copied before is not known: %s", error)
        self._is_dirty = False

    def _take(self, wall_ms: int) -> Save | None:
        if not self._is_dirty:
            return None
        self._is_dirty = False
        commits: dict[str, Value] = {
            key_text(key): {str(queue_id): offset for queue_id, offset in offsets.items()}
            for key, offsets in self._commits.items()
        }
        versions = {what: data_version_json(one) for what, one in self._versions.items()}
        value: dict[str, Value] = {"versions": versions, "commits": commits}
        return Save(lambda: self._file.store(value), self._written)

    def _written(self, is_on_disk: bool) -> None:
        if not is_on_disk:
            self._is_dirty = True
