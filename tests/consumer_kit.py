"""A broker's sessions and offsets on a pretended world, and what clients and tools ask of them.

kit = ConsumerKit()                          a store with the topic Orders of two queues
kit.beat("a", group="g")                     a heartbeat of client a, on a connection of its own
kit.ask(38, {"consumerGroup": "g"})          the answer to a request
kit.heard("a")                               what the broker wrote to client a by itself
"""

from collections.abc import Iterable, Mapping

from aerobee.model.message import StoredMessage
from aerobee.model.subscription import MessageModel, Subscription
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Peer, Reply
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.command_header import ONEWAY_FLAG
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.admin.broker.query_handlers import QueryHandlers
from aerobee.service.broker.admin.group.client_relay import ClientRelay
from aerobee.service.broker.admin.group.client_status_handlers import ClientStatusHandlers
from aerobee.service.broker.admin.group.consume_directly_handlers import ConsumeDirectlyHandlers
from aerobee.service.broker.admin.group.group_status_handlers import GroupStatusHandlers
from aerobee.service.broker.admin.group.group_topic_handlers import GroupTopicHandlers
from aerobee.service.broker.admin.group.offset_reset_handlers import OffsetResetHandlers
from aerobee.service.broker.clients.client_calls import ClientCalls
from aerobee.service.broker.clients.consumers import Consumers
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.clients.queue_locks import QueueLocks
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.queue_facts import QueueFacts
from aerobee.service.broker.membership.filter_check_handlers import FilterCheckHandlers
from aerobee.service.broker.membership.heartbeat_handlers import HeartbeatHandlers
from aerobee.service.broker.membership.member_lifecycle import MemberLifecycle
from aerobee.service.broker.membership.member_list_handlers import MemberListHandlers
from aerobee.service.broker.membership.offset_handlers import OffsetHandlers
from aerobee.service.broker.membership.queue_lock_handlers import QueueLockHandlers
from aerobee.service.broker.request_table import request_table
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.state.subscription_filter import SubscriptionFilters
from aerobee.service.broker.statistics.statistics import Statistics
from aerobee.service.request import Request, answer_with
from tests.store_kit import StoreKit, draft, properties
from tests.tables_kit import IDENTITY, TablesKit

TOOL = ChannelId(99)
ORDERS = make_subscription("Orders", "*", 1)


