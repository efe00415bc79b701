"""Bytes of members and epochs."""

import pytest

from aerobee.raft.epoch_bytes import (
    MEMBERS_MAX,
    decode_epoch,
    decode_members,
    encode_epoch,
    encode_members,
)
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import NOBODY, Member, Members, voters

GROUP = Members((Member(1, "größe:10911", True), Member(2, "", False)))


@pytest.mark.parametrize("members", [NOBODY, GROUP, voters(*range(MEMBERS_MAX))])
def test_members_come_back_as_they_were(members: Members) -> None:
    data = b"in front" + encode_members(members)
    assert decode_members(data, 8) == (members, len(data))


def test_an_epoch_comes_back_as_it_was() -> None:
    epoch = Epoch(2**62, 7, GROUP)
    data = encode_epoch(epoch)
    assert decode_epoch(data + b"behind", 0) == (epoch, len(data))


def test_bytes_that_end_early_are_refused_wherever_they_end() -> None:
    data = encode_epoch(Epoch(5, 7, GROUP))
    for size in range(len(data)):
        with pytest.raises(ValueError, match=r"early|none"):
            decode_epoch(data[:size], 0)


@pytest.mark.parametrize(
    "data",
    [
        (MEMBERS_MAX + 1).to_bytes(2) + bytes(7 * (MEMBERS_MAX + 1)),  # too many
        bytes.fromhex("0001 00000001 02 0000"),  # neither voter nor learner
        bytes.fromhex("0001 00000001 01 0001 ff"),  # no UTF-8
        bytes.fromhex("0002 00000001 01 0000 00000001 01 0000"),  # twice
        bytes.fromhex("0002 00000002 01 0000 00000001 01 0000"),  # out of order
    ],
)
def test_members_that_cannot_be_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_members(data, 0)


def test_negative_epochs_are_refused() -> None:
    with pytest.raises(ValueError, match="an epoch of term 7 at -1"):
        decode_epoch((-1).to_bytes(8, signed=True) + (7).to_bytes(8) + bytes(2), 0)
