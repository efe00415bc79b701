import asyncio
import time

import pytest

from aerobee.app.load.worker.alarm import Alarm
from tests.net_kit import in_loop


@pytest.mark.parametrize("is_precise", [True, False])
def test_it_rings_when_its_moment_has_come_and_not_before(is_precise: bool) -> None:
    async def test() -> None:
        rung: asyncio.Queue[int] = asyncio.Queue()
        alarm = Alarm(lambda: rung.put_nowait(time.monotonic_ns()), is_precise=is_precise)
        assert alarm.is_precise == is_precise
        moment = time.monotonic_ns() + 2_500_000
        alarm.ring_at(moment + 60_000_000_000)
        alarm.ring_at(moment)  # replaces the one before
        # A loop's own timer may be a little early: it counts in milliseconds.
        assert await rung.get() >= moment - (0 if is_precise else 1_500_000)
        alarm.ring_at(0)  # has passed
        await rung.get()
        alarm.close()
        assert rung.empty()

    in_loop(test)
