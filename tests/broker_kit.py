"""A whole broker on a pretended world: bytes in, bytes out, as a connection would carry them.

kit = BrokerKit(Orders)                        a broker with this topic
kit.ask(310, {...}, b"body")                   the one answer, the disk work of it done
kit.send_frames(data, channel)                 one read of a connection; nothing else happens
kit.tick(5)                                    time passes, and the broker is called
kit.heard(channel)                             what was written to a connection since the last look
kit = kit.restarted(), kit.killed(), kit.power_cut()     another process on what is left

Nothing happens on the disk before `work`, which `ask` and `finish` do. What the broker wants of
name servers is in `dialed`, connections that it closed in `closed`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from aerobee.errors import ProtocolError
from aerobee.model.message import StoredMessage
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import (
    ChannelId,
    CloseChannel,
    Dial,
    Effect,
    Effects,
    Peer,
    Reply,
    Write,
)
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.subscription import make_subscription
from aerobee.protocol.message.stored_message import decode_records
from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.protocol.remoting.reply_buffer import ReplyBuffer
from aerobee.service.broker.assembly import build_broker
from aerobee.service.broker.config import SETTINGS, BrokerConfig, BrokerIdentity
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode, StorageConfig
from tests.store_kit import ROOT, SMALL, StoreKit, read_all

STORAGE = replace(SMALL, log_file_bytes=1 << 16, queue_file_units=50, index_units=500)
SYNC = replace(STORAGE, flush_mode=FlushMode.SYNC)
IDENTITY = BrokerIdentity()
CLIENT = ChannelId(1)
OTHER = ChannelId(2)
OPAQUE = 7
TIMER_LOG_BYTES = 1 << 20


class Line:
    """One connection, as `net/channel` keeps it, and what was written to it."""

    def __init__(self) -> None:
        self.frames = FrameReader(FrameLimits())
        self.output = ReplyBuffer()
        self.written: list[bytes] = []
        """Each piece that a socket would be given at once."""

    def take(self) -> bytes:
        data, self.written = b"".join(self.written), []
        return data


def _with_small_files(config: BrokerConfig) -> BrokerConfig:
    """The pretended disk compares every byte at every call, which takes milliseconds of the timer's
    log as brokers have it."""
    return replace(config, timer_log_file_bytes=min(TIMER_LOG_BYTES, config.timer_log_file_bytes))


class BrokerKit:
    def __init__(
        self,
        *topics: TopicConfig,
        disk: SimDisk | None = None,
        config: BrokerConfig | None = None,
        storage: StorageConfig = STORAGE,
        identity: BrokerIdentity = IDENTITY,
        clock: SimClock | None = None,
        addresses: Sequence[str] = (),
    ) -> None:
        config = _with_small_files(config or BrokerConfig())
        self._told = (config, identity, addresses)
        kit = StoreKit(disk, storage, clock=clock)
        self.disk, self.store, self.clock, self.worker = kit.disk, kit.store, kit.clock, kit.worker
        live = LiveConfig(
            config,
            SETTINGS,
            ChangesFile(self.disk, f"{ROOT}/config/broker.properties", {}),
            self.worker,
            {},
        )
        self.broker = build_broker(
            identity, live, self.store, self.disk, self.worker, addresses, self.clock.now()
        )
        self.dialed: list[Dial] = []
        self.wanted: list[Effect] = []
        """Other effects: of replication, and changes of role."""
        self.closed: list[ChannelId] = []
        self._lines: dict[ChannelId, Line] = {}
        for channel in (CLIENT, OTHER):
            self.open(channel)
        for topic in topics:
            self.make_topic(topic)

    # Connections.

    def open(self, channel: ChannelId, peer: Peer | None = None) -> None:
        self._lines[channel] = Line()
        effects = self.broker.on_open(
            channel, peer or Peer("10.0.0.9", 40_000 + channel), self.clock.now()
        )
        self.carry_out(effects)

    def close(self, channel: ChannelId) -> None:
        """The peer is gone; what is written to it from now on goes nowhere."""
        self.carry_out(self.broker.on_closed(channel, self.clock.now()))
        del self._lines[channel]

    def send_frames(self, data: bytes, channel: ChannelId = CLIENT) -> None:
        """One read of a connection, as `net/channel` handles it."""
        line, now, broker = self._lines[channel], self.clock.now(), self.broker
        line.frames.receive(data)
        fault: ProtocolError | None = None
        try:
            while line.frames.advance() and broker.take(channel, line.frames, line.output, now):
                self.carry_out(broker.on_command(channel, decode(line.frames), now))
        except ProtocolError as error:
            fault = error
        self.carry_out(broker.settle(now))
        self._flush(line)
        if fault is not None:
            self.closed.append(channel)

    def handle_frames(self, data: bytes, channel: ChannelId = CLIENT) -> None:
        """One read, of which nothing goes the short way."""
        line, now, broker = self._lines[channel], self.clock.now(), self.broker
        line.frames.receive(data)
        while line.frames.advance():
            self.carry_out(broker.on_command(channel, decode(line.frames), now))
        self.carry_out(broker.settle(now))

    def pieces(self, channel: ChannelId = CLIENT) -> list[bytes]:
        """What was written since the last look, as a socket was given it."""
        line = self._lines[channel]
        pieces, line.written = line.written, []
        return pieces

    def heard(self, channel: ChannelId = CLIENT) -> list[RemotingCommand]:
        """What was written since the last look."""
        return commands_in(self._lines[channel].take())

    # Requests.

    def ask(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        channel: ChannelId = CLIENT,
        *,
        flag: int = 0,
        version: int = 513,
    ) -> RemotingCommand:
        """The one answer to a request, everything done that it wants of the disk."""
        self.tell(code, fields, body, channel, flag=flag, version=version)
        self.finish()
        (answer,) = [command for command in self.heard(channel) if command.is_response]
        assert answer.opaque == OPAQUE
        return answer

    def tell(
        self,
        code: int,
        fields: Mapping[str, str] | None = None,
        body: bytes = b"",
        channel: ChannelId = CLIENT,
        *,
        flag: int = 0,
        version: int = 513,
    ) -> None:
        """A request; the disk has done nothing for it yet."""
        command = RemotingCommand(
            code,
            flag=flag,
            opaque=OPAQUE,
            version=version,
            ext_fields=dict(fields or {}),
            body=body,
        )
        self.send_frames(b"".join(encode(command)), channel)

    def make_topic(self, topic: TopicConfig) -> None:
        assert self.ask(17, create_fields(topic)).code == 0

    def pull(self, channel: ChannelId = CLIENT, **fields: object) -> RemotingCommand:
        return self.ask(11, pull_fields(**fields), channel=channel)

    def beat(
        self,
        client_id: str = "c",
        group: str = "g",
        subscriptions: Mapping[str, str] | None = None,
        *,
        channel: ChannelId = CLIENT,
        version: int = 1,
        kind: str = "TAG",
        producer: str = "",
    ) -> None:
        """A client's heartbeat: topics and expressions that a group consumes, a producer."""
        subscribed = tuple(
            make_subscription(topic, expression, version, kind)
            for topic, expression in (subscriptions or {}).items()
        )
        consumers = (ConsumerBeat(group, subscriptions=subscribed),) if subscribed else ()
        producers = (producer,) if producer else ()
        body = encode_heartbeat(Heartbeat(client_id, producers, consumers))
        assert self.ask(34, body=body, channel=channel).code == 0

    def answer_dial(self, dial: Dial) -> None:
        """What the broker asked of another server has the answer that it is well."""
        effects = self.broker.on_answer(dial.ticket, RemotingCommand(0), self.clock.now())
        self.carry_out(effects)

    # Time and disk.

    def tick(self, ms: int = 0) -> None:
        self.carry_out(self.broker.on_tick(self.clock.advance(ms)))

    def run(self, ms: int, step_ms: int = 100) -> None:
        """Time passes, step by step, and the disk does its work."""
        for _ in range(0, ms, step_ms):
            self.tick(min(step_ms, ms))
            self.work()
        self.finish()

    def work(self) -> None:
        """The disk does what was asked of it; the broker does not know yet."""
        self.worker.run_all()

    def finish(self) -> None:
        """All disk work that there is is done and everybody was told; no time passes."""
        for _ in range(20):
            self.work()
            self.tick()
            if not self.worker.pending():
                break

    def messages(self, topic: str = "Orders", queue_id: int = 0) -> list[StoredMessage]:
        """What a queue holds, as far as it may be seen."""
        return read_all(self.store, topic.encode(), queue_id)

    def bodies(self, topic: str = "Orders", queue_id: int = 0) -> list[bytes]:
        return [message.body for message in self.messages(topic, queue_id)]

    # Other processes.

    def stop(self) -> None:
        """A clean stop, up to the store's."""
        self.carry_out(self.broker.stop(self.clock.now()))
        self.finish()
        self.store.close()

    def restarted(self) -> "BrokerKit":
        self.stop()
        return self._successor(self.disk)

    def killed(self) -> "BrokerKit":
        return self._successor(self.disk.kill())

    def power_cut(self) -> "BrokerKit":
        return self._successor(self.disk.power_cut())

    def _successor(self, disk: SimDisk) -> "BrokerKit":
        config, identity, addresses = self._told
        return BrokerKit(
            disk=disk,
            config=config,
            storage=self.store.config,
            identity=identity,
            clock=self.clock,
            addresses=addresses,
        )

    # Effects.

    def _flush(self, line: Line) -> None:
        if line.output.position:
            line.written.append(line.output.take())

    def carry_out(self, effects: Effects) -> None:
        for effect in effects:
            if isinstance(effect, Dial):
                self.dialed.append(effect)
                continue
            if not isinstance(effect, Reply | Write | CloseChannel):
                self.wanted.append(effect)
                continue
            line = self._lines.get(effect.channel)
            if line is None:
                continue
            self._flush(line)
            match effect:
                case Reply(_, command, parts):
                    line.written.append(b"".join(encode(command, parts)))
                case Write(_, frames):
                    line.written.append(frames)
                case CloseChannel(channel, _):
                    self.closed.append(channel)


