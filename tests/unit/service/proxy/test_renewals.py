import pytest

from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.service.proxy.renewals import (
    AHEAD_MS,
    FAILURES_MAX,
    STEPS_MS,
    TOTAL_MS_MAX,
    Renewal,
    RenewalKey,
    Renewals,
)


class Asked:
    """Renewals whose requests are written down."""

    def __init__(self) -> None:
        self.asked: list[tuple[Renewal, int]] = []
        self.outlived: list[Renewal] = []
        self.renewals = Renewals(
            lambda renewal, ms, now: self.asked.append((renewal, ms)),
            lambda renewal, now: self.outlived.append(renewal),
        )

    def tick(self, ms: int) -> list[int]:
        """The invisible times that are asked for at this time."""
        self.asked.clear()
        self.renewals.on_tick(Now(ms, ms))
        return [ms for _, ms in self.asked]


def key(number: int = 0, client: str = "c") -> RenewalKey:
    return (client, "g", "id", 0, number)


def renewal(number: int = 0, client: str = "c", expiry_ms: int = 60_000) -> Renewal:
    return Renewal(key(number, client), ChannelId(1), "t", "handle", 0, expiry_ms)


def test_a_receipt_is_renewed_before_it_expires_and_for_longer_each_time() -> None:
    table = Asked()
    one = renewal()
    table.renewals.add(one)
    assert table.tick(60_000 - AHEAD_MS - 1) == []
    at_ms = 60_000 - AHEAD_MS
    for step_ms in (*STEPS_MS, STEPS_MS[-1]):
        assert table.tick(at_ms) == [step_ms]
        assert table.tick(at_ms) == []  # it is asked for once
        table.renewals.changed(one, f"at {at_ms}", at_ms + step_ms)
        at_ms += step_ms - AHEAD_MS
    assert one.handle.startswith("at ")


def test_a_message_that_takes_too_long_is_not_renewed_any_more() -> None:
    table = Asked()
    one = renewal(expiry_ms=TOTAL_MS_MAX + AHEAD_MS)
    table.renewals.add(one)
    assert table.tick(TOTAL_MS_MAX) == []
    assert len(table.renewals) == 0
    assert table.outlived == [one]


def test_failures_are_repeated_a_few_times() -> None:
    table = Asked()
    one = renewal()
    table.renewals.add(one)
    for times in range(FAILURES_MAX):
        now_ms = 60_000 + times * 1_000
        assert len(table.tick(now_ms)) == 1
        table.renewals.failed(one, Now(now_ms, now_ms), is_final=False)
    assert table.tick(100_000) == []
    assert len(table.renewals) == 0


def test_a_message_that_is_done_with_is_not_renewed() -> None:
    table = Asked()
    table.renewals.add(renewal())
    assert table.renewals.take(key()) is not None
    assert table.renewals.take(key()) is None
    assert table.tick(60_000) == []


def test_the_messages_of_one_client_are_taken_together() -> None:
    table = Asked()
    for number in range(3):
        table.renewals.add(renewal(number))
    table.renewals.add(renewal(0, "other"))
    assert len(table.renewals.take_client("c")) == 3
    assert table.renewals.take_client("c") == []
    assert len(table.renewals.take_all()) == 1
    assert table.renewals.next_ms() == 60_000 - AHEAD_MS


def test_a_refusal_that_is_final_ends_it_at_once() -> None:
    table = Asked()
    one = renewal()
    table.renewals.add(one)
    table.tick(60_000)
    table.renewals.failed(one, Now(60_000, 60_000), is_final=True)
    assert len(table.renewals) == 0
    assert table.tick(62_000) == []


@pytest.mark.parametrize("is_well", [True, False])
def test_what_needs_the_newest_receipt_waits_while_a_broker_is_asked_for_it(
    is_well: bool,
) -> None:
    table, heard = Asked(), list[str]()
    one = renewal()
    table.renewals.add(one)
    table.renewals.when_known(None, lambda: heard.append("at once"))
    table.renewals.when_known(one, lambda: heard.append("known"))
    table.tick(60_000)
    table.renewals.when_known(one, lambda: heard.append(one.handle))
    assert heard == ["at once", "known"]
    if is_well:
        table.renewals.changed(one, "newest", 120_000)
    else:
        table.renewals.failed(one, Now(60_000, 60_000), is_final=True)
    assert heard == ["at once", "known", "newest" if is_well else "handle"]


def test_renewals_that_ended_early_take_no_place_for_long() -> None:
    table = Asked()
    for number in range(50_000):
        table.renewals.add(renewal(number))
        table.renewals.take(key(number))
    left = renewal(50_000)
    table.renewals.add(left)
    assert len(table.renewals._due) < 20_000
    assert table.tick(60_000) == [STEPS_MS[0]]
