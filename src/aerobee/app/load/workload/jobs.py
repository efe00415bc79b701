"""Division of a workload into the jobs of worker processes.

J1. The jobs together are the workload: every message, client and consumer is in exactly one.
"""

from aerobee.app.load.workload.job import Job
from aerobee.app.load.workload.schedule import shares
from aerobee.app.load.workload.workload import Workload
from aerobee.errors import Misuse

_FILL_BATCH_BYTES = 128 << 10
_FILL_SECONDS = 24 * 3600.0
BATCH_BYTES_MAX = 4 << 20


def sending_jobs(workload: Workload, target: str, run: str, topics: list[str]) -> list[Job]:
    """Return a job for each process."""
    if workload.batch > 1 and workload.batch * workload.size_max > BATCH_BYTES_MAX:
        raise Misuse(
            f"a batch of {workload.batch} × {workload.size_max} bytes is more than a broker takes",
            hint=f"--batch {max(1, BATCH_BYTES_MAX // 2 // workload.size_max)}",
        )
    count = workload.processes
    if workload.count is not None:
        count = min(count, workload.count)  # nobody is to have nothing to do
    clients = shares(max(workload.producers, count), count)
    counts = shares(workload.count, count) if workload.count is not None else [None] * count
    return [
        Job(
            target,
            run,
            topics,
            share=number,
            of=count,
            is_stamped=workload.kind == "roundtrip",
            warm_up=workload.warm_up,
            duration=workload.duration,
            clients=clients[number],
            size_min=workload.size_min,
            size_max=workload.size_max,
            payload_path=workload.payload_path,
            batch=workload.batch,
            in_flight=workload.in_flight,
            rate=workload.rate,
            count=counts[number],
        )
        for number in range(count)
    ]


def filling_jobs(workload: Workload, target: str, run: str, topics: list[str]) -> list[Job]:
    """Return the jobs that send the backlog, as fast as possible."""
    return [
        Job(
            target,
            run,
            topics,
            duration=_FILL_SECONDS,
            size_min=workload.size_min,
            size_max=workload.size_max,
            payload_path=workload.payload_path,
            batch=max(1, min(64, workload.backlog, _FILL_BATCH_BYTES // workload.size_max)),
            in_flight=16,
            count=workload.backlog,
        )
    ]


def receiving_jobs(
    workload: Workload, target: str, run: str, topics: list[str], groups: list[str]
) -> list[Job]:
    """Return jobs in which every group consumes every topic; consumers are spread over the
    processes."""
    wanted = [(topic, group) for topic in topics for group in groups] * workload.consumers
    processes = min(workload.processes, len(wanted)) if workload.kind == "consume" else 1
    return [
        Job(
            target,
            run,
            topics,
            share=number,
            of=processes,
            is_stamped=workload.kind == "roundtrip",
            warm_up=workload.warm_up,
            duration=workload.duration,
            consumers=wanted[number::processes],
            start=workload.start,
        )
        for number in range(processes)
    ]
