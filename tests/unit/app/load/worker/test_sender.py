import asyncio
import time
from pathlib import Path

import pytest

import aerobee
from aerobee.app.load.worker.sender import Sender, reason_of
from aerobee.app.load.workload.job import Job
from aerobee.errors import AerobeeError, Misuse, Refused, SendFailed, Stored, TopicNotFound
from tests.client_kit import LocalCluster
from tests.net_kit import in_loop

RUN = "11" * 8


def test_all_that_is_due_is_sent_and_timed(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=2)
            job = Job(cluster.address, RUN, ["t"], duration=0.2, rate=500.0, in_flight=8)
            sender = Sender([client], job, None)
            await sender.prepare()
            await sender.run(time.monotonic_ns())
            tally = sender.tally
            tally.take_interval()
            assert tally.messages + sender.unsent == 100
            assert tally.latency.count == 100
            assert tally.errors == {}
            assert tally.bytes == tally.messages * 1024
            stats = await client.admin.topics.stats("t")
            stored = sum(queue.max_offset for queue in stats.queues.values())
            assert stored == tally.messages + 1  # and the one before the clock ran

    in_loop(test)


def test_a_count_ends_it_and_batches_are_whole(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=2)
            job = Job(
                cluster.address,
                RUN,
                ["t"],
                duration=60.0,
                count=50,
                batch=8,
                size_max=9,
                size_min=5,
                warm_up=0.05,
            )
            sender = Sender([client], job, b"text of a file")
            await sender.prepare()
            await sender.run(time.monotonic_ns())
            assert sender.tally.messages == 56
            assert sender.unsent == 0

    in_loop(test)


def test_failures_are_counted_and_it_goes_on_until_it_is_stopped(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=1)
            job = Job(cluster.address, RUN, ["t"], duration=60.0, in_flight=2)
            sender = Sender([client], job, None)
            await sender.prepare()
            await client.admin.topics.set_permission("t", 4)  # nobody may write
            running = asyncio.ensure_future(sender.run(time.monotonic_ns()))
            while not sender.tally.errors:
                await asyncio.wait((running,), timeout=0.01)
            sender.stop()
            await running
            assert sum(sender.tally.errors.values()) >= 1

    in_loop(test)


def test_one_who_is_stopped_before_the_start_sends_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            sender = Sender([client], Job(cluster.address, RUN, ["t"], rate=1000.0), None)
            sender.stop()
            await sender.run(time.monotonic_ns())
            assert sender.result()["messages"] == 0

    in_loop(test)


def test_what_is_wrong_shows_before_the_clock_runs(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            LocalCluster(tmp_path, autoCreateTopicEnable="false") as cluster,
            aerobee.connect(cluster.address) as client,
        ):
            with pytest.raises(AerobeeError):
                await Sender([client], Job(cluster.address, RUN, ["nowhere"]), None).prepare()

    in_loop(test)


def test_a_reason_is_that_of_the_answer_and_not_of_the_send() -> None:
    failed = SendFailed("not stored", stored=Stored.NO, attempts=[])
    failed.__cause__ = Refused("too busy", code=2)
    assert reason_of(failed) == "Refused: too busy"
    assert reason_of(Misuse("x" * 500)) == ("Misuse: " + "x" * 500)[:120]
    assert reason_of(TopicNotFound("none", topic="t")) == "TopicNotFound: none"


def test_a_broker_that_cannot_keep_up_makes_what_is_due_later_and_later(tmp_path: Path) -> None:
    async def test() -> None:
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=1)
            job = Job(cluster.address, RUN, ["t"], duration=0.5, rate=200_000.0, in_flight=1)
            sender = Sender([client], job, None)
            await sender.prepare()
            await sender.run(time.monotonic_ns())
            tally = sender.tally
            tally.take_interval()
            # One at a time cannot be so many: the last that was sent had waited for most of it.
            assert sender.unsent > tally.messages > 0
            assert tally.latency.count == tally.messages + sender.unsent == 100_000
            assert tally.late.largest > 250_000_000
            assert tally.latency.percentile(50) > 150_000_000

    in_loop(test)
