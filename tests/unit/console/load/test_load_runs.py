import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aerobee.app.load.workload.workload import Workload
from aerobee.console.http.problem import Problem
from aerobee.console.load.load_runs import FOLDER, RESULTS_MAX, LoadRuns

RESULT = {"figures": {}, "series": [1], "histograms": {}, "usage": {}}


@pytest.fixture
def worker() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


def keep(folder: Path, name: str, text: str) -> None:
    (folder / FOLDER).mkdir(exist_ok=True)
    (folder / FOLDER / f"{name}.json").write_text(text)


def test_results_are_read_the_newest_first_and_what_is_none_is_passed_over(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    for number in range(3):
        name = f"20260101-00000{number}-abcd"
        keep(tmp_path, name, json.dumps({**RESULT, "name": name}))
    keep(tmp_path, "20260101-000009-abcd", "{")
    keep(tmp_path, "other", json.dumps(RESULT))
    runs = LoadRuns("127.0.0.1:1", str(tmp_path), worker)

    async def live() -> None:
        found = await runs.results()
        assert [one["name"][14] for one in found] == ["2", "1", "0"]
        assert "series" not in found[0]
        assert (await runs.result("20260101-000001-abcd"))["series"] == [1]
        await runs.delete("20260101-000001-abcd")
        assert len(await runs.results()) == 2
        for name in ("20260101-000001-abcd", "../users", "other"):
            with pytest.raises(Problem):
                await runs.result(name)

    asyncio.run(live())


def test_a_run_that_cannot_begin_says_why_and_another_one_may_follow(
    tmp_path: Path, worker: ThreadPoolExecutor
) -> None:
    async def live() -> None:
        runs = LoadRuns("127.0.0.1:1", str(tmp_path), worker)
        with pytest.raises(Problem, match="no load test"):
            runs.stop()
        for _ in range(2):
            run = runs.start(Workload())
            with pytest.raises(Problem, match="under way"):
                runs.start(Workload())
            told = [one.record() async for one, _ in runs.points()]
            assert told[-1]["said"] == "failed"
            assert "127.0.0.1:1" in run.problem
            await runs.close()
        assert await runs.results() == []

    asyncio.run(live())


def test_no_more_results_are_kept_than_promised(tmp_path: Path, worker: ThreadPoolExecutor) -> None:
    for number in range(RESULTS_MAX + 5):
        keep(tmp_path, f"20260101-{number:06}-abcd", json.dumps(RESULT))
    runs = LoadRuns("127.0.0.1:1", str(tmp_path), worker)
    runs._write("20260102-000000-abcd", RESULT)
    assert len(list((tmp_path / FOLDER).iterdir())) == RESULTS_MAX
