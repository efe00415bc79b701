import os
import time
from dataclasses import replace
from pathlib import Path

from aerobee.app.load.measure.machine_watch import MachineWatch
from aerobee.app.load.measure.proc import Proc
from tests.client_kit import turns, until
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


def thread(root: Path, pid: int, state: str) -> None:
    folder = root / f"{pid}/task/{pid}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stat").write_text(f"{pid} (broker) {state} 1 7 7 0 -1 4194560 100")


def test_the_broker_that_waits_longest_for_its_disk_is_what_counts(tmp_path: Path) -> None:
    async def test() -> None:
        other = replace(BROKER, name="broker-b", pid=78)
        thread(tmp_path, 77, "D")
        thread(tmp_path, 78, "S")
        watch = MachineWatch(Proc(tmp_path), [other, BROKER])
        watch.begin([1], 0)
        await turns(3)
        assert watch.end().disk_waited == 1.0
        assert watch.broker_names == ["broker-a", "broker-b"]

    in_loop(test)


def test_a_broker_that_waited_for_its_disk_once_did_not_always(tmp_path: Path) -> None:
    async def test() -> None:
        thread(tmp_path, 77, "D")
        watch = MachineWatch(Proc(tmp_path), [BROKER])
        watch.begin([1], 0)
        await turns(3)
        thread(tmp_path, 77, "S")
        limit = time.monotonic() + 0.2  # several samples
        await until(lambda: time.monotonic() > limit)
        await turns(3)
        assert 0.0 < watch.end().disk_waited <= 0.5

    in_loop(test)


def test_brokers_of_one_process_are_named_together(tmp_path: Path) -> None:
    watch = MachineWatch(Proc(tmp_path), [BROKER, replace(BROKER, name="broker-b")])
    assert watch.broker_names == ["broker-a, broker-b"]
