"""A member process runs one broker of a Raft group for the process that started it.

Started as `python -m aerobee.app.members.member_child`.

    stdin    the job · `clock MS`: the wall clock is so far off from now on · its end: the broker
             stops, and hands over to nobody, because all members stop
    stdout   `ready: broker …`, as every broker · {"ready": …} · {"leads": true | false}
    stderr   its log, and why it could not start

SIGTERM is a planned stop: a leader hands over first.

M1. It ends with the process that started it, also if that one is killed.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys

from aerobee.app.members.member_job import MemberJob, from_line
from aerobee.app.members.shifted_clock import ShiftedClock
from aerobee.app.process import lifecycle, log_setup
from aerobee.app.process.broker_process import BrokerPart
from aerobee.app.process.lifecycle import Ended, say
from aerobee.app.settings.broker_settings import read_settings
from aerobee.service.broker.assembly import build_broker
from aerobee.system.parent_death import is_tied_to_parent

LOOK_SECONDS = 0.02
"""How often it looks whether it leads."""


class Orders:
    """Hears what is on stdin, and tells when the broker begins or ceases to lead; a guest of the
    process."""

    def __init__(self, broker: BrokerPart, clock: ShiftedClock) -> None:
        self._broker = broker
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, failed: Ended) -> str:
        loop = asyncio.get_running_loop()
        told = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(told), sys.stdin)
        self._tasks = [
            asyncio.ensure_future(self._hear(told)),
            asyncio.ensure_future(self._watch()),
        ]
        held = self._broker.holdings()
        facts = {
            "metrics": self._broker.metrics_address,
            "topics": sorted(held.topics),
            "messages": held.messages,
        }
        return json.dumps({"ready": facts})

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _hear(self, told: asyncio.StreamReader) -> None:
        while line := await told.readline():
            _, shift_ms = line.split()
            self._clock.shift_ms = int(shift_ms)
            self._broker.wake()
        self._broker.hands_over = False
        os.kill(os.getpid(), signal.SIGTERM)

    async def _watch(self) -> None:
        leads = False
        while True:
            if self._broker.leads != leads:
                leads = not leads
                say(json.dumps({"leads": leads}))
            await asyncio.sleep(LOOK_SECONDS)


def run(job: MemberJob) -> int:
    settings = read_settings(None, os.environ, job.told, job.defaults)
    clock = ShiftedClock()
    broker = BrokerPart(settings, build_broker, clock=clock)
    with log_setup.logs_shown(job.level):
        return lifecycle.run([broker], [Orders(broker, clock)])


def main() -> int:
    # Byte by byte: what follows the job is for the event loop.
    with open(0, "rb", buffering=0, closefd=False) as told:
        line = told.readline()
    if not line:
        return lifecycle.STOPPED
    job = from_line(line)
    if not is_tied_to_parent(job.parent):
        return lifecycle.STOPPED
    with contextlib.suppress(KeyboardInterrupt):
        return run(job)
    return lifecycle.STOPPED


if __name__ == "__main__":
    sys.exit(main())
