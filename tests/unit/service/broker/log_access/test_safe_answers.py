"""SafeAnswers: at once, when it is safe, or with the reason why that is not known."""

from dataclasses import replace

import pytest

from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.broker.log_access.safe_answers import SafeAnswers, answer_if_safe
from aerobee.service.request import OK
from aerobee.storage.config import FlushMode
from tests.store_kit import SMALL, StoreKit

TIMEOUT_MS = 3_000


class ScriptedCopies:
    """Slaves that are connected or not."""

    timeout_ms = 2_000
    are_connected = True

    def late_code(self) -> ResponseCode:
        if self.are_connected:
            return ResponseCode.FLUSH_SLAVE_TIMEOUT
        return ResponseCode.SLAVE_NOT_AVAILABLE


class AnswerKit:
    def __init__(self, mode: FlushMode, copies: ScriptedCopies | None = None) -> None:
        self.kit = StoreKit(config=replace(SMALL, flush_mode=mode))
        if copies is not None:
            self.kit.store.confirmation.expect_copies(self.kit.store.end_offset)
        self.answers = SafeAnswers(self.kit.store, lambda: TIMEOUT_MS, copies)
        self.said: list[ResponseCode] = []

    def append(self) -> None:
        self.kit.append_many(1)
        store = self.kit.store
        self.answers.wait(store.end_offset, self.kit.clock.now(), self.said.append)

    def pass_ms(self, ms: int) -> None:
        self.kit.clock.advance(ms)
        self.answers.on_tick(self.kit.clock.now())


def test_an_answer_that_needs_no_disk_is_given_at_once() -> None:
    kit = AnswerKit(FlushMode.ASYNC)
    assert not kit.answers.are_later
    kit.append()
    assert kit.said == [ResponseCode.SUCCESS]


def test_an_answer_waits_for_enough_copies_and_is_given_once() -> None:
    kit = AnswerKit(FlushMode.ASYNC, ScriptedCopies())
    kit.append()
    confirmation = kit.kit.store.confirmation
    assert (kit.said, confirmation.take_released()) == ([], [])
    confirmation.note_copied(kit.kit.store.end_offset)
    for ticket in confirmation.take_released():
        assert callable(ticket)
        ticket(True)
    assert kit.said == [ResponseCode.SUCCESS]
    kit.pass_ms(60_000)
    assert kit.said == [ResponseCode.SUCCESS]


@pytest.mark.parametrize(
    ("are_connected", "code"),
    [(True, ResponseCode.FLUSH_SLAVE_TIMEOUT), (False, ResponseCode.SLAVE_NOT_AVAILABLE)],
)
def test_an_answer_that_waits_too_long_for_copies_says_what_is_missing(
    are_connected: bool, code: ResponseCode
) -> None:
    copies = ScriptedCopies()
    copies.are_connected = are_connected
    kit = AnswerKit(FlushMode.ASYNC, copies)
    kit.append()
    kit.pass_ms(1_999)
    assert kit.said == []
    kit.pass_ms(1)
    assert kit.said == [code]


def test_an_answer_that_waits_too_long_for_the_disk_says_so_whatever_copies_there_are() -> None:
    kit = AnswerKit(FlushMode.SYNC, ScriptedCopies())
    kit.append()
    kit.kit.store.confirmation.note_copied(kit.kit.store.end_offset)
    kit.pass_ms(2_000)
    assert kit.said == [ResponseCode.FLUSH_DISK_TIMEOUT]


def test_late_and_safe_afterwards_is_answered_once() -> None:
    kit = AnswerKit(FlushMode.ASYNC, ScriptedCopies())
    kit.append()
    kit.pass_ms(2_000)
    kit.kit.store.confirmation.note_copied(kit.kit.store.end_offset)
    for ticket in kit.kit.store.confirmation.take_released():
        assert callable(ticket)
        ticket(True)
    assert kit.said == [ResponseCode.FLUSH_SLAVE_TIMEOUT]


def test_doubt_becomes_an_error_with_its_reason() -> None:
    assert answer_if_safe(OK, ResponseCode.SUCCESS, "lost?") is OK
    late = answer_if_safe(OK, ResponseCode.FLUSH_SLAVE_TIMEOUT, "it may not be stored")
    assert late.code is ResponseCode.SYSTEM_ERROR
    assert late.remark == "the slaves take too long: it may not be stored"
