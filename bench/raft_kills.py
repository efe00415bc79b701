"""Kills of leaders, as three observers see them.

    broker   the first send that one of the other brokers takes, asked directly, again and again
    ours     our own client, which sends one message after another
    java     an unmodified Java client, which does the same (RocketMQ 5.5.0)

The gap of an observer is the time from the kill to the first acknowledgement of a send that began
after it. Every message that was acknowledged to our client must be there at the end, and in each
queue in the order in which they were sent: each was sent when the one before was acknowledged.
"""

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import aerobee
from aerobee.errors import AerobeeError
from bench.broker_cases import FREE, say
from bench.broker_load import run_load
from bench.raft_groups import TOPIC, Group
from tests.interop.features.install import install, missing
from tests.interop.features.program import Program, ProgramError

BROKER, OURS, JAVA = "broker", "ours", "java"
OBSERVERS = (BROKER, OURS, JAVA)
GAP_SECONDS_MAX = 120.0
_CLIENT = "java-5.5.0"
_PAUSE_SECONDS = 0.002


class Acknowledged:
    """When sends began and were acknowledged; filled by one thread, read by another."""

    def __init__(self) -> None:
        self.moments: list[tuple[float, float]] = []
        self.told: list[Told] = []
        self.errors = 0

    def gap_after(self, killed: float) -> float | None:
        """None: nothing that began after the kill was acknowledged yet."""
        for began, ended in reversed(self.moments):
            if began <= killed:
                break
            first = ended
        else:
            return None
        return first - killed if self.moments[-1][0] > killed else None


class Found(NamedTuple):
    """What is there at the end of what was acknowledged to our client."""

    acknowledged: int
    lost: int
    out_of_order: int
    twice: int
    """There again, because no answer came to the first try: this is allowed."""

    def sentence(self) -> str:
        return (
            f"{self.acknowledged:,} messages acknowledged to our client, {self.lost} lost, "
            f"{self.out_of_order} out of order, {self.twice} twice"
        )


class Told(NamedTuple):
    """What our client was told of a message: where it is."""

    body: bytes
    queue_id: int
    offset: int


def judge(acknowledged: Sequence[Told], queues: Mapping[int, Mapping[int, bytes]]) -> Found:
    """Compare what was acknowledged, in this order, with what each queue has by offset. A message
    that is not where its sender was told is lost there, and as good as lost."""
    counts = Counter(body for bodies in queues.values() for body in bodies.values())
    lost = out_of_order = 0
    highest: dict[int, int] = {}
    for body, queue_id, offset in acknowledged:
        if queues.get(queue_id, {}).get(offset) != body:
            lost += 1
        elif offset < highest.get(queue_id, -1):
            out_of_order += 1
        highest[queue_id] = max(offset, highest.get(queue_id, -1))
    twice = sum(counts[one.body] > 1 for one in acknowledged)
    return Found(len(acknowledged), lost, out_of_order, twice)


class OurSender(threading.Thread):
    def __init__(self, name_server: str) -> None:
        super().__init__(daemon=True)
        self._name_server = name_server
        self._stop_asked = threading.Event()
        self.seen = Acknowledged()

    def run(self) -> None:
        asyncio.run(self._run())

    def end(self) -> None:
        self._stop_asked.set()
        self.join()

    async def _run(self) -> None:
        async with aerobee.connect(self._name_server) as client:
            for number in itertools.count():
                if self._stop_asked.is_set():
                    return
                body, began = b"ours %d" % number, time.monotonic()
                try:
                    receipt = await client.send(TOPIC, body, timeout=10.0)
                except AerobeeError:
                    self.seen.errors += 1
                else:
                    self.seen.moments.append((began, time.monotonic()))
                    self.seen.told.append(Told(body, receipt.queue.queue_id, receipt.offset))
                await asyncio.sleep(_PAUSE_SECONDS)


