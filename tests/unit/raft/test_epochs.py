"""EpochTable: terms of ranges, and where two logs part."""

import pytest

from aerobee.errors import Misuse
from aerobee.raft.epochs import Epoch, EpochTable, TermEnd, fresh_epochs
from aerobee.raft.membership import voters

THREE, FOUR = voters(1, 2, 3), voters(1, 2, 3, 4)


def table() -> EpochTable:
    return EpochTable(
        (
            Epoch(0, 0, THREE),
            Epoch(0, 1, THREE),
            Epoch(100, 4, THREE),
            Epoch(150, 4, FOUR),
            Epoch(200, 6, FOUR),
        )
    )


@pytest.mark.parametrize(
    ("offset", "term"), [(0, 0), (1, 1), (100, 1), (101, 4), (200, 4), (201, 6), (999, 6)]
)
def test_a_byte_has_the_term_of_the_epoch_that_it_is_in(offset: int, term: int) -> None:
    assert table().term_before(offset) == term


def test_members_count_from_the_record_that_names_them() -> None:
    assert table().members_before(150) == THREE
    assert table().members_before(151) == FOUR
    assert table().members == FOUR


def test_a_voter_that_was_removed_is_known_until_that_lies_before() -> None:
    epochs = EpochTable(
        (Epoch(0, 1, THREE), Epoch(50, 1, voters(1, 2)), Epoch(70, 2, voters(1, 2)))
    )
    assert epochs.has_voted_since(3, 0)
    assert epochs.has_voted_since(3, 50)
    assert not epochs.has_voted_since(3, 51)
    assert epochs.has_voted_since(1, 99)
    assert not epochs.has_voted_since(9, 0)


def test_an_epoch_is_found_by_its_first_byte_only() -> None:
    assert table().begun_at(100) == Epoch(100, 4, THREE)
    assert table().begun_at(101) is None
    assert table().begun_at(0) == Epoch(0, 1, THREE)
    assert EpochTable(fresh_epochs(THREE)).begun_at(0) is None


@pytest.mark.parametrize(("offset", "start"), [(0, 100), (100, 150), (199, 200), (200, None)])
def test_the_next_epoch_begins_behind_an_offset(offset: int, start: int | None) -> None:
    assert table().next_start(offset) == start


@pytest.mark.parametrize(
    ("term", "end"),
    [
        (0, TermEnd(0, 0)),
        (1, TermEnd(1, 100)),
        (3, TermEnd(1, 100)),
        (4, TermEnd(4, 200)),
        (5, TermEnd(4, 200)),
        (6, TermEnd(6, 300)),
        (9, TermEnd(6, 300)),
    ],
)
def test_a_term_ends_where_the_next_begins_or_with_the_log(term: int, end: TermEnd) -> None:
    assert table().end_of(term, 300) == end


def test_terms_before_the_table_have_no_end() -> None:
    assert EpochTable((Epoch(500, 7, THREE),)).end_of(6, 600) is None


def test_a_cut_drops_epochs_at_and_behind_the_end() -> None:
    epochs = table()
    assert epochs.cut(150)
    assert epochs.last_term == 4
    assert epochs.last_start == 100
    assert epochs.members == THREE
    assert not epochs.cut(150)


def test_a_cut_at_the_begin_leaves_what_lay_before_the_log() -> None:
    epochs = table()
    epochs.cut(0)
    assert epochs.saved() == (Epoch(0, 0, THREE),)


def test_retention_leaves_the_term_and_the_members_before_the_new_begin() -> None:
    epochs = table()
    assert epochs.forget_before(170)
    assert epochs.saved() == (Epoch(170, 4, FOUR), Epoch(200, 6, FOUR))
    assert epochs.term_before(170) == 4
    assert not epochs.forget_before(190)


def test_retention_up_to_the_begin_of_an_epoch_keeps_that_epoch() -> None:
    epochs = table()
    assert epochs.forget_before(200)
    assert epochs.saved() == (Epoch(200, 4, FOUR), Epoch(200, 6, FOUR))
    assert epochs.term_before(200) == 4
    assert epochs.term_before(201) == 6


@pytest.mark.parametrize(
    "epoch", [Epoch(250, 5, THREE), Epoch(199, 7, THREE), Epoch(200, 7, THREE)]
)
def test_an_epoch_that_goes_back_or_is_empty_is_refused(epoch: Epoch) -> None:
    with pytest.raises(Misuse, match="behind"):
        table().add(epoch)


def test_a_table_has_an_epoch() -> None:
    with pytest.raises(Misuse, match="without an epoch"):
        EpochTable(())


def test_what_no_leader_has_written_lies_before_the_first_term() -> None:
    assert EpochTable((Epoch(0, 0, THREE), Epoch(70, 3, THREE))).first_term_start() == 70
    assert EpochTable((Epoch(40, 3, THREE), Epoch(70, 4, THREE))).first_term_start() == 40
    assert EpochTable(fresh_epochs(THREE, 9)).first_term_start() == 9
