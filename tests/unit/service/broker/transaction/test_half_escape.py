import logging

import pytest

from aerobee.errors import DiskFull
from aerobee.service.broker.transaction.half_escape import HALVES_A_TICK, LOOK_MS_MAX, HalfEscape
from tests.transaction_kit import HALF, TIMEOUT_MS, Book


class Rig(Book):
    """A ledger whose halves are moved; `moved` are those in the half topic behind the first."""

    def __init__(self) -> None:
        super().__init__()
        self.escape = HalfEscape(self.ledger)

    def look(self, ms: int) -> None:
        self.show()
        self.escape.on_tick(self.clock.advance(ms))
        self.show()

    def show(self) -> None:
        self.store.sync()
        self.store.dispatch()


def test_a_half_is_moved_when_it_would_be_checked_and_not_before() -> None:
    rig = Rig()
    rig.begin(b"order")
    rig.look(TIMEOUT_MS // 2)
    assert rig.escape.moved == 0
    rig.look(TIMEOUT_MS // 2)
    assert (rig.escape.moved, len(rig.ledger.halves)) == (1, 0)
    assert [one.body for one in rig.messages(HALF)] == [b"order", b"order"]
    rig.ledger.on_tick(rig.clock.now())
    assert rig.ledger.progress.half_offset == 1, "the copy is not counted: it is elsewhere"


def test_a_tick_moves_a_bounded_number_and_the_next_one_the_rest() -> None:
    rig = Rig()
    for _ in range(HALVES_A_TICK + 1):
        rig.begin(b"order")
    rig.look(TIMEOUT_MS)
    assert rig.escape.moved == HALVES_A_TICK
    assert rig.escape.rest_ms(rig.clock.now()) == 0
    rig.look(1)
    assert rig.escape.moved == HALVES_A_TICK + 1


def test_a_half_that_nobody_takes_waits_and_that_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig()
    rig.begin(b"order")
    rig.show()
    rig.store.refuse_appends(DiskFull("no master"))
    with caplog.at_level(logging.WARNING):
        rig.look(TIMEOUT_MS)
        rig.look(LOOK_MS_MAX)
    assert (len(rig.ledger.halves), len(caplog.messages)) == (1, 1)
    rig.store.refuse_appends(None)
    rig.look(LOOK_MS_MAX)
    assert rig.escape.moved == 1
