import asyncio
from collections.abc import Iterator

import pytest

from aerobee.console.watch.running_jobs import RunningJobs
from aerobee.model.message_queue import MessageQueue, QueueId
from aerobee.pipeline.progress import QueryProgress
from aerobee.pipeline.progress_page import ProgressPage
from aerobee.pipeline.source.stream_offsets import as_dict

QUEUE = MessageQueue("orders", "broker-a", QueueId(1))


def report(batch: int, at: int) -> dict[str, object]:
    return {
        "id": "q",
        "name": "totals",
        "batchId": batch,
        "batchDuration": 250,
        "numInputRows": 100,
        "sources": [{"endOffset": as_dict({QUEUE: at}), "latestOffset": as_dict({QUEUE: 1_000})}],
    }


@pytest.fixture
def progress() -> QueryProgress:
    return QueryProgress()


@pytest.fixture
def page(progress: QueryProgress) -> Iterator[str]:
    """The page that a running job shows."""
    shown = ProgressPage(progress.text, 0)
    yield f"127.0.0.1:{shown.port}"
    shown.close()


def test_a_query_is_known_by_its_page_of_metrics(progress: QueryProgress, page: str) -> None:
    seconds = [0.0]
    jobs = RunningJobs([page], lambda: seconds[0])
    progress.took(report(0, 100))
    (query,), problems = asyncio.run(jobs.look())
    assert problems == {}
    told = query.record()
    assert (told["name"], told["batches"], told["rows"], told["lag"]) == ("totals", 1, 100, 900)
    assert (told["batch_seconds"], told["rows_a_second"]) == (0.25, None)
    place = {"topic": "orders", "broker": "broker-a", "queue": 1}
    assert told["queues"] == [{**place, "offset": 100, "lag": 900}]
    progress.took(report(1, 200))
    seconds[0] = 2.0
    (query,), _ = asyncio.run(jobs.look())
    assert query.rows_a_second == 50.0


def test_a_page_that_does_not_answer_is_said() -> None:
    queries, problems = asyncio.run(RunningJobs(["127.0.0.1:1"]).look())
    assert queries == []
    assert "does not answer" in problems["127.0.0.1:1"]
