"""A name server and a broker on the simulated network; their fate writes down what it hears."""

import random
from dataclasses import replace

from aerobee.protocol.remoting.frame import FrameLimits, FrameReader
from aerobee.protocol.remoting.remoting_command import RemotingCommand, decode, encode
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.sim.broker_node import BrokerNode, BrokerPlan
from aerobee.sim.crash_choice import CrashChoice
from aerobee.sim.disk import SimDisk
from aerobee.sim.nameserver_node import NameServerNode
from aerobee.sim.network import Network
from aerobee.sim.node import Fate, Node
from aerobee.sim.timeline import Timeline
from tests.broker_kit import SYNC
from tests.unit.sim.kit import Side

NAMESERVER = "10.0.0.1"
BROKER = "10.0.0.2"
SECOND_BROKER = "10.0.0.3"


class Diary(Fate):
    def __init__(self) -> None:
        self.news: list[str] = []
        self.failures: list[BaseException] = []

    def surviving(self, disk: SimDisk) -> CrashChoice:
        return CrashChoice("nothing", frozenset(), frozenset())

    def opened(self, node: Node) -> None:
        if isinstance(node, BrokerNode):
            self.news.append("opened")

    def started(self, node: Node) -> None:
        if isinstance(node, BrokerNode):
            self.news.append("started")

    def ended(self, node: Node, how: str) -> None:
        self.news.append(how)

    def failed(self, node: Node, error: BaseException) -> None:
        self.failures.append(error)


class Cluster:
    """Both started, nothing has happened yet."""

    def __init__(self) -> None:
        self.timeline = Timeline()
        self.network = Network(self.timeline, random.Random(1))
        self.fate = Diary()
        self.nameserver = NameServerNode(
            "names",
            self.network.host(NAMESERVER),
            9876,
            self.fate,
            lambda lane: 1,
            NameServerConfig(),
        )
        self.broker = self.make_broker(BROKER, ReplicationConfig(), 0)
        self.client = self.network.host("10.0.0.9").start(self.fate.failures.append)
        self.nameserver.start()
        self.broker.start()

    def make_broker(self, host: str, replication: ReplicationConfig, broker_id: int) -> BrokerNode:
        """A broker of the same name."""
        return BrokerNode(
            "broker-a",
            self.network.host(host),
            10911,
            self.fate,
            lambda lane: 1,
            BrokerPlan(
                replace(SYNC, disk_used_ratio_clean=1.0, disk_used_ratio_full=1.0),
                BrokerConfig(),
                [self.nameserver.address],
                replication=replication,
                broker_id=broker_id,
            ),
        )

    def run(self, ms: int) -> None:
        self.timeline.run(self.timeline.now_ms + ms)

    def ask(self, node: Node, command: RemotingCommand) -> RemotingCommand:
        """The answer to a client's question, over a connection of its own."""
        sides: list[Side] = []

        async def connect() -> None:
            transport, side = await self.client.connect(Side, node.host.name, node.port)
            assert isinstance(side, Side)
            sides.append(side)
            transport.writelines(encode(command))

        self.client.loop.run(lambda: self.client.loop.create_task(connect()))
        self.run(1_000)
        frames = FrameReader(FrameLimits())
        frames.receive(sides[0].data)
        assert frames.advance()
        return decode(frames)
