"""Topics is the table of topics, saved in RocketMQ's `config/topics.json`.

A change takes effect, and its request is answered, once it is on the disk. A change that changes
nothing makes no new version and no write. The fast path of sends has its own view, `entries`: the
dict stays the same object, its entries are replaced. Static topics are not in it.

System topics exist from the start, whatever the file has; if it has one, its number of queues
counts, because there may be messages in them. Only the template of auto-created topics always has
the configured number.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from aerobee.errors import RemoteProtocolError
from aerobee.model.flags import Permission, is_inherited, is_writable
from aerobee.model.names import (
    AUTO_CREATE_TEMPLATE_TOPIC,
    BENCHMARK_TOPIC,
    OFFSET_MOVED_TOPIC,
    SCHEDULE_TOPIC,
    SELF_TEST_TOPIC,
    SYSTEM_TOPIC_PREFIX,
    TIMER_TOPIC,
    TRACE_TOPIC,
    TRANSACTION_HALF_TOPIC,
    TRANSACTION_OP_TOPIC,
    find_topic_fault,
    reply_topic,
    revive_topic,
)
from aerobee.model.topic import MADE_BY, DataVersion, TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.protocol.bodies.topic_config import topic_config_from, topic_config_json
from aerobee.protocol.text.json_text import Value
from aerobee.service.broker.config import BrokerConfig, BrokerIdentity
from aerobee.service.broker.state.queue_mappings import QueueMappings
from aerobee.service.broker.state.topic_entry import TopicEntry
from aerobee.service.broker.state.versioned_table import (
    CopiedTable,
    Form,
    VersionedTable,
    load_table,
)
from aerobee.service.live_config import LiveConfig
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done, Journal, SavedValue, tell_journal

TOPICS_MAX = 100_000
DELAY_QUEUES = 18
"""One for each possible delay level."""

_TEMPLATE = int(Permission.READ | Permission.WRITE | Permission.INHERIT)

Find: TypeAlias = Callable[[str], TopicConfig | None]
Edit: TypeAlias = Callable[[Find], Iterable[TopicConfig]]
"""Called with the lookup of topics when it is the change's turn; returns the topics to make or
change. May refuse with an AerobeeError."""
_Table: TypeAlias = VersionedTable[TopicConfig]
TOPIC_FORM = Form("topicConfigTable", topic_config_from, topic_config_json)


class Topics:
    def __init__(
        self,
        file: ConfigFile,
        mappings: QueueMappings,
        worker: DiskWorker,
        identity: BrokerIdentity,
        config: LiveConfig[BrokerConfig],
        wall_ms: int,
        topics_max: int = TOPICS_MAX,
    ) -> None:
        """Reads the file. CorruptFile: it is damaged, and so is its backup."""
        self.mappings = mappings
        """Of static topics, whose queues are logical ones."""
        mappings.tell_changes(self._note)
        loaded = load_table(file, TOPIC_FORM, wall_ms)
        self.fault = loaded.fault
        """Empty, or why the backup was used: worth a warning."""
        self._config = config
        self._system = tuple(topic.name for topic in system_topics(identity))
        self._topics_max = topics_max
        table = _with_system_topics(loaded.table, identity, config.current, wall_ms)
        self._saved: SavedValue[_Table] = SavedValue(
            worker, lambda table: file.store_text(table.text()), table
        )
        self.entries: dict[bytes, TopicEntry] = {}
        self._fill_entries()
        config.when_changed(self._look_at_permission)
        self._changed: dict[str, None] = {}
        self.journal: Journal | None = None

    @property
    def version(self) -> DataVersion:
        return self._saved.value.version

    def find(self, name: str) -> TopicConfig | None:
        return self._saved.value.find(name)

    def queues_of(self, name: str) -> int:
        """The number of a topic's queues that can be sent to; of a topic that does not exist, the
        number that a first send may make."""
        found = self.find(name) or self.find(AUTO_CREATE_TEMPLATE_TOPIC)
        return 0 if found is None else found.write_queues

    def row_json(self, name: str) -> Mapping[str, Value] | None:
        """A topic as it stands in the file; None: there is none."""
        return self._saved.value.row_json(name)

    def all(self) -> list[TopicConfig]:
        return [row.config for row in self._saved.value.rows.values()]

    def put(self, configs: Sequence[TopicConfig], now: Now, done: Done) -> None:
        """Create topics, or replace their configs."""
        self.edit(lambda find: configs, now, done)

    def put_anew(self, config: TopicConfig, now: Now, done: Done) -> None:
        """Create a topic or replace its config, but for its attributes, and make a new version even
        if nothing changes."""

        def changed(table: _Table) -> _Table:
            known = table.find(config.name)
            wanted = config if known is None else replace(config, attributes=known.attributes)
            after = table.changed({config.name: wanted}, now.wall_ms)
            return after if after is not table else table.renewed(config.name, now.wall_ms)

        self._change(changed, done)

    def add(self, configs: Sequence[TopicConfig], now: Now, done: Done) -> None:
        """Create those topics that do not exist when it is this change's turn; keep the others."""
        self.edit(
            lambda find: [config for config in configs if find(config.name) is None], now, done
        )

    def edit(self, edit: Edit, now: Now, done: Done) -> None:
        """Create or change topics, based on their configs when it is this change's turn."""
        self._change(
            lambda table: self._within_limits(
                table,
                table.changed({config.name: config for config in edit(table.find)}, now.wall_ms),
            ),
            done,
        )

    def _within_limits(self, before: _Table, after: _Table) -> _Table:
        """The table after a change that clients asked for. RemoteProtocolError: a user would have
        made too many topics."""
        most = self._config.current.user_topics_max
        if most and after is not before:
            changed = (after.find(name) for name in after.news if before.find(name) is None)
            made = [config for config in changed if config is not None]
            excess = _find_excess(made, (row.config for row in after.rows.values()), most)
            if excess is not None:
                raise RemoteProtocolError(excess)
        return after

    def remove(self, names: Sequence[str], now: Now, done: Done) -> None:
        self._change(lambda table: table.changed(dict.fromkeys(names), now.wall_ms), done)

    def begin_term(
        self, configs: Sequence[TopicConfig], now: Now, done: Done, term: int = 0
    ) -> None:
        """Create these topics, and begin the next term of the version, or this one if it is later:
        this broker is master."""
        made = {config.name: config for config in configs}

        def begun(table: _Table) -> _Table:
            after = table.changed(made, now.wall_ms)
            return after.in_next_term(now.wall_ms, term, tuple(made))

        self._change(begun, done, is_told=bool(made))

    def take_over(self, copied: CopiedTable[TopicConfig], done: Done) -> None:
        """Have the topics of a master, and their version, from now on; others are removed, but for
        system topics."""
        self._change(lambda table: table.taken_over(copied, self._system), done)

    def _change(
        self, change: Callable[[_Table], _Table], done: Done, *, is_told: bool = True
    ) -> None:
        """`is_told`: the journal is."""
        names: list[str] = []

        def changed(table: _Table) -> _Table:
            after = change(table)
            if after is not table:
                if len(table.rows) < len(after.rows) > self._topics_max:
                    raise RemoteProtocolError(f"more than {self._topics_max} topics: delete some")
                names.extend(after.news)
            return after

        def saved(error: BaseException | None) -> None:
            if error is None:
                self._note(names)
            tell_journal(self.journal if is_told else None, names, error, done)

        self._saved.change(changed, saved)

    def takes_sends(self, topic: TopicConfig) -> bool:
        """Whether topic and broker both have the permission to write. Apache's broker goes by its
        own for ordered topics alone: producers that know the old route go on sending."""
        return is_writable(topic.permission & self._config.current.permission)

    def _look_at_permission(self, before: BrokerConfig, now: BrokerConfig) -> None:
        if before.permission != now.permission:
            self._fill_entries()

    def _fill_entries(self) -> None:
        for config in self.all():
            if not self.mappings.has(config.name):
                self.entries[config.name.encode()] = self._entry(config)

    def _entry(self, config: TopicConfig) -> TopicEntry:
        permission = config.permission & self._config.current.permission
        return TopicEntry(replace(config, permission=permission))

    def _note(self, names: Iterable[str]) -> None:
        """Update `entries` for changes of topics or mappings that are on the disk now."""
        for name in names:
            config = self.find(name)
            if config is None or self.mappings.has(name):
                self.entries.pop(name.encode(), None)
            else:
                self.entries[name.encode()] = self._entry(config)
            self._changed[name] = None

    def take_changed(self) -> list[str]:
        """The names of topics that were made, changed or removed since the last call."""
        names = list(self._changed)
        self._changed.clear()
        return names

    def from_template(
        self, name: str, template_name: str, queues_wanted: int, sys_flag: int = 0
    ) -> TopicConfig | None:
        """The config of a topic that a first send creates; None: it may not."""
        template = self.find(template_name)
        if template is None or not is_inherited(template.permission):
            return None
        if (
            template_name == AUTO_CREATE_TEMPLATE_TOPIC and not self._config.current.creates_topics
        ) or find_topic_fault(name) is not None:
            return None
        queues = max(0, min(queues_wanted, template.write_queues))
        return TopicConfig(
            name,
            read_queues=queues,
            write_queues=queues,
            permission=template.permission & ~int(Permission.INHERIT),
            sys_flag=sys_flag,
            filter_type=template.filter_type,
        )


