"""Compaction: of topics that want it, the newest message of each key outlives the log.

    offsets   0 ............ end ............. max
              what was kept │  queue and log       a reader at an offset goes on at the next message

Everything before the newest log file can be compacted. It is, queue by queue, a while after it
came (`compaction_interval_ms`), or at once when a log file is to go: none goes that holds a record
which no run has looked at (`needed_from`). So a disk that fills up has its topics compacted first
and its log cleaned then.

One run at a time, in small parts on a disk thread (`compaction_run`), at most one part a step. A
run that fails changes nothing and is tried again after a while; `problem` says why. Which topics
are to be compacted is not on the disk: whoever opens a store tells it again, before its first step.

Called from the core's thread only.
"""

from contextlib import suppress

from aerobee.errors import DiskFailed
from aerobee.ports.clock import Now
from aerobee.ports.disk import Disk
from aerobee.ports.disk_worker import DiskWorker, Lane
from aerobee.storage.config import StorageConfig
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.consume_queue import FILLER_SIZE, ConsumeQueue
from aerobee.storage.index.derived_files import DerivedFiles
from aerobee.storage.retain.compaction_run import KEY_BYTES, CompactionRun, RunPlan, Unit

RETRY_INTERVAL_MS = 10_000
UNITS_A_PART = 1000
BYTES_A_PART = 4 << 20


