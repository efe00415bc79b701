"""The state file: what a power cut leaves of it, and what damage is noticed."""

import pytest

from aerobee.errors import CorruptFile
from aerobee.raft.epochs import Epoch
from aerobee.raft.membership import Member, Members, voters
from aerobee.raft.saved_state import SavedState, first_state
from aerobee.raft.state_file import decode_state, encode_state, load_state, save_state
from aerobee.sim.disk import SimDisk

PATH = "store/raft"
GROUP = Members((Member(1, "a:10912", True), Member(2, "b:10912", False)))
OLD = SavedState(6, 1, (Epoch(0, 0, GROUP), Epoch(0, 5, GROUP)))
NEW = SavedState(7, None, (*OLD.epochs, Epoch(900, 7, GROUP)))


@pytest.mark.parametrize("state", [OLD, NEW, first_state(), first_state(voters(1, 2, 3), 40)])
def test_a_state_comes_back_as_it_was(state: SavedState) -> None:
    assert decode_state(encode_state(state)) == state


def test_a_node_without_a_file_has_no_state() -> None:
    assert load_state(SimDisk(), PATH) is None


def test_a_saved_state_is_loaded() -> None:
    disk = SimDisk()
    disk.make_directory("store")
    save_state(disk, PATH, OLD)
    save_state(disk, PATH, NEW)
    assert load_state(disk, PATH) == NEW


def test_no_flipped_bit_goes_unnoticed() -> None:
    data = encode_state(OLD)
    for bit in range(8 * len(data)):
        wrong = bytearray(data)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match=r"state|checksum"):
            decode_state(bytes(wrong))


def test_no_state_that_ends_early_or_late_is_believed() -> None:
    data = encode_state(OLD)
    for wrong in (*(data[:size] for size in range(len(data))), data + b"\0"):
        with pytest.raises(ValueError, match=r"state|checksum"):
            decode_state(wrong)


@pytest.mark.parametrize(
    "state",
    [
        SavedState(4, None, OLD.epochs),  # an epoch of a later term
        SavedState(-1, None, first_state().epochs),
        SavedState(3, -2, first_state().epochs),
        SavedState(9, None, (OLD.epochs[1], OLD.epochs[0])),  # out of order
        SavedState(9, None, ()),
    ],
)
def test_a_state_that_cannot_be_is_not_believed(state: SavedState) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_state(encode_state(state))


def test_damage_is_an_error_with_the_name_of_the_file_and_a_way_out() -> None:
    disk = SimDisk()
    disk.make_directory("store")
    disk.replace(PATH, encode_state(OLD)[:-1])
    with pytest.raises(CorruptFile, match=r"store/raft.*add it again"):
        load_state(disk, PATH)
