from aerobee.errors import StoreBusy
from aerobee.model.message import StoredMessage
from aerobee.protocol.bodies.revive_records import decode_ack
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.pop.ack.ack_writer import AckWriter
from aerobee.service.broker.pop.revive.in_flight import InFlight
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from aerobee.service.request import Answer
from aerobee.storage.config import FlushMode
from tests.store_kit import SMALL, SMALL_SYNC, StoreKit, read_all

HOST = bytes((127, 0, 0, 1)) + (10_911).to_bytes(4, "big")
NOW = 1_700_000_000_000
KEY = ("Orders", "g", 0, 7, NOW, "b")
OTHER = ("Orders", "g", 0, 39, NOW, "b")


class Rig:
    def __init__(self, *, is_sync: bool = False) -> None:
        config = SMALL_SYNC if is_sync else SMALL
        self.kit = StoreKit(config=config)
        intake = MessageWriter(self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), 18)
        self.in_flight = InFlight()
        self.acks = AckWriter(ReviveWriter(intake, "revive", HOST), intake, self.in_flight)
        self.told: list[Answer] = []

    def add(self, *offsets: int, key: tuple[str, str, int, int, int, str] = KEY) -> None:
        self.acks.add(key, 3, NOW + 10_000, offsets, self.told.append)

    def settle(self) -> None:
        self.acks.settle(self.kit.clock.now())

    def stored(self) -> list[StoredMessage]:
        self.kit.settle()
        return read_all(self.kit.store, b"revive", 3)

    def codes(self) -> list[ResponseCode]:
        return [answer.code for answer in self.told]


def test_what_one_turn_brings_for_one_checkpoint_is_one_record() -> None:
    rig = Rig()
    rig.add(7)
    rig.add(8)
    rig.add(9, 8)
    rig.add(39, key=OTHER)
    assert rig.told == []
    rig.settle()
    assert [decode_ack(one.body).offsets for one in rig.stored()] == [(7, 8, 9), (39,)]
    assert rig.codes() == [ResponseCode.SUCCESS] * 4


def test_the_next_turn_has_a_record_of_its_own() -> None:
    rig = Rig()
    rig.add(7)
    rig.settle()
    rig.add(8)
    rig.settle()
    rig.settle()
    assert [decode_ack(one.body).offsets for one in rig.stored()] == [(7,), (8,)]


def test_with_synchronous_flush_the_answer_waits_for_the_disk() -> None:
    rig = Rig(is_sync=True)
    assert rig.kit.config.flush_mode is FlushMode.SYNC
    rig.add(7)
    rig.settle()
    assert rig.told == []
    for ticket in rig.kit.settle():
        assert callable(ticket)
        ticket(True)
    assert rig.codes() == [ResponseCode.SUCCESS]


def test_memory_knows_what_is_acknowledged_once_it_is_stored() -> None:
    rig = Rig()
    rig.in_flight.started(KEY, 31)
    rig.add(8)
    assert not rig.in_flight.is_acked(KEY, 1)
    rig.settle()
    assert rig.in_flight.is_acked(KEY, 1)


def test_what_the_store_does_not_take_is_not_called_acknowledged() -> None:
    rig = Rig()
    rig.kit.store.appender.refusal = StoreBusy("the disk is behind")
    rig.in_flight.started(KEY, 31)
    rig.add(7)
    rig.add(8)
    rig.settle()
    assert rig.codes() == [ResponseCode.SYSTEM_BUSY] * 2
    assert not rig.in_flight.is_acked(KEY, 0)


def test_a_name_that_cannot_be_written_is_refused() -> None:
    rig = Rig()
    rig.add(7, key=("Orders", "g\x01", 0, 7, NOW, "b"))
    rig.settle()
    assert rig.codes() == [ResponseCode.SYSTEM_ERROR]
