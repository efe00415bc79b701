"""Runs a job from start to end: opens a session, follows the query, and stops it cleanly.

A signal stops the query where it is: an unfinished batch is repeated at the next start, from the
checkpoint. A run reports only through `Watcher`, so that a terminal, a log and a test can each show
it in their own form.
"""

import contextlib
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from aerobee.pipeline.jobs.job import Chosen, Job, JobOutcome
from aerobee.pipeline.jobs.shown_progress import Watcher, shown_progress
from aerobee.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_SECONDS = 0.5

Stop = Callable[[], bool]


def run_job(
    job: Job, chosen: Chosen, watcher: Watcher, *, master: str, log: Path | None = None
) -> JobOutcome:
    """Run a job until it has ended or a signal comes. Exceptions of Spark pass through."""
    watcher.step(f"starting Spark on {master}")
    settings = {**local_settings(master), **chosen.spark}
    spark = spark_session(f"aerobee {job.name}", master=master, settings=settings, log=log)
    try:
        with stopping_signals() as is_stopped:
            watcher.step(f"{job.name} runs" + ("; Ctrl-C stops it" if job.is_stream else ""))
            if not job.is_stream:
                with _watched_tasks(spark, watcher):
                    return job.start(spark, chosen)
            with shown_progress(job.name, chosen, watcher) as shown:
                outcome = job.start(spark, chosen)
                if outcome.query is not None:
                    follow(outcome.query, shown, is_stopped)
                return outcome
    finally:
        spark.stop()


def local_settings(master: str) -> dict[str, str]:
    """Settings for one machine, where Spark's default of 200 shuffle partitions is mostly empty
    ones."""
    if not master.startswith("local"):
        return {}
    pieces = str(max(2, os.cpu_count() or 1))
    return {"spark.sql.shuffle.partitions": pieces, "spark.ui.enabled": "false"}


def follow(query: "StreamingQuery", watcher: Watcher, is_stopped: Stop) -> None:
    """Report each batch, until the query ends or is to stop."""
    seen = ""
    while True:
        try:
            has_ended = query.awaitTermination(LOOK_SECONDS)  # type: ignore[arg-type]
        finally:
            for progress in _news(query, seen):
                seen = progress["timestamp"]
                watcher.batch(progress)
        if has_ended:
            return
        if is_stopped():
            watcher.step("stopping")
            query.stop()
            return


def _news(query: "StreamingQuery", seen: str) -> list[dict[str, Any]]:
    """Return the new progress reports. Spark's whole list is read only if there is a new one."""
    last = query.lastProgress
    if last is None or last.timestamp <= seen:
        return []
    told = [json.loads(progress.json) for progress in query.recentProgress]
    return [progress for progress in told if progress["timestamp"] > seen]


@contextlib.contextmanager
def stopping_signals() -> Iterator[Stop]:
    """Record SIGINT and SIGTERM while the block lasts; a second one interrupts."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    came = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:
        if came.is_set():
            raise KeyboardInterrupt
        came.set()

    numbers = (signal.SIGINT, signal.SIGTERM)
    kept = [signal.signal(number, note) for number in numbers]
    try:
        yield came.is_set
    finally:
        for number, handler in zip(numbers, kept, strict=True):
            signal.signal(number, handler)


@contextlib.contextmanager
def _watched_tasks(spark: "SparkSession", watcher: Watcher) -> Iterator[None]:
    """Report the tasks of a batch job while the block lasts, from a thread of its own."""
    ended = threading.Event()

    def look() -> None:
        tracker = spark.sparkContext.statusTracker()
        while not ended.wait(LOOK_SECONDS):
            stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
            found = [stage for stage in stages if stage is not None]
            if found:
                done = sum(stage.numCompletedTasks for stage in found)
                watcher.tasks(done, sum(stage.numTasks for stage in found))

    looking = threading.Thread(target=look, name="watched tasks", daemon=True)
    looking.start()
    try:
        yield
    finally:
        ended.set()
        looking.join()
