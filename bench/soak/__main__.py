"""python -m bench.soak [--minutes 30]: our client for a long time, while its broker is killed.

A name server and a broker are processes of their own; the broker is killed (-9) about once a
minute and started again on what it left. Everything that was acknowledged must come, in order where
order was asked for, once where it is stored once, and never if it was rolled back. The client's
memory must stay where it was after the first fifth.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import aerobee
from bench.soak.ledger import Ledger
from bench.soak.traffic import (
    KINDS,
    new_ledgers,
    receive_for_ever,
    receive_slowly,
    running,
    send_for_ever,
)
from tests.process_kit import Started

KILL_SECONDS = (45, 75)
DOWN_SECONDS = (0.5, 3)
SAMPLE_SECONDS = 5
CATCH_UP_SECONDS = 90
GROWTH_RATIO_MAX = 1.10
GROWTH_BYTES_MAX = 8 << 20


class Servers:
    """The broker can be killed; where it is stays the same."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.kills = 0
        self._nameserver = Started(home, "nameserver", "start", "--port", "0")
        self.address = f"127.0.0.1:{self._nameserver.ports()['nameserver']}"
        self._broker = self._start(0)
        self._port = self._broker.ports()["broker"]

    def _start(self, port: int) -> Started:
        config = self._home / "broker.conf"
        config.write_text("mappedFileSizeCommitLog=67108864\ntransactionTimeOut=2000\n")
        flags = ("--store", str(self._home / "store"), "--port", str(port), "-n", self.address)
        return Started(self._home, "broker", "start", "-c", str(config), *flags)

    async def kill_and_start(self) -> None:
        self._broker.process.kill()
        await asyncio.to_thread(self._broker.end)
        self.kills += 1
        await asyncio.sleep(random.uniform(*DOWN_SECONDS))
        self._broker = self._start(self._port)
        await asyncio.to_thread(self._broker.ports)

    def stop(self) -> None:
        for server in (self._broker, self._nameserver):
            with server:
                server.stop()


def memory_bytes() -> int:
    """Anonymous memory of this process: that of the client and of the judge."""
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no line about anonymous memory")


def grown(samples: Sequence[int]) -> str | None:
    """What is wrong with memory over time: the last fifth against the second."""
    fifth = len(samples) // 5
    if fifth == 0:
        return None
    early, late = (
        statistics.median(samples[fifth : 2 * fifth]),
        statistics.median(samples[-fifth:]),
    )
    if late <= max(early * GROWTH_RATIO_MAX, early + GROWTH_BYTES_MAX):
        return None
    return f"memory grew from {early / 1e6:.0f} to {late / 1e6:.0f} MB"


async def _kill_for_ever(servers: Servers) -> None:
    while True:
        await asyncio.sleep(random.uniform(*KILL_SECONDS))
        await servers.kill_and_start()


async def _watch(ledgers: Sequence[Ledger], servers: Servers, samples: list[int]) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(SAMPLE_SECONDS)
        samples.append(memory_bytes())
        acked, seen, missing, failed, repeated = (
            sum(getattr(ledger, name) for ledger in ledgers)
            for name in ("acked", "seen", "missing", "failed", "repeated")
        )
        print(
            f"{time.monotonic() - began:6.0f} s  {acked:,} acknowledged, {seen:,} came, "
            f"{missing:,} on their way, {failed:,} failed, {repeated:,} again; "
            f"{servers.kills} kills, {samples[-1] / 1e6:.0f} MB",
            flush=True,
        )


async def soak(seconds: float, servers: Servers) -> list[str]:
    """What went wrong."""
    ledgers = list(new_ledgers().values())
    samples: list[int] = []
    async with aerobee.connect(servers.address) as client:
        for topic in KINDS:
            await client.admin.topics.create(topic, queues=4)
        receivers = [receive_for_ever(client, ledger) for ledger in ledgers]
        async with running([*receivers, receive_slowly(client)]) as receiving:
            watching = [_watch(ledgers, servers, samples), _kill_for_ever(servers)]
            senders = [send_for_ever(client, ledger) for ledger in ledgers]
            async with running([*senders, *watching]) as sending:
                ended, _ = await asyncio.wait(
                    [*sending, *receiving],
                    timeout=seconds,
                    return_when=asyncio.FIRST_COMPLETED,
                )
            faults = [f"a task ended: {task.exception()!r}" for task in ended]
            print("sending is over; what is on its way comes", flush=True)
            deadline = time.monotonic() + CATCH_UP_SECONDS
            while any(ledger.missing for ledger in ledgers) and time.monotonic() < deadline:
                await asyncio.sleep(0.5)
    for ledger in ledgers:
        print(
            f"{ledger.title}: {ledger.acked:,} acknowledged, {ledger.failed:,} failed, "
            f"{ledger.repeated:,} came again, {ledger.missing:,} missing"
        )
        faults += ledger.faults[:5]
        if ledger.missing:
            faults.append(f"{ledger.title}: {ledger.missing} lost, {ledger.oldest_missing()}")
    growth = grown(samples)
    shown = samples[:: len(samples) // 10 + 1]
    print(f"memory, MB: {', '.join(f'{one / 1e6:.0f}' for one in shown)}")
    return faults if growth is None else [*faults, growth]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        try:
            faults = asyncio.run(soak(chosen.minutes * 60, servers))
        finally:
            servers.stop()
    for fault in faults:
        print(f"WRONG: {fault}")
    print("nothing wrong" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
