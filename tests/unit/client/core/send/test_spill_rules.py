import pytest

from aerobee.client.core.send.spill_rules import (
    PAUSE_SECONDS,
    PAUSE_SECONDS_MAX,
    SpillRules,
    kept_properties,
    pause_seconds,
)
from aerobee.errors import (
    AerobeeError,
    ConnectionLost,
    Misuse,
    Refused,
    Retriable,
    SendFailed,
    Stored,
    Unreachable,
)


def failed(cause: AerobeeError, stored: Stored = Stored.NO) -> SendFailed:
    failure = SendFailed("x", stored=stored)
    failure.__cause__ = cause
    return failure


def test_outages_are_kept_and_refusals_are_not() -> None:
    rules = SpillRules()
    assert rules.takes(failed(Unreachable("x", address="a")))
    assert rules.takes(failed(Retriable("busy", code=2)))
    assert rules.takes(failed(ConnectionLost("x", address="a"), Stored.UNKNOWN))
    assert not rules.takes(failed(Refused("too large", code=13)))
    assert not rules.takes(failed(Retriable("no permission", code=16)))


def test_what_may_be_stored_already_is_kept_only_if_that_is_wanted() -> None:
    rules = SpillRules(keeps_unknown=False)
    assert rules.takes(failed(Unreachable("x", address="a")))
    assert not rules.takes(failed(ConnectionLost("x", address="a"), Stored.UNKNOWN))


def test_what_waited_longer_than_it_may_is_expired() -> None:
    rules = SpillRules(expire_ms=100)
    assert not rules.is_expired(1000, 1100)
    assert rules.is_expired(1000, 1101)
    assert not SpillRules().is_expired(0, 1 << 50)


def test_a_delay_counts_from_when_the_message_was_kept() -> None:
    kept = kept_properties({"TIMER_DELAY_MS": "500", "TAGS": "a"}, 1000)
    assert kept == {"TIMER_DELIVER_MS": "1500", "TAGS": "a"}
    assert kept_properties({"TAGS": "a"}, 1000) == {"TAGS": "a"}


def test_pauses_grow_up_to_a_limit() -> None:
    pauses = [pause_seconds(failures) for failures in range(1, 40)]
    assert pauses[0] == PAUSE_SECONDS
    assert pauses == sorted(pauses)
    assert pauses[-1] == PAUSE_SECONDS_MAX


def test_a_limit_of_nothing_is_misuse() -> None:
    with pytest.raises(Misuse):
        SpillRules(max_bytes=0)
    with pytest.raises(Misuse):
        SpillRules(expire_ms=0)