def create_fields(topic: TopicConfig) -> dict[str, str]:
    """Request 17 for a topic."""
    return {
        "topic": topic.name,
        "defaultTopic": "TBW102",
        "readQueueNums": str(topic.read_queues),
        "writeQueueNums": str(topic.write_queues),
        "perm": str(topic.permission),
        "topicFilterType": topic.filter_type,
        "topicSysFlag": str(topic.sys_flag),
        "order": str(topic.is_order).lower(),
        "attributes": ",".join(f"+{name}={text}" for name, text in topic.attributes.items()),
    }


def pull_fields(**fields: object) -> dict[str, str]:
    """A pull as a Java client without a heartbeat writes it, with some fields otherwise."""
    said: dict[str, object] = {
        "consumerGroup": "g",
        "topic": "Orders",
        "queueId": 0,
        "queueOffset": 0,
        "maxMsgNums": 32,
        "sysFlag": 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": 15_000,
        "subscription": "*",
        "subVersion": 0,
        **fields,
    }
    return {name: str(value) for name, value in said.items()}


def commands_in(data: bytes) -> list[RemotingCommand]:
    """Whole frames, decoded."""
    frames = FrameReader(FrameLimits())
    frames.receive(data)
    found = []
    while frames.advance():
        found.append(decode(frames))
    assert frames.pending_size() == 0, "a part of a frame"
    return found


def records_in(answer: RemotingCommand) -> list[StoredMessage]:
    return decode_records(bytes(answer.body))
