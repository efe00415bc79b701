import os
import select
from pathlib import Path
from typing import Any

import pytest

import aerobee
from aerobee.app.load.run.fleet import Fleet, LoadFailed
from aerobee.app.load.workload.job import Job
from tests.client_kit import LocalCluster
from tests.net_kit import in_loop

RUN = "11" * 8


def test_a_process_sends_tells_and_stays_until_it_may_go(tmp_path: Path) -> None:
    async def test() -> None:
        ticks: list[dict[str, Any]] = []
        payload = tmp_path / "payload"
        payload.write_bytes(b"some text")
        async with LocalCluster(tmp_path) as cluster, aerobee.connect(cluster.address) as client:
            await client.admin.topics.create("t", queues=1)
            job = Job(
                cluster.address,
                RUN,
                ["t"],
                duration=0.3,
                rate=100.0,
                size_min=5,
                size_max=5,
                payload_path=str(payload),
            )
            async with Fleet([job], lambda _, tick: ticks.append(tick)) as fleet:
                fleet.go()
                (result,) = await fleet.results()
                ended = os.pidfd_open(fleet.pids[0])
                assert select.select([ended], [], [], 0.2)[0] == []  # it can be looked at
                os.close(ended)
            assert result["messages"] + result["unsent"] == 30
            assert sum(tick["messages"] for tick in ticks) == result["messages"]
            assert [tick["number"] for tick in ticks] == sorted(tick["number"] for tick in ticks)
            messages = [await client.receive("t", group="g") for _ in range(3)]
            assert all(message.body in b"some textsome text" for message in messages)

    in_loop(test)


@pytest.mark.parametrize(
    "job",
    [
        Job("127.0.0.1:1", RUN, ["t"]),
        Job("127.0.0.1:1", RUN, ["t"], payload_path="no/such/file"),
    ],
)
def test_what_it_cannot_do_it_says(job: Job) -> None:
    async def test() -> None:
        with pytest.raises(LoadFailed, match=r"127\.0\.0\.1:1|no/such/file"):
            async with Fleet([job], lambda *_: None):
                raise AssertionError("it cannot be ready")

    in_loop(test)
