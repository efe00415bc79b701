"""A master and its slave, two broker services on pretended disks, with a link that tests cut.

pair = Pair(ORDERS, in_sync=2)       SYNC_MASTER, or without `in_sync` ASYNC_MASTER
pair.run()                           time passes; bytes of the link and requests are carried over
pair.is_cut = True                   nothing is carried over any more, and nobody is told
pair.drop_link()                     the link is gone, and both sides are told

The slave knows its master by haMasterAddress; there is no name server.
"""

from dataclasses import replace

from aerobee.model.broker_role import BrokerRole
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import CloseLink, Effects, LinkId, LinkWrite, OpenLink, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.replication.config import ReplicationConfig
from aerobee.service.broker.config import BrokerIdentity
from aerobee.storage.config import FlushMode
from tests.broker_kit import OTHER as OTHER_CLIENT
from tests.broker_kit import STORAGE, BrokerKit
from tests.send_rig import send_frame

MASTER = BrokerIdentity(address="10.0.0.1:10911", ha_address="10.0.0.1:10912")
SLAVE = BrokerIdentity(broker_id=1, address="10.0.0.2:10911", ha_address="10.0.0.2:10912")
SLAVE_TIMEOUT_MS = 3_000
LINK = LinkId(1)


def slave_identity() -> BrokerIdentity:
    follows = ReplicationConfig(role=BrokerRole.SLAVE, master_ha_address=MASTER.ha_address)
    return replace(SLAVE, replication=follows)


class Pair:
    def __init__(
        self,
        *topics: TopicConfig,
        in_sync: int = 1,
        master: BrokerKit | None = None,
        slave: BrokerKit | None = None,
        flush: FlushMode = FlushMode.ASYNC,
    ) -> None:
        role = BrokerRole.SYNC_MASTER if in_sync > 1 else BrokerRole.ASYNC_MASTER
        leads = ReplicationConfig(
            role=role, in_sync_replicas=in_sync, slave_timeout_ms=SLAVE_TIMEOUT_MS
        )
        storage = replace(STORAGE, flush_mode=flush)
        self.master = master or BrokerKit(
            *topics, identity=replace(MASTER, replication=leads), storage=storage
        )
        self.slave = slave or BrokerKit(
            identity=slave_identity(), storage=storage, clock=self.master.clock
        )
        self.is_cut = False
        self.is_up = False

    def send(self, body: bytes = b"a body") -> None:
        """A send to the master, which may wait for its answer."""
        self.master.send_frames(send_frame(body=body))

    def answers(self) -> list[int]:
        """The codes of the answers to sends since the last look."""
        return [command.code for command in self.master.heard()]

    def run(self, ms: int = 100) -> None:
        """Let time pass in steps of 10 ms, and carry over what there is."""
        for _ in range(0, ms, 10):
            self.master.tick(10)
            self.slave.tick()
            self.carry()

    def carry(self) -> None:
        """Carry everything over until nobody has more; no time passes."""
        for _ in range(1000):
            moved = self._carry_links() + self._carry_requests()
            self.master.work()
            self.slave.work()
            if not moved:
                return
            self.master.tick()
            self.slave.tick()
        raise AssertionError("they never come to rest")

    def drop_link(self) -> None:
        """The connection is gone, and both sides hear of it."""
        if self.is_up:
            self.is_up = False
            now = self.master.clock.now()
            self._do(self.master, self.master.broker.on_link_closed(LINK, now))
            self._do(self.slave, self.slave.broker.on_link_closed(LINK, now))

    def _carry_links(self) -> int:
        moved = 0
        for side, other in ((self.slave, self.master), (self.master, self.slave)):
            effects, side.wanted[:] = list(side.wanted), []
            for effect in effects:
                moved += self._carry_one(side, other, effect)
        return moved

    def _carry_one(self, side: BrokerKit, other: BrokerKit, effect: object) -> int:
        now = self.master.clock.now()
        match effect:
            case OpenLink(address):
                if self.is_cut:
                    self._do(side, side.broker.on_link_failed(address, "cut", now))
                    return 1
                self.is_up = True
                self._do(other, other.broker.on_link_open(LINK, Peer("10.0.0.2", 4), False, now))
                master = Peer("10.0.0.1", 5)
                self._do(side, side.broker.on_link_open(LINK, master, True, now, "10.0.0.2:4"))
            case LinkWrite(_, buffers):
                if self.is_cut or not self.is_up:
                    return 0
                data = b"".join(bytes(one) for one in buffers)
                self._do(other, other.broker.on_link_bytes(LINK, data, now))
                self._do(other, other.broker.settle(now))
            case CloseLink():
                self.drop_link()
            case _:
                side.wanted.append(effect)  # type: ignore[arg-type]
                return 0
        return 1

    def _carry_requests(self) -> int:
        dials, self.slave.dialed[:] = list(self.slave.dialed), []
        now = self.master.clock.now()
        for dial in dials:
            answer: RemotingCommand | None = None
            if not self.is_cut and dial.address == MASTER.address:
                asked = dial.command
                answer = self.master.ask(
                    asked.code, asked.ext_fields, bytes(asked.body), OTHER_CLIENT
                )
            self._do(self.slave, self.slave.broker.on_answer(dial.ticket, answer, now))
        return len(dials)

    def _do(self, side: BrokerKit, effects: Effects) -> None:
        side.carry_out(effects)
