from dataclasses import replace

from aerobee.model.message import unpack_host
from aerobee.model.topic import TopicConfig
from aerobee.protocol.bodies.revive_records import (
    AckRecord,
    Checkpoint,
    encode_ack,
    encode_checkpoint,
)
from aerobee.service.broker.config import BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.retry_copy import Origin
from aerobee.service.broker.pop.revive.retry_writer import RetryTables, RetryWriter
from aerobee.service.broker.pop.revive.revive_queue import REVIVE_GROUP, ReviveQueue, UnstoredRecord
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.broker.state.consumer_offsets import ConsumerOffsets
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from tests.broker_kit import STORAGE
from tests.delay_kit import message
from tests.store_kit import StoreKit, bodies_of
from tests.tables_kit import TablesKit

START = 1_700_000_000_000
LONG_AFTER = START + 1_000_000
RETRY = b"%RETRY%g_Orders"


class Rig:
    """One revive queue over a store with messages m0 to m9, and topics and a group for them."""

    def __init__(
        self,
        disk: SimDisk | None = None,
        clock: SimClock | None = None,
        config: BrokerConfig | None = None,
    ) -> None:
        self.kit = StoreKit(disk, STORAGE, clock=clock)
        self.tables = TablesKit(config=config)
        self.intake = MessageWriter(self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), 18)
        if disk is None:
            for number in range(10):
                self.intake.put(message(f"m{number}".encode()), self.kit.clock.now())
        self.make_topic("Orders")
        self.tables.groups.ensure("g", self.tables.clock.now())
        self.tables.finish()
        self.offsets = ConsumerOffsets()
        self.in_flight = InFlight()
        self.log = ReviveWriter(self.intake, "revive", STORAGE.store_host)
        self.retrying = RetryWriter(
            self.kit.store,
            self.kit.worker,
            self.intake,
            RetryTables(
                self.tables.topics,
                self.tables.groups,
                self.offsets,
                lambda: self.tables.config.current.separates_retries,
            ),
            Origin(unpack_host(STORAGE.store_host), False),
        )
        self.open()

    def make_topic(self, name: str, queues: int = 1) -> None:
        made = TopicConfig(name, queues, queues)
        self.tables.topics.put([made], self.tables.clock.now(), self.tables.told.append)
        self.tables.finish()

    def open(self) -> None:
        self.queue = ReviveQueue(
            self.kit.store, self.offsets, b"revive", 0, self.in_flight, self.retrying
        )

    def pop(
        self, start: int, count: int, pop_time: int = START, *, known: bool = True
    ) -> Checkpoint:
        checkpoint = Checkpoint("Orders", "g", 0, start, pop_time, 10_000, "b", tuple(range(count)))
        self.log.put_checkpoint(checkpoint, 0, self.kit.clock.now())
        if known:
            self.in_flight.started(checkpoint.key, checkpoint.distances[-1])
        return checkpoint

    def ack(self, checkpoint: Checkpoint, *offsets: int) -> None:
        self.log.put_ack(
            AckRecord(checkpoint.key, offsets), 0, checkpoint.revive_time, self.kit.clock.now()
        )
        self.in_flight.acked(checkpoint.key, offsets)

    def step(self, wall_ms: int, delivered_to_ms: int = LONG_AFTER, copies_max: int = 100) -> int:
        self.kit.settle()
        now = self.kit.clock.now()._replace(wall_ms=wall_ms)
        copies = 0
        for _ in range(5):  # the retry topic is made first
            copies += self.queue.step(now, delivered_to_ms, copies_max)
            self.tables.finish()
            self.kit.settle()
        return copies

    def revived(self) -> list[bytes]:
        return bodies_of(self.kit.store, RETRY)

    def committed(self) -> int:
        self.queue.commit_safe()
        return self.offsets.find(REVIVE_GROUP, "revive", 0)


def test_what_was_not_acknowledged_comes_back_when_its_time_is_over() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 3)
    rig.ack(checkpoint, 1)
    assert rig.step(START + 9_999) == 0
    assert rig.revived() == []
    assert rig.queue.ms_to_due(rig.kit.clock.now()) is not None
    rig.step(START + 10_000)
    assert rig.revived() == [b"m0", b"m2"]
    rig.step(START + 20_000)
    assert rig.revived() == [b"m0", b"m2"]


def test_what_was_acknowledged_does_not_come_back() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 2)
    rig.ack(checkpoint, 0, 1)
    rig.step(START + 20_000)
    assert rig.revived() == []
    assert rig.committed() == 0
    assert len(rig.in_flight) == 0


def test_an_acknowledgement_between_reading_and_reviving_counts() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 2)
    rig.step(START)
    rig.ack(checkpoint, 0)
    rig.step(START + 10_000)
    assert rig.revived() == [b"m1"]


def test_acknowledgements_of_an_earlier_process_are_read_from_the_queue() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 3, known=False)
    other = rig.pop(3, 1, known=False)
    rig.ack(checkpoint, 0, 2)
    rig.ack(other, 3)
    rig.step(START + 10_000)
    assert rig.revived() == [b"m1"]


def test_an_earlier_process_is_given_the_time_that_the_timer_needs() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 1, known=False)
    rig.step(START + 10_500, delivered_to_ms=START + 9_500)
    assert rig.revived() == []
    rig.ack(checkpoint, 0)
    rig.step(START + 12_000, delivered_to_ms=START + 11_000)
    assert rig.revived() == []
    assert rig.committed() == 0


