"""A book of transactions, and who asks producers about what is in it.

rig = Rig()
rig.join()                 a producer is there
rig.begin(b"order")        a half message
rig.run(6_000)             time passes, tick by tick
rig.asked()                what producers were asked since the last look
"""

from dataclasses import replace

from aerobee.ports.service import ChannelId, Effects, Reply
from aerobee.service.broker.clients.consumers import Member
from aerobee.service.broker.clients.producers import Producers
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.transaction.askable_producers import AskableProducers
from aerobee.service.broker.transaction.check_back import CheckBack
from aerobee.service.broker.transaction.given_up_topic import GivenUpTopic
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from tests.broker_kit import STORAGE
from tests.tables_kit import TablesKit
from tests.transaction_kit import GROUP, Book, Check, checks_in

BIG = replace(STORAGE, log_file_bytes=1 << 22, queue_file_units=5_000)
MANY = 1 << 30


class Rig(Book):
    """A book, and who asks about what is in it."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        storage: StorageConfig = BIG,
        clock: SimClock | None = None,
        *,
        config: BrokerConfig | None = None,
        a_second: int = MANY,
        unread_max: int = MANY,
    ) -> None:
        super().__init__(disk, storage, clock, config=config)
        self.producers = Producers()
        self.tables = TablesKit()
        self.outbox: Effects = []
        self.checks = CheckBack(
            self.ledger,
            self.timing,
            self.intake,
            AskableProducers(self.producers, a_second),
            GivenUpTopic(self.tables.topics),
            "broker-a",
            self.outbox,
            unread_max,
        )

    def join(self, channel: int = 1, group: str = GROUP) -> None:
        member = Member(ChannelId(channel), f"c{channel}", "JAVA", 513, "10.0.0.1:1", 0, 0)
        self.producers.beat(group, member)

    def look(self, ms: int = 5) -> None:
        """One tick."""
        self.checks.on_tick(self.clock.advance(ms))
        self.tables.finish()
        self.tick(0)

    def run(self, ms: int, step_ms: int = 100) -> None:
        for _ in range(0, ms, step_ms):
            self.look(step_ms)

    def asked(self) -> list[Check]:
        """Since the last look."""
        found = checks_in(effect.command for effect in self.outbox if isinstance(effect, Reply))
        self.outbox.clear()
        return found

    def asked_channels(self) -> list[int]:
        return [effect.channel for effect in self.outbox if isinstance(effect, Reply)]
