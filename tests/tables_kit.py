"""A broker's topics and groups on a pretended world, and requests of administrators.

kit = TablesKit()                                  a broker that has just been installed
kit.ask(17, {"topic": "T", …})                     the answer, the disk work of it done
after = TablesKit(kit.disk.power_cut())            another process on what is left
"""

from collections.abc import Callable, Mapping, Sequence

from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.admin.group.group_handlers import GroupHandlers
from aerobee.service.broker.admin.topic.topic_handlers import Announce, TopicHandlers
from aerobee.service.broker.admin.topic.topic_query_handlers import TopicQueryHandlers
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.broker.request_table import request_table
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.groups import GROUPS_MAX, Groups
from aerobee.service.broker.state.queue_mappings import QueueMappings
from aerobee.service.broker.state.topics import TOPICS_MAX, Topics
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.service.request import Request, answer_with
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.metadata.config_file import ConfigFile
from aerobee.storage.metadata.saved_value import Done

TOPICS_PATH = "config/topics.json"
MAPPINGS_PATH = "config/topicQueueMapping.json"
GROUPS_PATH = "config/subscriptionGroup.json"
IDENTITY = BrokerIdentity()


class TablesKit:
    def __init__(
        self,
        disk: SimDisk | None = None,
        config: BrokerConfig | None = None,
        *,
        topics_max: int = TOPICS_MAX,
        groups_max: int = GROUPS_MAX,
    ) -> None:
        self.disk = disk or SimDisk()
        self.worker = SimDiskWorker()
        self.clock = SimClock()
        self.told: list[BaseException | None] = []
        self.config = LiveConfig(
            config or BrokerConfig(),
            SETTINGS,
            ChangesFile(self.disk, "config/broker.properties", {}),
            self.worker,
            {},
        )
        wall_ms = self.clock.now().wall_ms
        self.mappings = QueueMappings(ConfigFile(self.disk, MAPPINGS_PATH), self.worker, wall_ms)
        self.topics = Topics(
            ConfigFile(self.disk, TOPICS_PATH),
            self.mappings,
            self.worker,
            IDENTITY,
            self.config,
            wall_ms,
            topics_max,
        )
        self.groups = Groups(
            ConfigFile(self.disk, GROUPS_PATH), self.worker, self.config, wall_ms, groups_max
        )

    def finish(self) -> None:
        """All disk work is done and everybody was told."""
        while self.worker.run_all() + self.worker.collect():
            pass

    def change(self, **values: str) -> None:
        """Change settings while the broker runs."""
        self.config.change(values, self.told.append)
        self.finish()


def at_once(told: Callable[[], None]) -> None:
    """Name servers that hear of a topic as soon as it is made."""
    told()


class AdminKit(TablesKit):
    """With the requests that are served from it."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        config: BrokerConfig | None = None,
        announce: Announce = at_once,
    ) -> None:
        super().__init__(disk, config)
        self.offsets = ConsumerOffsets()
        self.deleted: list[str] = []
        # The outcome of every deletion.
        self.delete_error: BaseException | None = None
        self.cleaned: list[TopicConfig] = []
        topics = TopicHandlers(
            self.topics,
            self.offsets,
            IDENTITY,
            self.delete_messages,
            self.cleaned.append,
            announce,
        )
        queries = TopicQueryHandlers(self.topics, IDENTITY)
        groups = GroupHandlers(self.groups, self.offsets)
        self._table = request_table([*topics.rows(), *queries.rows(), *groups.rows()])

    def delete_messages(self, topics: Sequence[str], done: Done) -> None:
        self.deleted += topics
        done(self.delete_error)

    def send(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Effects:
        """Where the answer comes to; the disk has done nothing yet."""
        command = RemotingCommand(code, opaque=7, ext_fields=dict(fields or {}), body=body)
        outbox: Effects = []
        request = Request(ChannelId(1), command, self.clock.now(), outbox)
        answer_with(self._table[code].serve, request)
        return outbox

    def ask(
        self, code: int, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> RemotingCommand:
        """The one answer to a request, everything done that it asks for."""
        outbox = self.send(code, fields, body)
        self.finish()
        (reply,) = outbox
        assert isinstance(reply, Reply)
        return reply.command
