"""Positions in order, and states that survive being written down."""

import pytest

from aerobee.pipeline.capture.errors import CaptureError
from aerobee.pipeline.capture.position import CaptureState, Phase, Position, sequence


def test_files_are_in_the_order_of_their_numbers() -> None:
    assert Position("binlog.999999", 9).is_before(Position("binlog.1000000", 4))
    assert not Position("b.000002", 4).is_before(Position("b.000002", 4))
    assert sequence(1, Position("b.999999", 9), 0) < sequence(1, Position("b.1000000", 4), 0)


def test_a_new_epoch_is_after_everything() -> None:
    assert sequence(1, Position("b.000900", 10**9), 7) < sequence(2, Position("b.000001", 4), 0)


def test_a_state_can_be_read_back() -> None:
    state = CaptureState(
        "shop",
        Position("b.000001", 4),
        3,
        Phase.STREAMING,
        frozenset({"shop.a"}),
        {"shop.b": [7, "x"]},
        12,
        0.5,
        "me",
        17,
        18,
    )
    assert CaptureState.from_json(state.to_json()) == state


def test_a_table_that_is_done_is_read_no_more() -> None:
    state = CaptureState("shop", Position("b.1", 4)).table_read_to("a", [1]).table_read_to("b", [2])
    done = state.table_done("a")
    assert done.done == {"a"}
    assert done.reading == {"b": [2]}
    assert done.table_undone("a").done == frozenset()


@pytest.mark.parametrize("body", [b"", b"[]", b'{"format":1}', b'{"format":2}'])
def test_what_is_no_state_says_what_to_do(body: bytes) -> None:
    with pytest.raises(CaptureError) as raised:
        CaptureState.from_json(body)
    assert "--name" in raised.value.hint