def test_a_stranger_does_not_hold_up_what_is_known() -> None:
    rig = Rig()
    rig.pop(0, 1, known=False)
    rig.pop(1, 1)
    rig.step(START + 10_000, delivered_to_ms=START)
    assert rig.revived() == [b"m1"]
    assert rig.committed() == -1


def test_nothing_is_committed_before_all_before_it_is_done() -> None:
    rig = Rig()
    rig.pop(0, 1, pop_time=START + 5_000)
    rig.pop(1, 1)
    rig.step(START + 10_000)
    assert rig.revived() == [b"m1"]
    assert rig.committed() == -1
    rig.step(START + 15_000)
    assert rig.revived() == [b"m1", b"m0"]
    assert rig.committed() == 1


def test_nothing_is_committed_before_the_copies_are_on_the_disk() -> None:
    rig = Rig()
    rig.pop(0, 1)
    rig.step(START)
    rig.make_topic(RETRY.decode())
    rig.queue.step(rig.kit.clock.now()._replace(wall_ms=START + 10_000), LONG_AFTER, 10)
    assert rig.committed() == -1
    rig.kit.settle()
    assert rig.committed() == 0


def test_a_step_does_no_more_than_it_may() -> None:
    rig = Rig()
    rig.make_topic(RETRY.decode())
    rig.pop(0, 5)
    rig.kit.settle()
    now = rig.kit.clock.now()._replace(wall_ms=START + 10_000)
    assert rig.queue.step(now, LONG_AFTER, 2) == 2
    assert rig.queue.step(now, LONG_AFTER, 2) == 2
    assert rig.queue.step(now, LONG_AFTER, 2) == 1
    rig.kit.settle()
    assert rig.revived() == [b"m0", b"m1", b"m2", b"m3", b"m4"]


def test_the_next_process_goes_on_behind_what_is_committed() -> None:
    rig = Rig()
    rig.pop(0, 1)
    rig.step(START + 10_000)
    assert rig.committed() == 0
    rig.pop(1, 1, known=False)
    rig.open()
    rig.step(START + 20_000)
    assert rig.revived() == [b"m0", b"m1"]


def test_a_checkpoint_that_the_timer_delivers_twice_counts_once() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 2, known=False)
    rig.pop(0, 2, known=False)
    rig.ack(checkpoint, 0)
    rig.step(START + 10_000)
    assert rig.revived() == [b"m1"]
    assert rig.committed() == 1


def test_a_record_that_is_no_checkpoint_is_passed_over() -> None:
    rig = Rig()
    bad = replace(message(b"{}", topic="revive"), properties={"TAGS": "ck"})
    rig.intake.put(bad, rig.kit.clock.now())
    rig.intake.put(replace(bad, properties={"TAGS": "ack"}), rig.kit.clock.now())
    rig.pop(0, 1, known=False)
    rig.step(START + 10_000)
    assert rig.revived() == [b"m0"]


def test_more_than_one_read_brings_is_read() -> None:
    rig = Rig()
    for number in range(600):
        checkpoint = rig.pop(0, 1, pop_time=START + number, known=False)
        rig.ack(checkpoint, 0)
    rig.pop(5, 1, known=False)
    rig.step(START + 20_000)
    assert rig.revived() == [b"m5"]


def test_records_that_are_not_stored_are_over_with_the_ends_of_their_copies() -> None:
    rig = Rig()
    checkpoint = Checkpoint("Orders", "g", 0, 0, START, 10_000, "b", (0, 1))
    over: list[list[int]] = []
    ack = encode_ack(AckRecord(checkpoint.key, (0,)))
    rig.queue.take_unstored(UnstoredRecord("ck", encode_checkpoint(checkpoint), over.append))
    rig.queue.take_unstored(UnstoredRecord("ack", ack, over.append))
    rig.step(START + 9_999, delivered_to_ms=START + 9_999)
    assert over == [[]]
    rig.step(START + 10_000, delivered_to_ms=START + 10_000)
    assert rig.revived() == [b"m1"]
    assert over == [[], [rig.kit.store.end_offset]]
    assert rig.committed() == -1


def test_an_acknowledgement_that_is_not_stored_counts_for_a_checkpoint_that_is() -> None:
    rig = Rig()
    checkpoint = rig.pop(0, 1, known=False)
    ack = encode_ack(AckRecord(checkpoint.key, (0,)))
    rig.queue.take_unstored(UnstoredRecord("ack", ack, lambda puts: None))
    rig.queue.take_unstored(UnstoredRecord("ack", b"nonsense", lambda puts: None))
    rig.step(START + 10_000)
    assert rig.revived() == []


def test_a_checkpoint_that_comes_twice_is_over_at_once_the_second_time() -> None:
    rig = Rig()
    checkpoint = Checkpoint("Orders", "g", 0, 0, START, 10_000, "b", (0,))
    over: list[list[int]] = []
    for _ in range(2):
        rig.queue.take_unstored(UnstoredRecord("ck", encode_checkpoint(checkpoint), over.append))
    rig.step(START + 10_000)
    assert over[0] == []
    assert rig.revived() == [b"m0"]
