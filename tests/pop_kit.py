"""A broker whose messages are popped, on a pretended world.

kit = PopKit()                       a broker with the topic Orders, of one queue
kit.fill(3)                          messages m0, m1, m2
got = kit.pop()                      what a member of the group g gets
kit.ack(got[0])                      the code of the answer
kit.run(2_000)                       time passes
kit = kit.after_power_cut()          the machine died; another process goes on with what it left
"""

from collections.abc import Sequence
from typing import NamedTuple

from aerobee.model.group import GroupConfig
from aerobee.model.message import StoredMessage
from aerobee.model.topic import TopicConfig
from aerobee.ports.service import ChannelId, Dial
from aerobee.protocol.bodies.group_config import encode_group_config
from aerobee.protocol.consume.pop_receipt import PopReceipt, encode_pop_receipt
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.service.broker.config import BrokerConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import StorageConfig
from tests.broker_kit import CLIENT, IDENTITY, STORAGE, BrokerKit, records_in
from tests.store_kit import draft, properties

INVISIBLE_MS = 10_000
# A small wheel: the pretended disk copies it at every crash.
CONFIG = BrokerConfig(
    timer_wheel_slots=256, timer_window_slots=120, timer_log_file_bytes=100 * 52 + 20
)
REVIVE_TOPIC = "rmq_sys_REVIVE_LOG_DefaultCluster"


class Got(NamedTuple):
    """One popped message, and the receipt that its client has for it."""

    message: StoredMessage
    receipt: PopReceipt
    topic: str
    """The one that it lies in."""

    @property
    def body(self) -> bytes:
        return self.message.body


class PopKit(BrokerKit):
    def __init__(
        self,
        *,
        queues: int = 1,
        disk: SimDisk | None = None,
        storage: StorageConfig = STORAGE,
        clock: SimClock | None = None,
        config: BrokerConfig = CONFIG,
        addresses: Sequence[str] = (),
    ) -> None:
        super().__init__(
            disk=disk, storage=storage, clock=clock, config=config, addresses=addresses
        )
        self._queues = queues
        if disk is None:
            self.make_topic(TopicConfig("Orders", queues, queues))

    def fill(
        self, count: int, queue_id: int = 0, first: int = 0, topic: str = "Orders", **named: str
    ) -> None:
        for number in range(first, first + count):
            body = f"m{number}".encode()
            one = draft(topic.encode(), queue_id, body, properties(**named))
            self.store.append(one, self.clock.now().wall_ms)
        self.finish()

    def rank(self, queues: int = 4, *, factor: int | None = None) -> None:
        """Make the topic one of priorities, with so many, and set the group's factor."""
        attributes = {"message.type": "PRIORITY"}
        self.make_topic(TopicConfig("Orders", queues, queues, attributes=attributes))
        if factor is not None:
            group = GroupConfig("g", attributes={"+priority.factor": str(factor)})
            assert self.ask(200, body=encode_group_config(group)).code == 0

    # Consuming.

    def fields(self, **other: object) -> dict[str, str]:
        """A pop as a Java client writes it, but for some fields; it does not wait."""
        said: dict[str, object] = {
            "consumerGroup": "g",
            "topic": "Orders",
            "queueId": -1,
            "maxMsgNums": 32,
            "invisibleTime": INVISIBLE_MS,
            "pollTime": 0,
            "bornTime": self.clock.now().wall_ms,
            "initMode": 0,
            "expType": "TAG",
            "exp": "*",
            "order": "false",
            **other,
        }
        return {name: str(value) for name, value in said.items()}

    def pop(self, **other: object) -> list[Got]:
        return got_in(self.ask(200050, self.fields(**other)), str(other.get("consumerGroup", "g")))

    def bodies_popped(self, **other: object) -> list[bytes]:
        return [one.body for one in self.pop(**other)]

    def ack_fields(self, got: Got, **other: object) -> dict[str, str]:
        said: dict[str, object] = {
            "consumerGroup": "g",
            "topic": got.topic,
            "queueId": got.message.queue_id,
            "offset": got.message.queue_offset,
            "extraInfo": encode_pop_receipt(got.receipt),
            **other,
        }
        return {name: str(value) for name, value in said.items()}

    def ack(self, got: Got, **other: object) -> int:
        return self.ask(200051, self.ack_fields(got, **other)).code

    def change(self, got: Got, invisible_ms: int, **other: object) -> RemotingCommand:
        return self.ask(200053, self.ack_fields(got, invisibleTime=invisible_ms, **other))

    def wait_for_pop(self, channel: ChannelId = CLIENT, **other: object) -> None:
        """A pop that is held if there is nothing."""
        self.tell(200050, self.fields(**{"pollTime": 15_000, **other}), channel=channel)

    def answered(self, channel: ChannelId = CLIENT) -> list[list[bytes]]:
        """The bodies of the pops that were answered since the last look."""
        return [[one.body for one in got_in(answer)] for answer in self.heard(channel)]

    def answer(self, dial: Dial, answer: RemotingCommand) -> None:
        """Whom the broker asked answers."""
        self.carry_out(self.broker.on_answer(dial.ticket, answer, self.clock.now()))

    # Looking.

    def committed(self, topic: str = "Orders", queue_id: int = 0, group: str = "g") -> int:
        """The offset that is there for everybody; -1: none."""
        answer = self.ask(
            14,
            {
                "consumerGroup": group,
                "topic": topic,
                "queueId": str(queue_id),
                "setZeroIfNotFound": "false",
            },
        )
        return int(answer.ext_fields["offset"]) if answer.code == 0 else -1

    # Other processes.

    def after_power_cut(self) -> "PopKit":
        return self._next(self.disk.power_cut())

    def after_stop(self) -> "PopKit":
        self.stop()
        return self._next(self.disk)

    def _next(self, disk: SimDisk) -> "PopKit":
        return PopKit(
            queues=self._queues,
            disk=disk,
            storage=self.store.config,
            clock=self.clock,
            config=self._told[0],
        )


def got_in(answer: RemotingCommand, group: str = "g") -> list[Got]:
    """The messages of an answer with their receipts, put together as Java's client does."""
    if answer.code != 0:
        return []
    fields = answer.ext_fields
    starts = {}
    for part in fields["startOffsetInfo"].split(";"):
        origin, queue, start = part.split(" ")
        starts[origin, int(queue)] = int(start)
    runs = []
    for part in fields["msgOffsetInfo"].split(";"):
        origin, queue, offsets = part.split(" ")
        runs += [(origin, int(queue), int(offset)) for offset in offsets.split(",")]
    messages = records_in(answer)
    assert len(runs) == len(messages)
    found = []
    for (origin, queue_id, offset), message in zip(runs, messages, strict=True):
        assert (message.queue_id, message.queue_offset) == (queue_id, offset)
        receipt = PopReceipt(
            starts[origin, queue_id],
            int(fields["popTime"]),
            int(fields["invisibleTime"]),
            int(fields["reviveQid"]),
            origin,
            IDENTITY.name,
            queue_id,
            offset,
        )
        if origin != "0":
            assert message.properties["POP_CK"] == encode_pop_receipt(receipt)
        topic = message.topic if origin == "0" else f"%RETRY%{group}_{message.topic}"
        found.append(Got(message, receipt, topic))
    return found