class JavaSender(threading.Thread):
    def __init__(self, name_server: str, folder: Path) -> None:
        super().__init__(daemon=True)
        self._program = Program(install(_CLIENT)(name_server, "bench", folder), folder)
        self._stop_asked = threading.Event()
        self.seen = Acknowledged()

    def run(self) -> None:
        while not self._stop_asked.is_set():
            began = time.monotonic()
            try:
                self._program.send("sync", TOPIC, "from Java")
            except ProgramError:
                self.seen.errors += 1
                if not self._program.is_running:
                    return
            else:
                self.seen.moments.append((began, time.monotonic()))
            time.sleep(_PAUSE_SECONDS)

    def end(self) -> None:
        self._stop_asked.set()
        self.join()
        self._program.kill()


class Kills:
    def __init__(self, group: Group, program: Path, folder: Path, calm_seconds: float) -> None:
        self._group = group
        self._program = program
        self._calm_seconds = calm_seconds
        self._senders: dict[str, OurSender | JavaSender] = {OURS: OurSender(group.name_server)}
        if missing(_CLIENT) is None:
            self._senders[JAVA] = JavaSender(group.name_server, folder)
        self.gaps: dict[str, list[float]] = {BROKER: [], **{name: [] for name in self._senders}}
        self.found = Found(0, 0, 0, 0)

    def run(self, count: int) -> None:
        for sender in self._senders.values():
            sender.start()
        try:
            for kill in range(count):
                self._kill(kill)
        finally:
            for sender in self._senders.values():
                sender.end()
        self.found = judge(self._senders[OURS].seen.told, asyncio.run(self._queues()))
        say(f"{self._group.kind}: {self.found.sentence()}")

    def errors(self) -> dict[str, int]:
        return {name: sender.seen.errors for name, sender in self._senders.items()}

    def _kill(self, number: int) -> None:
        time.sleep(self._calm_seconds)
        others = self._group.kill_leader()
        killed = time.monotonic()
        said = [f"broker {self._note(BROKER, self._first_taken(others, killed)):,.0f}"]
        for name, sender in self._senders.items():
            due = time.monotonic() + GAP_SECONDS_MAX
            while (gap := sender.seen.gap_after(killed)) is None and time.monotonic() < due:
                time.sleep(_PAUSE_SECONDS)
            said.append(f"{name} {self._note(name, GAP_SECONDS_MAX if gap is None else gap):,.0f}")
        say(f"{self._group.kind}, kill {number + 1}: {', '.join(said)} ms")
        time.sleep(self._calm_seconds)
        self._group.start_missing()
        self._until_settled()

    def _until_settled(self) -> None:
        """Until the member that returned has caught up. Senders go on: the logs are never equal."""
        due = time.monotonic() + GAP_SECONDS_MAX
        while self._group.lag_bytes() > 1 << 20 and time.monotonic() < due:
            time.sleep(0.1)

    def _note(self, name: str, gap: float) -> float:
        self.gaps[name].append(gap)
        return 1000 * gap

    def _first_taken(self, ports: Sequence[int], killed: float) -> float:
        """Ask the others in turn until one takes a send."""
        words = f"send --connections 1 --in-flight 1 --body 100 --count 1 --topic {TOPIC}".split()
        for port in itertools.cycle(ports):
            if not run_load(self._program, port, words, FREE.load)["errors"]:
                break
            if time.monotonic() - killed > GAP_SECONDS_MAX:
                break
        return time.monotonic() - killed

    async def _queues(self) -> Mapping[int, Mapping[int, bytes]]:
        found: dict[int, dict[int, bytes]] = {}
        async with (
            aerobee.connect(self._group.name_server) as client,
            client.reader(TOPIC, start="earliest") as reader,
        ):
            while messages := await reader.read(1_000):
                for message in messages:
                    queue = message.queue
                    found.setdefault(queue.queue_id, {})[message.offset] = message.body
        return found
