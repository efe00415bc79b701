"""The sending side of a worker: lanes that send messages when due, and count the results.

A send that is refused is an error and is not repeated, unlike an application's: a load test has to
show refusals. Bodies are not compressed, whatever their size.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aerobee.app.load.worker.pacing import Pace, until
from aerobee.app.load.worker.tally import Tally
from aerobee.app.load.workload.bodies import bodies_of, stamped
from aerobee.app.load.workload.job import Job
from aerobee.app.load.workload.schedule import SECOND_NS, Schedule, unsent_waits
from aerobee.errors import AerobeeError, SendFailed

if TYPE_CHECKING:
    from aerobee.client.client import Client

_PAUSE_SECONDS = 0.01
"""After a failure: one who is refused at once would only count refusals."""


class Sender:
    def __init__(self, clients: Sequence["Client"], job: Job, payload: bytes | None) -> None:
        self._clients = clients
        self._job = job
        self._run = bytes.fromhex(job.run)
        self._bodies = bodies_of(job.size_min, job.size_max, job.share, payload)
        self._sent = 0
        self._stopped_ns = 0
        self._pace: Pace | None = None
        self.tally = Tally(0)
        self.unsent = 0

    async def prepare(self) -> None:
        """Send one message to each topic from each client: this opens the connections, and shows
        errors before the measurement starts."""
        for client in self._clients:
            for topic in self._job.topics:
                await client.send(topic, self._bodies[0], compress=False)

    async def run(self, start_ns: int) -> None:
        """Send from that moment of the monotonic clock on, until the time is over or all is
        sent."""
        job = self._job
        measured_from = start_ns + round(job.warm_up * SECOND_NS)
        end = measured_from + round(job.duration * SECOND_NS)
        schedule = None
        if job.rate is not None:
            schedule = Schedule(start_ns, job.rate / job.batch, job.share, job.of)
        count = None if job.count is None else -(-job.count // job.batch)
        self.tally.measured_from_ns = measured_from
        await until(start_ns)
        self._pace = pace = Pace(schedule, end, count, count_from_ns=measured_from)
        if self._stopped_ns:
            pace.stop()
        try:
            await asyncio.gather(
                *(
                    self._lane(pace, self._clients[number % len(self._clients)])
                    for number in range(job.in_flight)
                )
            )
        finally:
            pace.close()
        if schedule is not None and count is None:
            ended = min(end, self._stopped_ns or end)
            for waited, events in unsent_waits(schedule, pace.given, measured_from, ended):
                self.tally.never_sent(waited, events * job.batch)
                self.unsent += events * job.batch

    def stop(self) -> None:
        """Stop sending. May be called before the start, and more than once."""
        self._stopped_ns = self._stopped_ns or time.monotonic_ns()
        if self._pace is not None:
            self._pace.stop()

    def measure_from(self, moment_ns: int) -> None:
        self.tally.measured_from_ns = moment_ns

    def result(self) -> dict[str, Any]:
        return {**self.tally.to_json(), "unsent": self.unsent}

    async def _lane(self, pace: Pace, client: "Client") -> None:
        job, tally, now_ns = self._job, self.tally, time.monotonic_ns
        topics = job.topics
        while (due := await pace.turn()) is not None:
            topic = topics[self._sent % len(topics)]
            bodies = self._next_bodies(due)
            size = sum(map(len, bodies))
            began = now_ns()
            try:
                if job.batch == 1:
                    await client.send(topic, bodies[0], compress=False, retries=0)
                else:
                    await client.send_batch(topic, bodies, retries=0)
            except AerobeeError as error:
                tally.failed(due, len(bodies), reason_of(error))
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                tally.done(due, began, now_ns(), len(bodies), size)

    def _next_bodies(self, due_ns: int) -> list[bytes]:
        pool = self._bodies
        first = self._sent
        self._sent += self._job.batch
        chosen = [pool[number % len(pool)] for number in range(first, self._sent)]
        if not self._job.is_stamped:
            return chosen
        return [stamped(self._run, due_ns, body) for body in chosen]


def reason_of(error: AerobeeError) -> str:
    """Return an error in a few words that are the same for the same cause."""
    if isinstance(error, SendFailed) and isinstance(error.__cause__, AerobeeError):
        error = error.__cause__
    return f"{type(error).__name__}: {error.message}"[:120]
