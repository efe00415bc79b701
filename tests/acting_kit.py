"""A master on a pretended disk that is killed, and its slave that acts for it.

acting = ActingKit(master)           the master is killed; its disk goes on as an acting master's
acting.route = route_to(SECOND)      the route of every topic; None: there is no other master
acting.run(5_000)                    time passes; name servers and the other master answer
acting.sent                          the sends that the other master has taken
"""

from dataclasses import replace

from aerobee.model.broker_role import BrokerRole, Stage
from aerobee.model.route import BrokerData, QueueData, TopicRoute
from aerobee.ports.service import Dial
from aerobee.protocol.bodies.topic_route import encode_member_group, encode_topic_route
from aerobee.protocol.headers.sending import SendV2Header
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from tests.broker_kit import BrokerKit

NAME_SERVER = "10.0.0.100:9876"
SECOND = "10.0.0.20:10911"
ACTS = ReplicationConfig(
    role=BrokerRole.SLAVE, acts_as_master=True, escapes_remotely=True, total_replicas=2
)
ACTING = BrokerIdentity(broker_id=1, address="10.0.0.2:10911", replication=ACTS, stage=Stage.ACTING)


def route_to(*addresses: str, permission: int = 6) -> TopicRoute:
    """A topic with four queues on masters at these addresses."""
    names = [f"broker-{chr(ord('b') + number)}" for number in range(len(addresses))]
    return TopicRoute(
        tuple(QueueData(name, 4, 4, permission, 0) for name in names),
        tuple(
            BrokerData("DefaultCluster", name, {0: address})
            for name, address in zip(names, addresses, strict=True)
        ),
    )


class ActingKit(BrokerKit):
    """An acting master; `sent` are header and body of the sends that were acknowledged."""

    def __init__(self, master: BrokerKit, *, escapes: bool = True) -> None:
        if not master.store._is_closed:
            master.run(1_000)  # what is not marked as confirmed is not delivered
        identity = replace(ACTING, replication=replace(ACTS, escapes_remotely=escapes))
        super().__init__(
            disk=master.disk.kill(),
            config=master._told[0],
            storage=master.store.config,
            identity=identity,
            clock=master.clock,
            addresses=[NAME_SERVER],
        )
        self.route: TopicRoute | None = route_to(SECOND)
        self.members = {1: ACTING.address}
        self.send_code: int | None = 0
        """The answer of other masters; None: they are silent."""
        self.sent: list[tuple[SendV2Header, bytes]] = []
        self.tried = 0

    def run(self, ms: int, step_ms: int = 100) -> None:
        for _ in range(0, ms, step_ms):
            self.tick(min(step_ms, ms))
            self.answer_all()
            self.work()
        self.finish()

    def answer_all(self) -> None:
        while self.dialed:
            dials, self.dialed[:] = list(self.dialed), []
            for dial in dials:
                answer = self._answer(dial)
                effects = self.broker.on_answer(dial.ticket, answer, self.clock.now())
                self.carry_out(effects)

    def _answer(self, dial: Dial) -> RemotingCommand | None:
        match dial.command.code:
            case 105:
                if self.route is None:
                    return RemotingCommand(17, remark="no route")
                return RemotingCommand(0, body=encode_topic_route(self.route, is_standard=True))
            case 901:
                group = BrokerData("DefaultCluster", "broker-a", self.members)
                return RemotingCommand(0, body=encode_member_group(group))
            case 310:
                self.tried += 1
                if self.send_code == 0:
                    header = read_header(SendV2Header, dial.command.ext_fields)
                    self.sent.append((header, bytes(dial.command.body)))
                return None if self.send_code is None else RemotingCommand(self.send_code)
        return RemotingCommand(0)

    def bodies_sent(self) -> list[bytes]:
        return [body for _, body in self.sent]
