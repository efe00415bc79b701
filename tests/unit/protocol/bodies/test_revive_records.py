import pytest

from aerobee.errors import ProtocolError
from aerobee.protocol.bodies.revive_records import (
    RUN_MAX,
    AckRecord,
    Checkpoint,
    decode_ack,
    decode_checkpoint,
    encode_ack,
    encode_checkpoint,
)

# As Apache's broker 5.5.0 wrote them.
CHECKPOINT = (
    b'{"bm":0,"bn":"broker-a","c":"fix-pop","d":[0,1,3],"it":10000,"n":3,"pt":1794734407083,'
    b'"q":1,"reviveTime":1794734417083,"ro":0,"so":7,"sp":false,"t":"FixPop"}'
)
ACK = b'{"ao":8,"bn":"broker-a","c":"fix-pop","pt":1794734407083,"q":1,"so":7,"t":"FixPop"}'
KEY = ("FixPop", "fix-pop", 1, 7, 1_794_734_407_083, "broker-a")


def test_a_checkpoint_of_apache_is_read_and_written_again() -> None:
    checkpoint = decode_checkpoint(CHECKPOINT)
    assert checkpoint == Checkpoint(
        "FixPop", "fix-pop", 1, 7, 1_794_734_407_083, 10_000, "broker-a", (0, 1, 3)
    )
    assert checkpoint.key == KEY
    assert encode_checkpoint(checkpoint) == CHECKPOINT


def test_an_acknowledgement_of_apache_is_read_and_written_again() -> None:
    assert decode_ack(ACK) == AckRecord(KEY, (8,))
    assert encode_ack(AckRecord(KEY, (8,))) == ACK


def test_several_acknowledgements_are_a_list() -> None:
    body = encode_ack(AckRecord(KEY, (7, 10)))
    assert body.startswith(b'{"ao":-1,"aol":[7,10],"bn":"broker-a"')
    assert decode_ack(body) == AckRecord(KEY, (7, 10))


@pytest.mark.parametrize("name", ['a"b', "a\\b", "日本", "a\x07b"])
def test_a_name_with_any_characters_is_written_so_that_it_is_read(name: str) -> None:
    checkpoint = Checkpoint(name, name, 1, 7, 1, 2, name, (0, 1), True)
    assert decode_checkpoint(encode_checkpoint(checkpoint)) == checkpoint
    ack = AckRecord(checkpoint.key, (7, 8))
    assert decode_ack(encode_ack(ack)) == ack


@pytest.mark.parametrize("name", [b"cId", b"cid"])
def test_a_group_is_found_under_every_name_that_apache_may_give_it(name: bytes) -> None:
    body = CHECKPOINT.replace(b'"c":', b'"' + name + b'":')
    assert decode_checkpoint(body).group == "fix-pop"


def test_a_checkpoint_without_distances_is_a_run_without_gaps() -> None:
    body = CHECKPOINT.replace(b'"d":[0,1,3],', b"")
    assert decode_checkpoint(body).distances == (0, 1, 2)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"n":3', b'"n":0'),
        (b'"n":3', b'"n":%d' % (RUN_MAX + 1)),
        (b'"n":3', b'"n":2'),
        (b"[0,1,3]", b'[0,1,"x"]'),
        (b'"c":"fix-pop",', b""),
        (b'"t":"FixPop"', b'"t":7'),
        (b"}", b""),
    ],
)
def test_a_checkpoint_that_does_not_say_what_it_should_is_refused(old: bytes, new: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_checkpoint(CHECKPOINT.replace(old, new))
