import asyncio
import time
from pathlib import Path

import aerobee
from aerobee.app.load.worker.receiver import Receiver
from aerobee.app.load.workload.bodies import stamped
from aerobee.app.load.workload.job import Job
from tests.client_kit import LocalCluster
from tests.net_kit import in_loop

RUN = "11" * 8


async def until_received(receiver: Receiver, count: int, running: "asyncio.Future[None]") -> None:
    while receiver.tally.messages < count and not running.done():
        await asyncio.wait((running,), timeout=0.01)


def test_messages_are_counted_and_positions_known(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=2)
            await client.send_batch("t", [b"0123456789"] * 20)
            receiver = Receiver([client], Job(cluster.address, RUN, ["t"], consumers=[("t", "g")]))
            running = asyncio.ensure_future(receiver.run(time.monotonic_ns()))
            await until_received(receiver, 20, running)
            assert receiver.owned == 2
            receiver.stop()
            receiver.stop()
            await running
            said = receiver.result()
            assert (said["messages"], said["bytes"]) == (20, 200)
            assert said["latency"]["count"] == 0

    in_loop(test)


def test_only_messages_of_this_run_that_were_due_in_time_are_timed(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=1)
            run = bytes.fromhex(RUN)
            now = time.monotonic_ns()
            await client.send("t", stamped(b"another.", now, bytes(20)))
            await client.send("t", stamped(run, now - 1000, bytes(20)))  # before it is measured
            await client.send("t", stamped(run, now + 5, bytes(20)))
            job = Job(cluster.address, RUN, ["t"], is_stamped=True, consumers=[("t", "g")])
            receiver = Receiver([client], job)
            receiver.measure_from(now)
            running = asyncio.ensure_future(receiver.run(now))
            await until_received(receiver, 1, running)
            assert receiver.position >= 2
            receiver.stop()
            await running
            receiver.tally.take_interval()
            assert (receiver.tally.messages, receiver.tally.latency.count) == (1, 1)

    in_loop(test)


def test_one_who_is_stopped_before_the_start_receives_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            receiver = Receiver([client], Job(cluster.address, RUN, ["t"], consumers=[("t", "g")]))
            receiver.stop()
            await receiver.run(time.monotonic_ns())
            assert receiver.owned == 0

    in_loop(test)