class ConsumerKit(TablesKit):
    """Everything that is asked about consumers, but for pulls."""

    def __init__(
        self,
        config: BrokerConfig | None = None,
        *,
        young_bytes: int = 1 << 30,
        offsets_max: int = 1000,
    ) -> None:
        super().__init__(config=config)
        self.kit = StoreKit(clock=self.clock)
        self.store = self.kit.store
        self.outbox: Effects = []
        self.peers: dict[ChannelId, Peer] = {}
        self.consumers, self.producers = Consumers(), Producers()
        self.locks, self.offsets = QueueLocks(), ConsumerOffsets(offsets_max)
        self.queues = QueueFacts(self.store, young_bytes)
        self.calls = ClientCalls(self.outbox)
        self.statistics = Statistics([], lambda topic: False, self.clock.now())
        self.membership = MemberLifecycle(
            self.consumers, self.producers, self.locks, self.groups, self.config, self.outbox
        )
        self.choices = SubscriptionFilters(self.consumers, lambda: self.config.current.allows_sql)
        self.filters = self.choices.cache
        relay = ClientRelay(self.consumers, self.calls)
        facts = (self.offsets, self.queues)
        handlers = (
            HeartbeatHandlers(self.membership, self.groups, self.topics, self.peers),
            FilterCheckHandlers(self.choices),
            MemberListHandlers(self.consumers, self.producers),
            OffsetHandlers(*facts, self.topics, self.groups),
            QueueLockHandlers(self.locks),
            QueryHandlers(self.store),
            GroupStatusHandlers(
                IDENTITY, *facts, self.topics, self.groups, self.consumers, self.statistics
            ),
            GroupTopicHandlers(IDENTITY, *facts, self.groups, self.consumers),
            OffsetResetHandlers(IDENTITY, *facts, self.topics, self.groups),
            ClientStatusHandlers(self.consumers, self.calls, relay),
            ConsumeDirectlyHandlers(IDENTITY, self.store, self.topics, self.groups, relay),
        )
        self.table = request_table(row for one in handlers for row in one.rows())
        self.make_topic(TopicConfig("Orders", read_queues=2, write_queues=2))

    # The world.

    def make_topic(self, topic: TopicConfig) -> None:
        self.topics.put([topic], self.clock.now(), self.told.append)
        self.finish()

    def store_messages(self, count: int, topic: str = "Orders", queue_id: int = 0) -> list[int]:
        """Messages 1 ms apart, each with a key; their log offsets."""
        places = []
        for number in range(count):
            self.clock.advance(1)
            text = properties(KEYS=f"key{number}", UNIQ_KEY=f"id{number}")
            body = str(number).encode()
            places.append(self.kit.append(draft(topic.encode(), queue_id, body, text)))
        self.store.dispatch()
        return places

    def pass_time(self, ms: int) -> None:
        now = self.clock.advance(ms)
        self.membership.on_tick(now)
        self.calls.take_late(now)

    def close(self, client: str) -> None:
        """The connection of a client closes."""
        self.membership.on_closed(channel_of(client))
        self.calls.drop_channel(channel_of(client))

    # Requests.

    def send(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        channel: ChannelId = TOOL,
        flag: int = 0,
        version: int = 513,
        language: str = "JAVA",
    ) -> None:
        command = RemotingCommand(
            code,
            opaque=7,
            flag=flag,
            version=version,
            language=language,
            ext_fields=dict(fields or {}),
            body=body,
        )
        request = Request(channel, command, self.clock.now(), self.outbox)
        answer_with(self.table[code].serve, request)
        self.finish()

    def ask(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        channel: ChannelId = TOOL,
    ) -> RemotingCommand:
        """The one answer to a request; what else was written stays to be looked at."""
        self.send(code, fields, body, channel=channel)
        return self.answer(channel)

    def answer(self, channel: ChannelId = TOOL) -> RemotingCommand:
        """The one answer that was given on a connection."""
        (found,) = [
            effect
            for effect in self.outbox
            if isinstance(effect, Reply)
            and effect.channel == channel
            and effect.command.is_response
        ]
        self.outbox.remove(found)
        assert found.command.opaque == 7
        found.command.body = b"".join((found.command.body, *found.parts))
        return found.command

    def tell(self, code: int, fields: Mapping[str, str]) -> None:
        """A one-way request: nothing is answered."""
        self.send(code, fields, flag=ONEWAY_FLAG)
        assert not self.outbox

    # Clients.

    def beat(
        self,
        client: str,
        group: str = "g",
        subscriptions: Iterable[Subscription] = (ORDERS,),
        *,
        model: MessageModel = MessageModel.CLUSTERING,
        client_id: str = "",
        fingerprint: int = 0,
        is_without: bool = False,
    ) -> RemotingCommand:
        """A consumer's heartbeat, on the connection of this client."""
        consumer = ConsumerBeat(group, message_model=model, subscriptions=tuple(subscriptions))
        return self.beat_as(
            client,
            Heartbeat(client_id or client, (), (consumer,), fingerprint, is_without),
        )

    def beat_as(self, client: str, heartbeat: Heartbeat) -> RemotingCommand:
        channel = channel_of(client)
        self.peers[channel] = Peer("10.0.0.5", 1000 + channel)
        return self.ask(34, body=encode_heartbeat(heartbeat), channel=channel)

    def heard(self, client: str) -> list[RemotingCommand]:
        """What was written to a client and is no answer; once."""
        found = [
            effect
            for effect in self.outbox
            if isinstance(effect, Reply) and effect.channel == channel_of(client)
        ]
        for effect in found:
            self.outbox.remove(effect)
        return [effect.command for effect in found]

    def news(self, *clients: str) -> dict[str, list[str]]:
        """The groups that each client was told to look at."""
        found: dict[str, list[str]] = {}
        for client in clients:
            found[client] = []
            for command in self.heard(client):
                assert (command.code, command.flag) == (40, ONEWAY_FLAG)
                found[client].append(command.ext_fields["consumerGroup"])
        return found

    def closed(self) -> list[ChannelId]:
        """Connections that the broker wants closed; once."""
        found = [effect for effect in self.outbox if isinstance(effect, CloseChannel)]
        for effect in found:
            self.outbox.remove(effect)
        return [effect.channel for effect in found]


def channel_of(client: str) -> ChannelId:
    """Every client of these tests is one letter, and has one connection."""
    return ChannelId(ord(client))


def messages(answer: RemotingCommand) -> list[StoredMessage]:
    return decode_records(bytes(answer.body))