def open_topics(
    config_file: Callable[[str], ConfigFile],
    worker: DiskWorker,
    identity: BrokerIdentity,
    config: LiveConfig[BrokerConfig],
    wall_ms: int,
) -> Topics:
    """The topics and their mappings, from their files. CorruptFile."""
    mappings = QueueMappings(config_file("topicQueueMapping.json"), worker, wall_ms)
    return Topics(config_file("topics.json"), mappings, worker, identity, config, wall_ms)


def system_topics(identity: BrokerIdentity) -> list[TopicConfig]:
    """The topics that every broker has from its start."""
    cluster, broker = identity.cluster, identity.name
    return [
        _topic(SELF_TEST_TOPIC, 1),
        _topic(BENCHMARK_TOPIC, 1024),
        _topic(cluster, 16, _TEMPLATE),
        _topic(broker, 1, _TEMPLATE),
        _topic(OFFSET_MOVED_TOPIC, 1),
        _topic(SCHEDULE_TOPIC, DELAY_QUEUES),
        _topic(reply_topic(cluster), 1),
        _topic(revive_topic(cluster), 8),
        _topic(member_topic(broker), 1, int(Permission.INHERIT)),
        _topic(TRANSACTION_HALF_TOPIC, 1),
        _topic(TRANSACTION_OP_TOPIC, 1),
        _topic(TIMER_TOPIC, 1),
    ]


