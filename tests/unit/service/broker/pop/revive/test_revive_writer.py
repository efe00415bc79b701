import pytest

from aerobee.errors import ProtocolError
from aerobee.model.message import StoredMessage, unpack_host
from aerobee.protocol.bodies.revive_records import (
    AckRecord,
    Checkpoint,
    decode_ack,
    decode_checkpoint,
)
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.pop.revive.revive_writer import ReviveWriter
from tests.store_kit import StoreKit, read_all

NOW = 1_700_000_000_000
CHECKPOINT = Checkpoint("Orders", "g", 1, 7, NOW, 10_000, "broker-a", (0, 1))
V4 = bytes((127, 0, 0, 1)) + (10_911).to_bytes(4, "big")
V6 = bytes(15) + b"\x01" + (10_911).to_bytes(4, "big")


class Rig:
    def __init__(self, host: bytes = V4) -> None:
        self.kit = StoreKit()
        self.log = ReviveWriter(
            MessageWriter(self.kit.store, SafeAnswers(self.kit.store, lambda: 5_000), 18),
            "revive",
            host,
        )

    def stored(self) -> list[StoredMessage]:
        self.kit.settle()
        return read_all(self.kit.store, b"revive", 3)


def test_a_checkpoint_is_due_a_second_before_its_messages() -> None:
    rig = Rig()
    rig.log.put_checkpoint(CHECKPOINT, 3, rig.kit.clock.now(), popped_to=9)
    (record,) = rig.stored()
    assert decode_checkpoint(record.body) == CHECKPOINT
    assert record.properties == {
        "TAGS": "ck",
        "TIMER_DELIVER_MS": str(NOW + 9_000),
        "UNIQ_KEY": "Orders@1@7@g@1700000000000@broker-a@ck",
        "POP_TO": "9",
    }
    assert record.born_host == unpack_host(V4)


def test_a_checkpoint_that_moves_no_offset_names_none() -> None:
    rig = Rig()
    rig.log.put_checkpoint(CHECKPOINT, 3, rig.kit.clock.now())
    (record,) = rig.stored()
    assert "POP_TO" not in record.properties


def test_an_acknowledgement_is_due_with_its_messages() -> None:
    rig = Rig()
    ack = AckRecord(CHECKPOINT.key, (8,))
    rig.log.put_ack(ack, 3, NOW + 10_000, rig.kit.clock.now())
    (record,) = rig.stored()
    assert decode_ack(record.body) == ack
    assert record.properties == {
        "TAGS": "ack",
        "TIMER_DELIVER_MS": str(NOW + 10_000),
        "UNIQ_KEY": "Orders@1@8@g@1700000000000@broker-a@ack",
    }


def test_several_acknowledgements_have_the_key_that_apache_gives_them() -> None:
    rig = Rig()
    rig.log.put_ack(AckRecord(CHECKPOINT.key, (7, 8)), 3, NOW, rig.kit.clock.now())
    (record,) = rig.stored()
    assert record.properties["TAGS"] == "bAck"
    assert record.properties["UNIQ_KEY"] == "Orders@1@-1@g@1700000000000@broker-a@ack"


def test_a_broker_of_ipv6_can_write_them() -> None:
    rig = Rig(V6)
    rig.log.put_checkpoint(CHECKPOINT, 3, rig.kit.clock.now())
    (record,) = rig.stored()
    assert record.born_host.address == "::1"


@pytest.mark.parametrize("name", ["g\x01", "g\x02h", "\ud800", "g" * 32_000])
def test_a_name_that_a_record_cannot_hold_is_refused(name: str) -> None:
    rig = Rig()
    with pytest.raises(ProtocolError):
        rig.log.put_ack(
            AckRecord(("Orders", name, 1, 7, NOW, "b"), (8,)), 3, NOW, rig.kit.clock.now()
        )
    assert rig.stored() == []