class Compaction:
    """The compacted topics of one store, and the run that is under way.

    I1. While `_job` is set the run belongs to a disk thread.
    """

    def __init__(
        self,
        log: FileSequence,
        derived: DerivedFiles,
        worker: DiskWorker,
        config: StorageConfig,
        crc_from: int,
    ) -> None:
        self._log = log
        self._disk: Disk = log.disk
        self._derived = derived
        self._kept = derived.kept
        self._worker = worker
        self._config = config
        # Log offset: records from here on carry a CRC.
        self.crc_from = crc_from
        self._topics: set[bytes] = set()
        self._run: CompactionRun | None = None
        self._job: _Part | None = None
        # When a queue was last looked at, and when it may be again after a failure.
        self._looked_ms: dict[tuple[bytes, int], int] = {}
        self._retry_ms: dict[tuple[bytes, int], int] = {}
        self._is_urgent = False
        self._now_ms = 0
        self.problem = ""
        """Why the last run failed; empty once one did not."""
        self.failure: DiskFailed | None = None
        """Set once a folder could not be synced: nothing is compacted any more."""

    @property
    def is_running(self) -> bool:
        """Whether there is something to do at every step."""
        return self._run is not None

    def set(self, topic: bytes, is_compacted: bool) -> None:
        """Whether a topic is compacted from now on."""
        if is_compacted:
            self._topics.add(topic)
        else:
            self._topics.discard(topic)

    def forget(self, topic: bytes) -> None:
        """A topic is deleted: what is being made of it is of nothing."""
        self._topics.discard(topic)
        for queue in [queue for queue in self._looked_ms if queue[0] == topic]:
            del self._looked_ms[queue]
            self._retry_ms.pop(queue, None)
        run = self._run
        if run is not None and run.plan.topic == topic:
            self._run = None
            self._worker.submit(Lane.BACKGROUND, _Discard(run))

    def needed_from(self) -> int | None:
        """The log offset of the oldest record that a run has yet to look at; None: there is none.
        Runs do not wait for their time once somebody has asked: a log file is to go."""
        needed = None
        for queue in self._queues():
            unit = _first_unit(queue, self._end_of(queue))
            if unit is not None:
                self._is_urgent = True
                needed = unit[0] if needed is None else min(needed, unit[0])
        return needed

    def step(self, now: Now, time_ms: int | None, durable_to: int) -> None:
        """Go on with a run, or begin one if it is time. Records below `durable_to` are on the disk
        and have their units there; `time_ms` is the time by which things are old, None while that
        is not known."""
        self._now_ms = now.monotonic_ms
        if self._job is not None or not self._topics or self.failure is not None:
            return
        if self._run is None:
            deletions_before_ms = (
                0 if time_ms is None else time_ms - self._config.deletion_retention_ms
            )
            self._run = self._next_run(durable_to, deletions_before_ms)
        run = self._run
        if run is not None:
            if run.is_hungry:
                run.add(*self._units_of(run))
            self._job = _Part(self, run)
            self._worker.submit(Lane.BACKGROUND, self._job)

    # Choosing.

    def _queues(self) -> list[ConsumeQueue]:
        return [
            queue
            for topic in sorted(self._topics)
            for queue in self._derived.queues.of_topic(topic)
        ]

    def _end_of(self, queue: ConsumeQueue) -> int:
        """Up to where a queue is compacted."""
        kept = self._kept.find(queue.topic, queue.queue_id)
        return queue.min_offset if kept is None else kept.end

    def _next_run(self, durable_to: int, deletions_before_ms: int) -> CompactionRun | None:
        limit = min(durable_to, self._log.files[-1].first_offset if self._log.files else 0)
        for queue in self._queues():
            plan = self._plan(queue, limit, deletions_before_ms)
            if plan is not None:
                return CompactionRun(self._disk, self._kept.path, plan)
        self._is_urgent = False  # what could be done is done
        return None

    def _plan(self, queue: ConsumeQueue, limit: int, deletions_before_ms: int) -> RunPlan | None:
        """What there is to do for a queue now; None: nothing."""
        key = (queue.topic, queue.queue_id)
        looked_ms = self._looked_ms.setdefault(key, self._now_ms)
        is_due = self._now_ms - looked_ms >= self._config.compaction_interval_ms
        if not (is_due or self._is_urgent) or self._now_ms < self._retry_ms.get(key, 0):
            return None
        before = self._kept.find(*key)
        start = self._end_of(queue)
        end = max(start, queue.first_at(limit))
        has_old = before is not None and 0 < before.oldest_deletion_ms < deletions_before_ms
        if start == end and not has_old:
            self._looked_ms[key] = self._now_ms
            return None
        return RunPlan(
            *key,
            before,
            start,
            end,
            deletions_before_ms,
            max(1, self._config.compaction_map_bytes // KEY_BYTES),
            self.crc_from,
        )

    def _units_of(self, run: CompactionRun) -> tuple[list[Unit], int]:
        """The next records that a run is to look at, and where they end."""
        plan = run.plan
        queue = self._derived.queues.find(plan.topic, plan.queue_id)
        assert queue is not None
        units: list[Unit] = []
        size_sum = 0
        offset = run.next_offset
        while offset < plan.end and len(units) < UNITS_A_PART and size_sum < BYTES_A_PART:
            unit = queue.unit(offset)
            if unit is not None and unit[1] != FILLER_SIZE:
                file = self._log.find(unit[0])
                assert file is not None, "a log file went that was needed"
                units.append(Unit(offset, file, unit[0] - file.first_offset, unit[1], unit[2]))
                size_sum += unit[1]
            offset += 1
        return units, offset

    # Ending.

    def _finish(self, run: CompactionRun, error: BaseException | None) -> None:
        self._job = None
        if run is not self._run or (error is None and run.outcome is None):
            return  # forgotten meanwhile, or to be continued
        self._run = None
        key = (run.plan.topic, run.plan.queue_id)
        if isinstance(error, DiskFailed):
            self.failure = error
        elif error is not None:
            self.problem = f"queue {key[1]} of {key[0].decode()} is not compacted: {error}"
            self._retry_ms[key] = self._now_ms + RETRY_INTERVAL_MS
            self._worker.submit(Lane.BACKGROUND, _Discard(run))
        else:
            self._put(key, run)

    def _put(self, key: tuple[bytes, int], run: CompactionRun) -> None:
        """Have the file of a run count."""
        assert run.outcome is not None
        self.problem = ""
        self._retry_ms.pop(key, None)
        if run.outcome.end >= run.plan.end:
            self._looked_ms[key] = self._now_ms
        before = self._kept.put(*key, run.outcome)
        if before is not None and before.end != run.outcome.end:
            path = self._kept.path(*key, before.end)
            self._worker.submit(Lane.BACKGROUND, _Remove(self._disk, path))

    def close(self) -> None:
        """Block until the part that is under way is over. What it began goes at the next start."""
        self._run = None
        if self._job is not None:
            self._worker.wait(self._job)


class _Part:
    """Disk job: a part of a run."""

    def __init__(self, compaction: Compaction, run: CompactionRun) -> None:
        self._compaction = compaction
        self._run = run

    def run(self) -> None:
        self._run.work()

    def done(self, error: BaseException | None) -> None:
        self._compaction._finish(self._run, error)


class _Discard:
    """Disk job: what a run made goes."""

    def __init__(self, run: CompactionRun) -> None:
        self._run = run

    def run(self) -> None:
        self._run.discard()

    def done(self, error: BaseException | None) -> None:
        """What could not be removed goes at the next start."""


class _Remove:
    """Disk job: the file before the newest goes. Not synced: the newest counts."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path

    def run(self) -> None:
        with suppress(FileNotFoundError):
            self._disk.remove(self._path)

    def done(self, error: BaseException | None) -> None:
        """What could not be removed goes at the next start."""


def _first_unit(queue: ConsumeQueue, offset: int) -> tuple[int, int, int] | None:
    """The first unit at or after an offset that stands for a record."""
    unit = queue.unit(offset)
    while unit is not None and unit[1] == FILLER_SIZE:
        offset += 1
        unit = queue.unit(offset)
    return unit
