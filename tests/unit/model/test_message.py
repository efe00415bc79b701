import dataclasses

import pytest

from aerobee.model.flags import TransactionType
from aerobee.model.message import Host, StoredMessage, unpack_host
from aerobee.model.message_queue import LogOffset, QueueId, QueueOffset

STORED = StoredMessage(
    topic="orders",
    queue_id=QueueId(1),
    queue_offset=QueueOffset(7),
    log_offset=LogOffset(4096),
    body=b"x",
    properties={},
    born_timestamp=1,
    born_host=Host("127.0.0.1", 50000),
    store_timestamp=2,
    store_host=Host("192.168.1.10", 10911),
)


def test_the_id_that_users_see_is_the_senders_if_it_gave_one() -> None:
    assert STORED.unique_id == ""
    assert STORED.message_id == STORED.offset_message_id == "C0A8010A00002A9F0000000000001000"
    named = dataclasses.replace(STORED, properties={"UNIQ_KEY": "7F00"})
    assert named.message_id == named.unique_id == "7F00"
    assert named.offset_message_id == STORED.offset_message_id


def test_tag_and_keys_come_from_the_properties() -> None:
    message = dataclasses.replace(STORED, properties={"TAGS": "a", "KEYS": " k1  k2 "})
    assert message.tag == "a"
    assert message.keys == ("k1", "k2")
    assert STORED.tag == ""
    assert STORED.keys == ()


def test_the_transaction_type_comes_from_the_flag() -> None:
    assert STORED.transaction_type is TransactionType.NONE
    half = dataclasses.replace(STORED, sys_flag=0x4)
    assert half.transaction_type is TransactionType.PREPARED


@pytest.mark.parametrize(
    ("packed", "host"),
    [
        (bytes((10, 0, 0, 9, 0, 0, 0x2A, 0x9F)), Host("10.0.0.9", 10911)),
        (bytes(15) + b"\x01" + bytes((0, 0, 0, 80)), Host("::1", 80)),
        (bytes(4) + b"\xff\xff\xff\xff", Host("0.0.0.0", -1)),
    ],
)
def test_a_host_is_an_address_and_a_port_of_four_bytes(packed: bytes, host: Host) -> None:
    assert unpack_host(packed) == host
