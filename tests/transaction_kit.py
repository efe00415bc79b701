"""Transactions with a whole broker on a pretended world, and its books alone.

half = begin(kit, b"order 1")      a half message was sent; where it is
end(kit, half, COMMIT)             its producer says what became of it; the answer
checks(kit)                        what producers were asked since the last look
open_ones(kit)                     the list of open transactions
book = Book()                      a ledger over a small store, without requests
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from aerobee.model.message import Host, StoredMessage
from aerobee.model.message_id import parse_offset_message_id
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import Heartbeat, encode_heartbeat
from aerobee.protocol.bodies.open_transactions import OpenTransactions, decode_open_transactions
from aerobee.protocol.headers.transactions import CheckTransactionHeader
from aerobee.protocol.message.stored_message import decode_record
from aerobee.protocol.remoting.declared_header import read_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.service.broker.transaction.half_timing import HalfTiming
from aerobee.service.broker.transaction.ledger import OPEN_MAX, Ledger
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from tests.broker_kit import CLIENT, STORAGE, BrokerKit
from tests.delay_kit import message
from tests.store_kit import StoreKit, read_all
from tests.wire import JAVA_FIELDS

COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0
HALF, OP = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"
OFFSETS_GROUP = "CID_RMQ_SYS_TRANS"
GROUP = "sellers"
ORDERS = TopicConfig("Orders", 4, 4)
TIMEOUT_MS, INTERVAL_MS = 6_000, 30_000
END, CHECK, LIST, RESUME = 37, 39, 28001, 323


class Begun(NamedTuple):
    """A half message, as its producer knows it."""

    queue_offset: int
    log_offset: int
    unique_id: str


class Check(NamedTuple):
    """A question to a producer."""

    header: CheckTransactionHeader
    message: StoredMessage

    def begun(self) -> Begun:
        """What the answer names."""
        header = self.header
        return Begun(header.tran_state_table_offset, header.commit_log_offset, header.message_id)


def half_fields(unique_id: str = "id-1", queue_id: str = "1", **properties: str) -> dict[str, str]:
    """A send of half a transaction, as Java's client writes it."""
    named = {"TRAN_MSG": "true", "UNIQ_KEY": unique_id, "WAIT": "true", "PGROUP": GROUP}
    text = "".join(f"{name}\x01{value}\x02" for name, value in {**named, **properties}.items())
    return {**JAVA_FIELDS, "a": GROUP, "e": queue_id, "f": "4", "i": text}


def begin(
    kit: BrokerKit, body: bytes = b"half", unique_id: str = "id-1", **properties: str
) -> Begun:
    answer = kit.ask(310, half_fields(unique_id, "1", **properties), body)
    assert answer.code == 0, answer.remark
    said = answer.ext_fields
    place = parse_offset_message_id(said["msgId"]).log_offset
    return Begun(int(said["queueOffset"]), place, said["transactionId"])


def end_fields(begun: Begun, what: int, **changes: str) -> dict[str, str]:
    return {
        "producerGroup": GROUP,
        "tranStateTableOffset": str(begun.queue_offset),
        "commitLogOffset": str(begun.log_offset),
        "commitOrRollback": str(what),
        "fromTransactionCheck": "false",
        "msgId": begun.unique_id,
        "transactionId": begun.unique_id,
        **changes,
    }


def end(kit: BrokerKit, begun: Begun, what: int, **changes: str) -> RemotingCommand:
    kit.tell(END, end_fields(begun, what, **changes))
    kit.finish()
    kit.finish()  # what is over is written down in a tick, and on the disk after the next
    (answer,) = [command for command in kit.heard() if command.is_response]
    return answer


def join(kit: BrokerKit, group: str = GROUP) -> None:
    """A producer is there; what it is asked then is not lost, as with `kit.beat`."""
    kit.tell(34, body=encode_heartbeat(Heartbeat("c", (group,), ())))


def checks(kit: BrokerKit, channel: ChannelId = CLIENT) -> list[Check]:
    return checks_in(kit.heard(channel))


def checks_in(commands: Iterable[RemotingCommand]) -> list[Check]:
    return [
        Check(
            read_header(CheckTransactionHeader, command.ext_fields),
            decode_record(bytes(command.body)),
        )
        for command in commands
        if command.code == CHECK and not command.is_response
    ]


def open_ones(kit: BrokerKit, **fields: str) -> OpenTransactions:
    answer = kit.ask(LIST, fields)
    assert answer.code == 0, answer.remark
    return decode_open_transactions(bytes(answer.body))


def over(kit: BrokerKit) -> list[bytes]:
    """What the op records say."""
    return kit.bodies(OP)


class Book:
    """A ledger over a store."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        storage: StorageConfig = STORAGE,
        clock: SimClock | None = None,
        offsets: ConsumerOffsets | None = None,
        *,
        config: BrokerConfig | None = None,
        open_max: int = OPEN_MAX,
    ) -> None:
        self.kit = StoreKit(disk, storage, clock=clock)
        self.disk, self.store, self.clock = self.kit.disk, self.kit.store, self.kit.clock
        self.offsets = offsets or ConsumerOffsets()
        self.intake = MessageWriter(self.store, SafeAnswers(self.store, lambda: 5_000), 18)
        self.config = LiveConfig(
            config or BrokerConfig(),
            SETTINGS,
            ChangesFile(self.disk, "changes", {}),
            self.kit.worker,
            {},
        )
        self.timing = HalfTiming(lambda: self.config.current, storage.retention_ms)
        self.ledger = Ledger(
            self.store,
            self.intake,
            self.offsets,
            self.timing,
            Host("127.0.0.1", 10_911),
            self.clock.now(),
            open_max=open_max,
        )

    def begin(self, body: bytes = b"half", group: str = GROUP, **properties: str) -> int:
        """Its queue offset."""
        made = message(body, queue_id=1, **properties)
        now = self.clock.now()
        return self.ledger.open(replace(made, born_timestamp=now.wall_ms), group, now).queue_offset

    def commit(self, offset: int) -> list[bool]:
        """Where it is told when it is safe."""
        told: list[bool] = []
        half = self.ledger.halves.find(offset)
        assert half is not None
        found = self.ledger.read(half)
        assert found is not None
        self.ledger.commit(half, found, self.clock.now(), told.append)
        return told

    def roll_back(self, offset: int) -> list[bool]:
        told: list[bool] = []
        half = self.ledger.halves.find(offset)
        assert half is not None
        self.ledger.roll_back(half, told.append)
        return told

    def tick(self, ms: int = 5) -> None:
        """Time passes, everything is written down and on the disk."""
        self.ledger.on_tick(self.clock.advance(ms))
        self.store.sync()
        self.store.dispatch()
        self.ledger.on_tick(self.clock.now())

    def open_offsets(self) -> list[int]:
        return [half.offset for half in self.ledger.halves]

    def saved(self) -> tuple[int, int]:
        """The offsets of both queues, as they would be saved."""
        return (
            self.offsets.find(OFFSETS_GROUP, HALF, 0),
            self.offsets.find(OFFSETS_GROUP, OP, 0),
        )

    def messages(self, topic: str, queue_id: int = 0) -> list[StoredMessage]:
        self.store.dispatch()
        return read_all(self.store, topic.encode(), queue_id)

    def killed(self, *, with_offsets: bool = True) -> "Book":
        """Another process on what this one left."""
        offsets = self.offsets if with_offsets else None
        return Book(self.disk.kill(), self.kit.config, self.clock, offsets)
