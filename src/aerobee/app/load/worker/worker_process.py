"""A worker process runs one job of a load test and reports in lines of JSON.

Started as `python -m aerobee.app.load.worker.worker_process`.

    stdin    the job · `go NANOSECONDS` · `from NANOSECONDS`: count what is due later · `stop` · end
    stdout   {"ready": …} · {"tick": …} each quarter of a second · {"result": …}, or {"error": …}

Nothing else is printed there.
"""

import asyncio
import contextlib
import gc
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aerobee.app.load.worker.receiver import Receiver
from aerobee.app.load.worker.sender import Sender
from aerobee.app.load.workload.job import Job, from_line
from aerobee.app.process.lifecycle import allow_files
from aerobee.client.client import connect
from aerobee.client.connection.loop_portal import new_event_loop
from aerobee.errors import AerobeeError

TICK_NS = 250_000_000


async def work(job: Job, told: asyncio.StreamReader) -> None:
    payload = Path(job.payload_path).read_bytes() if job.payload_path else None
    async with contextlib.AsyncExitStack() as stack:
        count = len(job.consumers) or job.clients
        clients = [await stack.enter_async_context(connect(job.target)) for _ in range(count)]
        load: Sender | Receiver
        load = Receiver(clients, job) if job.is_consuming else Sender(clients, job, payload)
        await load.prepare()
        gc.collect()
        gc.freeze()
        _say({"ready": True})
        word = (await told.readline()).split()
        if not word:
            return
        running = asyncio.ensure_future(load.run(int(word[1])))
        listening = asyncio.ensure_future(_listen(load, told))
        ticking = asyncio.ensure_future(_tick(load))
        try:
            await running
            ticking.cancel()
            _say({"tick": _interval(load)})
            _say({"result": load.result()})
            await listening  # whoever asked may still want to look at this process
        finally:
            for task in (running, listening, ticking):
                task.cancel()


async def _listen(load: Sender | Receiver, told: asyncio.StreamReader) -> None:
    """Read commands until stdin ends."""
    while word := (await told.readline()).split():
        if word[0] == b"from":
            load.measure_from(int(word[1]))
        else:
            load.stop()
    load.stop()


async def _tick(load: Sender | Receiver) -> None:
    """Report at whole quarters of a second of the measured time, so that the ticks of workers
    coincide."""
    while True:
        now = time.monotonic_ns()
        origin = load.tally.measured_from_ns
        following = origin + ((now - origin) // TICK_NS + 1) * TICK_NS
        await asyncio.sleep((following - now) / 1e9)
        _say({"tick": _interval(load)})


def _interval(load: Sender | Receiver) -> dict[str, Any]:
    origin = load.tally.measured_from_ns
    said = load.tally.take_interval()
    # It comes at the end of its quarter of a second, or a little after.
    said["number"] = (time.monotonic_ns() - origin + TICK_NS // 10) // TICK_NS - 1
    if isinstance(load, Receiver):
        said["owned"] = load.owned
        said["position"] = load.position
    return said


def _say(what: Mapping[str, Any]) -> None:
    print(json.dumps(what), flush=True)


async def _main() -> int:
    loop = asyncio.get_running_loop()
    told = asyncio.StreamReader(limit=1 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(told), sys.stdin)
    job = from_line((await told.readline()).decode())
    try:
        await work(job, told)
    except AerobeeError as error:
        _say({"error": {"message": error.message, "hint": error.hint}})
        return 1
    except OSError as error:
        _say({"error": {"message": str(error), "hint": ""}})
        return 1
    return 0


def main() -> int:
    allow_files()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_main())


if __name__ == "__main__":
    sys.exit(main())
