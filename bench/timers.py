"""`python -m bench.timers`: ten million messages that wait for a time, in one store.

python -m bench.timers                       # ten million, about ten minutes and 6 GB of disk
python -m bench.timers --count 1000000       # a first look
python -m bench.timers --root /mnt/disk/x    # on another disk (a folder of its own, emptied)

Through the store and the timer's service, without sockets. Each life is a process of its own: the
messages are put and taken in, the process is killed, another opens what is left, is stopped
cleanly, a third opens that, and one delivers a sample: the messages of ten minutes. In there the
clock is moved by hand; of each copy is seen whether it came before its time, or was lost.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from aerobee.errors import StoreBusy
from aerobee.ports.clock import Now
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.stored_message import decode_records
from aerobee.service.broker.config import SETTINGS, BrokerConfig
from aerobee.service.broker.log_access.message_writer import MessageWriter
from aerobee.service.broker.log_access.safe_answers import SafeAnswers
from aerobee.service.broker.state.tables import Ground
from aerobee.service.broker.timer.timers import Timers
from aerobee.service.live_config import ChangesFile, LiveConfig
from aerobee.storage.config import StorageConfig
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from aerobee.system.disk_worker import ThreadDiskWorker
from bench.cases import Figure

HERE = Path(__file__).resolve().parent.parent
COUNT = 10_000_000
START_MS = 1_800_000_000_000
FIRST_DUE_MS = START_MS + 3_600_000
SPREAD_SECONDS = 86_400
SAMPLE_SECONDS = 600
QUEUES = 8
PUTS_A_TICK = 500
BODY = memoryview(b"x" * 100)


def deliver_ms(number: int) -> int:
    """Neighbours are due far apart."""
    return FIRST_DUE_MS + number * 7_919_003 % (SPREAD_SECONDS * 1000)


def text_of(number: int) -> bytes:
    """As a client's message has it after its intake."""
    at_ms = deliver_ms(number)
    return (
        b"UNIQ_KEY\x017F000001000118B4AAC2%012d\x02WAIT\x01true\x02TAGS\x01TagA\x02"
        b"TIMER_DELIVER_MS\x01%d\x02CLUSTER\x01DefaultCluster\x02TIMER_OUT_MS\x01%d\x02"
        b"REAL_TOPIC\x01Later\x02REAL_QID\x01%d\x02"
    ) % (number, at_ms, (at_ms - 1) // 1000 * 1000, number % QUEUES)


def anonymous_bytes() -> int:
    text = Path("/proc/self/smaps_rollup").read_text()
    (kib,) = re.findall(r"^Anonymous: +(\d+) kB$", text, re.MULTILINE)
    return int(kib) * 1024


class Life:
    """A store and its timer in this process. `wall_ms` is moved by hand, the rest is real."""

    def __init__(self, root: str, wall_ms: int) -> None:
        began = time.perf_counter()
        self.wall_ms = wall_ms
        self._began_ms = time.monotonic_ns() // 1_000_000
        self.worker = ThreadDiskWorker()
        disk, storage = MappedDisk(), StorageConfig()
        self.store = Store.open(disk, root, storage, self.worker)
        self.store_seconds = time.perf_counter() - began
        intake = MessageWriter(self.store, SafeAnswers(self.store, lambda: 5_000), 18)
        changes = ChangesFile(disk, f"{root}/config/changes", {})
        told = LiveConfig(BrokerConfig(), SETTINGS, changes, self.worker, {})
        self.timers = Timers(Ground(self.store, disk, self.worker), intake, told, self.now())
        self.seconds = time.perf_counter() - began
        self.timer_cpu = 0.0

    def now(self) -> Now:
        return Now(self.wall_ms, time.monotonic_ns() // 1_000_000 - self._began_ms)

    def tick(self) -> None:
        now = self.now()
        self.store.step(now)
        began = time.thread_time()
        self.timers.on_tick(now)
        self.store.dispatch()
        self.timer_cpu += time.thread_time() - began

    def catch_up(self) -> None:
        """Until everything is in wheel and log."""
        queue = self.store.queue(b"rmq_sys_wheel_timer", 0)
        assert queue is not None
        while self.timers.taken_in < queue.max_offset:
            self.tick()

    def stop(self) -> None:
        self.timers.stop(self.now())
        self.store.close()
        self.worker.close()


def put(root: str, count: int) -> Figure:
    life = Life(root, START_MS)
    draft = MessageDraft()
    draft.topic = b"rmq_sys_wheel_timer"
    draft.set_body(BODY)
    memory = {0: anonymous_bytes()}
    began = time.perf_counter()
    for number in range(count):
        draft.set_properties(text_of(number))
        while True:
            try:
                life.store.append(draft, life.wall_ms)
                break
            except StoreBusy:
                life.tick()
        if number % PUTS_A_TICK == 0:
            life.tick()
            if number == count // 10:
                life.catch_up()
                memory[1] = anonymous_bytes()
    life.catch_up()
    memory[2] = anonymous_bytes()
    return {
        "seconds": time.perf_counter() - began,
        "in_cpu_us": life.timer_cpu / count * 1e6,
        "memory_empty": memory[0],
        "memory_tenth": memory[1],
        "memory_all": memory[2],
    }


def reopen(root: str, _: int) -> Figure:
    began, began_cpu = time.perf_counter(), time.process_time()
    life = Life(root, START_MS + 1)
    life.catch_up()
    figure = {
        "cpu_seconds": time.process_time() - began_cpu,
        "store_seconds": life.store_seconds,
        "open_seconds": life.seconds,
        "ready_seconds": time.perf_counter() - began,
        "memory": float(anonymous_bytes()),
    }
    life.stop()
    return figure


def deliver(root: str, count: int) -> Figure:
    """Ten minutes, second by second."""
    end_ms = FIRST_DUE_MS + SAMPLE_SECONDS * 1000
    due = sum(1 for number in range(count) if deliver_ms(number) <= end_ms)
    life = Life(root, FIRST_DUE_MS - 500)
    life.catch_up()
    memory = anonymous_bytes()
    life.timer_cpu = 0.0
    while life.wall_ms < end_ms:
        life.wall_ms += 250
        life.tick()
        while life.timers.rest_ms(life.now()) < 0 or life.timers.behind_ms(life.now()):
            life.tick()
    found, early, late_ms_max = seen(life.store)
    figure = {
        "due": due,
        "delivered": found,
        "early": early,
        "late_ms_max": late_ms_max,
        "out_cpu_us": life.timer_cpu / max(1, found) * 1e6,
        "memory_grown": float(anonymous_bytes() - memory),
    }
    life.stop()
    return figure


def seen(store: Store) -> tuple[int, int, int]:
    """How many were delivered, how many of them before their time, and how late at most."""
    count = early = late_ms_max = 0
    for queue_id in range(QUEUES):
        offset = 0
        while True:
            read = store.read(b"Later", queue_id, offset, 1_000, 1 << 20)
            if not read.count:
                break
            for part in read.slices:
                for one in decode_records(bytes(part)):
                    late_ms = one.store_timestamp - int(one.properties["TIMER_DELIVER_MS"])
                    early += late_ms < 0
                    late_ms_max = max(late_ms_max, late_ms)
                    count += 1
            offset = read.next_offset
    return count, early, late_ms_max


LIVES: dict[str, Callable[[str, int], Figure]] = {
    "put": put,
    "reopen": reopen,
    "deliver": deliver,
}


def live(life: str, root: str, count: int) -> Figure:
    """One life, in a process of its own; the one that puts ends by being killed."""
    told = (f"--life={life}", f"--root={root}", f"--count={count}")
    done = subprocess.run(
        [sys.executable, "-m", "bench.timers", *told],
        cwd=HERE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode in (0, -signal.SIGKILL), f"{life} ended with {done.returncode}"
    figure: Figure = json.loads(done.stdout)
    return figure


def report(root: str, count: int) -> None:
    first = live("put", root, count)
    killed, clean = live("reopen", root, count), live("reopen", root, count)
    sample = live("deliver", root, count)

    def mib(size: float) -> str:
        return f"{size / (1 << 20):.0f} MB"

    print(f"{count:,} messages that wait, put in {first['seconds']:.0f} s\n")
    print("| measured | |\n| --- | --- |")
    print(f"| into wheel and log, CPU for each | {first['in_cpu_us']:.2f} µs |")
    print(
        f"| anonymous memory: without, with a tenth, with all | {mib(first['memory_empty'])}, "
        f"{mib(first['memory_tenth'])}, {mib(first['memory_all'])} |"
    )
    for title, figure in (("a kill", killed), ("a clean stop", clean)):
        print(
            f"| open after {title}: store, timer, all taken in; CPU; memory | "
            f"{figure['store_seconds']:.2f} s, {figure['open_seconds']:.2f} s, "
            f"{figure['ready_seconds']:.2f} s; {figure['cpu_seconds']:.2f} s; "
            f"{mib(figure['memory'])} |"
        )
    print(f"| out of it, CPU for each | {sample['out_cpu_us']:.2f} µs |")
    print(
        f"| ten minutes of it: due, delivered, early, latest | {sample['due']:,}, "
        f"{sample['delivered']:,}, {sample['early']:,}, {sample['late_ms_max']:,} ms |"
    )
    assert sample["early"] == 0, "early"
    assert sample["delivered"] == sample["due"], "lost, or twice"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.timers")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--root")
    parser.add_argument("--life", choices=LIVES)
    told = parser.parse_args()
    if told.life is not None:
        print(json.dumps(LIVES[told.life](told.root, told.count)), flush=True)
        if told.life == "put":
            os.kill(os.getpid(), signal.SIGKILL)
        return
    root = told.root or tempfile.mkdtemp(prefix="aerobee-timers-")
    shutil.rmtree(root, ignore_errors=True)
    try:
        report(root, told.count)
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
