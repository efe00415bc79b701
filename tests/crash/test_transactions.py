"""A crash at every step of a transaction: nothing is lost, nothing that was rolled back is seen.

A producer begins transactions and ends some of them; it is asked about the others, and does not
always answer. At every disk job and after every tick the process is killed and the power is cut;
another broker goes on with what is left, asks, and is told the same as the first would have been.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from aerobee.service.broker.config import BrokerConfig
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode
from tests.broker_kit import STORAGE, BrokerKit
from tests.crash.moments import judge_every_moment
from tests.transaction_kit import (
    COMMIT,
    END,
    GIVEN_UP,
    GROUP,
    HALF,
    ORDERS,
    ROLLBACK,
    Begun,
    begin,
    checks,
    end_fields,
    join,
    open_ones,
)

CONFIG = BrokerConfig(
    transaction_timeout_ms=200,
    transaction_check_interval_ms=100,
    transaction_checks_max=3,
    offsets_interval_ms=100,
)
SHARE = 0.05
"""Of the states that a power cut can leave at each moment."""
OUTCOMES = {"c": COMMIT, "r": ROLLBACK}
"""What a producer knows, by the first letter of an id; of `u` it knows nothing."""


class Story:
    """A broker, its producer, and what that was told."""

    def __init__(self, mode: FlushMode) -> None:
        self.storage = replace(STORAGE, flush_mode=mode, log_file_bytes=1 << 14)
        self.kit = BrokerKit(ORDERS, config=CONFIG, storage=self.storage)
        self.kit.beat("c", producer=GROUP)
        self.sent: list[str] = []
        self.rolled_back: set[str] = set()
        """It was told so."""

    def run(self) -> Iterator[str]:
        """Every moment, by name."""
        kit = self.kit
        halves: dict[str, Begun] = {}
        for name in ("c1", "r1", "u1", "c2", "r2"):
            halves[name] = begin(kit, name.encode(), name)
            self.sent.append(name)
        yield "all begun"
        for name in ("c1", "r1"):
            kit.tell(END, end_fields(halves[name], OUTCOMES[name[0]]))
            for moment in self._let_pass(2):
                yield f"{name} ends: {moment}"
            (answer,) = kit.heard()
            assert answer.code == 0
            if name == "r1":
                self.rolled_back.add(name)
        # The rest is asked about, and only of some it is known what became of them.
        for number in range(8):
            kit.clock.advance(100)
            for moment in self._let_pass(1):
                yield f"round {number}: {moment}"
            for check in checks(kit):
                name = check.message.unique_id
                if name[0] in OUTCOMES:
                    kit.tell(END, end_fields(check.begun(), OUTCOMES[name[0]]), flag=2)
        yield "over"

    def _let_pass(self, ticks: int) -> Iterator[str]:
        """Tick by tick, disk job by disk job."""
        for tick in range(ticks):
            self.kit.tick(5)
            yield f"tick {tick}"
            job = 0
            while self.kit.worker.run_next():
                self.kit.tick()
                yield f"tick {tick}, job {job}"
                job += 1


def go_on(kit: BrokerKit) -> None:
    """Up to the end of every transaction."""
    join(kit)
    for _ in range(30):
        kit.run(100, 50)
        for check in checks(kit):
            outcome = OUTCOMES.get(check.message.unique_id[0])
            if outcome is not None:
                fields = end_fields(check.begun(), outcome, fromTransactionCheck="true")
                kit.tell(END, fields, flag=2)
        kit.finish()
        if open_ones(kit).open_count == 0:
            return
    raise AssertionError(f"still open: {open_ones(kit)}")


def judge(story: Story, survivor: SimDisk, *, has_all: bool) -> None:
    """Another process goes on with what is left; `has_all`: that is everything that was
    acknowledged."""
    now = story.kit.clock.now()
    clock = SimClock(now.wall_ms, now.monotonic_ms)
    kit = BrokerKit(disk=survivor, config=CONFIG, storage=story.storage, clock=clock)
    left = {message.unique_id for message in kit.messages(HALF)}
    if has_all:
        assert left == set(story.sent)
        still_open = {one.message_id for one in open_ones(kit).transactions}
        assert not still_open & story.rolled_back, "it was told that this is over"
    go_on(kit)
    seen = Counter(body.decode() for body in kit.bodies(queue_id=1))
    given_up = Counter(body.decode() for body in kit.bodies(GIVEN_UP))
    assert set(seen) == {name for name in left if name[0] == "c"}
    assert set(given_up) == {name for name in left if name[0] == "u"}
    # Once before the crash, once after it.
    assert all(count <= 2 for count in (seen | given_up).values()), (seen, given_up)


@pytest.mark.parametrize("mode", FlushMode)
def test_at_every_step_of_a_transaction_a_crash_loses_nothing_and_undoes_no_rollback(
    mode: FlushMode,
) -> None:
    story = Story(mode)
    assert judge_every_moment(story, judge, mode, SHARE) > 15
    assert sorted(story.kit.bodies(queue_id=1)) == [b"c1", b"c2"]
    assert story.kit.bodies(GIVEN_UP) == [b"u1"]