def member_topic(broker: str) -> str:
    """The topic by which Apache's brokers of one name announce themselves; it only has to exist
    here."""
    return f"{SYSTEM_TOPIC_PREFIX}SYNC_BROKER_MEMBER_{broker}"


def _topic(name: str, queues: int, permission: int | None = None) -> TopicConfig:
    made = TopicConfig(name, read_queues=queues, write_queues=queues)
    return made if permission is None else replace(made, permission=permission)


def _with_system_topics(
    table: _Table, identity: BrokerIdentity, config: BrokerConfig, wall_ms: int
) -> _Table:
    template = _topic(AUTO_CREATE_TEMPLATE_TOPIC, config.default_queues, _TEMPLATE)
    wanted = system_topics(identity)
    if config.has_trace_topic:
        wanted.append(_topic(TRACE_TOPIC, 1))
    missing: dict[str, TopicConfig | None] = {
        topic.name: topic for topic in wanted if table.find(topic.name) is None
    }
    missing[template.name] = template if config.creates_topics else None
    return table.changed(missing, wall_ms)


def _find_excess(
    new: Iterable[TopicConfig], topics: Iterable[TopicConfig], most: int
) -> str | None:
    """The reason why new topics are too many for one of their makers, each of whom may have `most`;
    None: they are not. `topics` are all that there would be."""
    makers = {config.attributes.get(MADE_BY, "") for config in new} - {""}
    if not makers:
        return None
    counts = dict.fromkeys(makers, 0)
    for config in topics:
        maker = config.attributes.get(MADE_BY, "")
        if maker in counts:
            counts[maker] += 1
    for maker, count in sorted(counts.items()):
        if count > most:
            return (
                f"the user {maker[:255]} may have made {most} topics, and has: delete one, or have "
                "userTopicsMax raised"
            )
    return None
