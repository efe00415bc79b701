import os
import sys
from typing import Any

import pytest

from aerobee.app.load.run.fleet import Fleet, LoadFailed
from aerobee.app.load.workload.job import Job
from tests.net_kit import in_loop

JOB = Job("host:1", "00" * 8, ["t"])

GOOD = """
import json, sys
def say(what): print(json.dumps(what), flush=True)
job = json.loads(sys.stdin.readline())
say({"ready": True})
words = sys.stdin.readline().split() or sys.exit()
say({"tick": {"number": 0, "share": job["share"]}})
while sys.stdin.readline().strip() not in ("stop", ""): pass
say({"result": {"go": int(words[1]), "share": job["share"]}})
sys.stdin.read()
"""


def command(program: str) -> list[str]:
    return [sys.executable, "-c", program]


def test_workers_are_let_go_together_heard_and_ended() -> None:
    async def test() -> None:
        heard: list[tuple[int, dict[str, Any]]] = []
        jobs = [Job("host:1", "00" * 8, ["t"], share=number, of=2) for number in range(2)]
        async with Fleet(
            jobs, lambda number, tick: heard.append((number, tick)), command=command(GOOD)
        ) as fleet:
            start = fleet.go()
            fleet.measure_from(start)
            fleet.stop()
            results = await fleet.results()
            pids = fleet.pids
            assert all(os.path.exists(f"/proc/{pid}") for pid in pids)  # can still be looked at
        assert results == [{"go": start, "share": 0}, {"go": start, "share": 1}]
        assert sorted((number, tick["share"]) for number, tick in heard) == [(0, 0), (1, 1)]
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)

    in_loop(test)


@pytest.mark.parametrize(
    ("program", "message", "hint"),
    [
        ('print(\'{"error": {"message": "no broker", "hint": "start one"}}\')', "no broker", "sta"),
        ("raise SystemExit('out of luck')", "out of luck", "one process"),
        ("pass", "silently", "one process"),
        ("print('{}')", "not that it is ready", ""),
    ],
)
def test_one_that_cannot_begin_is_said_and_none_is_left(
    program: str, message: str, hint: str
) -> None:
    async def test() -> None:
        fleet = Fleet([JOB, JOB], lambda *_: None, command=command(program))
        with pytest.raises(LoadFailed, match=message) as caught:
            await fleet.__aenter__()
        assert hint in caught.value.hint
        assert not any(os.path.exists(f"/proc/{pid}") for pid in fleet.pids)

    in_loop(test)


def test_one_that_dies_while_it_runs_is_said() -> None:
    async def test() -> None:
        program = (
            "import sys; sys.stdin.readline(); print('{\"ready\": 1}', flush=True); "
            "sys.stdin.readline(); sys.exit('it broke')"
        )
        async with Fleet([JOB], lambda *_: None, command=command(program)) as fleet:
            fleet.go()
            with pytest.raises(LoadFailed, match="it broke"):
                await fleet.results()
            fleet.stop()

    in_loop(test)


def test_one_that_does_not_end_is_killed() -> None:
    async def test() -> None:
        program = "import signal; print('{\"ready\": 1}', flush=True); signal.pause()"
        async with Fleet(
            [JOB], lambda *_: None, command=command(program), end_seconds=0.1
        ) as fleet:
            pids = fleet.pids
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)

    in_loop(test)


def test_leaving_early_leaves_no_process() -> None:
    async def test() -> None:
        async with Fleet([JOB], lambda *_: None, command=command(GOOD)) as fleet:
            pids = fleet.pids
        assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)

    in_loop(test)
