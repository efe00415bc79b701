import os
import time
from pathlib import Path

from aerobee.app.load.measure.machine_watch import MachineWatch
from aerobee.app.load.measure.proc import Proc
from tests.client_kit import until
from tests.load_kit import BROKER
from tests.net_kit import in_loop


def test_what_is_used_is_of_the_time_between_both_ends() -> None:
    async def test() -> None:
        watch = MachineWatch(Proc(), [])
        assert watch.latest() is None
        began = time.monotonic_ns()
        watch.begin([os.getpid()], began)
        spent = time.process_time()

        async def have_worked() -> None:
            await until(lambda: time.process_time() - spent > 0.05)

        await have_worked()
        used = watch.end()
        assert used.client.is_known
        assert used.client.cores > 0
        assert not used.broker.is_known
        assert 0 < used.seconds <= (time.monotonic_ns() - began) / 1e9
        assert watch.end() is used

    in_loop(test)


def test_a_broker_that_is_gone_is_not_known(tmp_path: Path) -> None:
    async def test() -> None:
        watch = MachineWatch(Proc(tmp_path), [BROKER])
        watch.begin([1], 1 << 62)
        assert not watch.end().broker.is_known

    in_loop(test)
