"""Everything derived can be removed and comes back byte for byte.

The log holds what makes a rebuild hard: several files of every kind, queues that take turns, keys
that share words, batches, delays, all kinds of transactions, records that hold a batch, and a topic
that was deleted and made anew. Where retention took the oldest files nobody knows any more what
stood in hidden units: there, what can be seen is the same, and the next rebuild the same again.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations
from pathlib import Path

import pytest

from aerobee.model.names import SCHEDULE_TOPIC
from aerobee.ports.disk import Disk
from aerobee.protocol.message.durable_mark_slots import DurableMark
from aerobee.sim.clock import SimClock
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.sim.faults import PowerCut
from aerobee.storage.recover.durable_mark import DurableMarkFile
from aerobee.storage.store import Store
from aerobee.system.disk import MappedDisk
from tests.store_kit import (
    COMMITTED,
    INNER_BATCH,
    PREPARED,
    ROLLED_BACK,
    SMALL,
    batch_draft,
    draft,
    properties,
    read_all,
)

CONFIG = replace(SMALL, retention_ms=3_600_000)
QUEUES = ("consumequeue", "batchconsumequeue")
REMOVABLE = (*QUEUES, "index", "checkpoint", "durable_mark")
DERIVED = (*QUEUES, "index")
SCHEDULE = SCHEDULE_TOPIC.encode()


def combinations_of(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(names, size) for size in range(1, 6)))


def is_whole(removed: tuple[str, ...]) -> bool:
    """Without a mark nothing tells that one kind of queue is missing beside the other."""
    return "durable_mark" not in removed or len({*QUEUES} & {*removed}) != 1


class Writer:
    """Fills a store with everything that a log can hold."""

    def __init__(self, disk: Disk, root: str) -> None:
        self.clock = SimClock()
        self.worker = SimDiskWorker(inline=True)
        self.store = Store.open(disk, root, CONFIG, self.worker)
        self.inner_base = 0

    def write(self, rounds: int) -> None:
        generator = random.Random(7)
        for number in range(rounds):
            for queue_id in (0, 1, 0):
                text = properties(
                    KEYS=f"k{number} k{number % 5} both", TAGS=f"t{queue_id}", UNIQ_KEY=f"U{number}"
                )
                body = b"x" * generator.randrange(300)
                self.append(b"Orders", queue_id, body, text)
            bodies = [b"b" * generator.randrange(60) for _ in range(generator.randrange(1, 5))]
            self.store.append(
                batch_draft(b"Batch", 0, bodies, "t", f"k{number}"), self.clock.now().wall_ms
            )
            self.append(SCHEDULE, 1, b"later", properties(DELAY=str(number % 4), KEYS="both"))
            for sys_flag in (PREPARED, COMMITTED, ROLLED_BACK):
                self.append(b"Trans", 0, b"half", properties(KEYS=f"k{number}"), sys_flag)
            count = generator.randrange(1, 4)
            text = properties(INNER_BASE=str(self.inner_base), INNER_NUM=str(count), KEYS="both")
            self.append(b"Inner", 2, b"...", text, INNER_BATCH)
            self.inner_base += count
            self.append(b"T" * 200, 0, b"a topic of version 2", b"")
            if number == rounds // 2:
                self.append_anew()
            self.step(50)

    def append_anew(self) -> None:
        """A topic that was deleted: its messages are still in the log, its offsets begin again."""
        for count in (9, 4):
            self.step(1)
            queue = self.store.queue(b"Anew", 0)
            if queue is not None:
                queue.clear()
            for _ in range(count):
                self.append(b"Anew", 0, b"again", properties(KEYS="both"))

    def append(
        self, topic: bytes, queue_id: int, body: bytes, text: bytes, sys_flag: int = 0
    ) -> None:
        message = draft(topic, queue_id, body, text, sys_flag=sys_flag)
        self.store.append(message, self.clock.now().wall_ms)

    def step(self, ms: int) -> None:
        assert self.store.step(self.clock.advance(ms)).failed == []

    def expire(self) -> None:
        """Let retention take the oldest log files, and hide what pointed at them."""
        self.clock.advance(CONFIG.retention_ms - 600)
        for _ in range(200):
            self.step(100)
        assert self.store.min_offset > 0


def written(disk: Disk, root: str) -> Writer:
    """A store with all of it, still open."""
    writer = Writer(disk, root)
    writer.write(14)
    return writer


def open_and_close(disk: Disk, root: str) -> None:
    Store.open(disk, root, CONFIG, SimDiskWorker(inline=True)).close()


def derived_of(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: content for path, content in files.items() if path.startswith(DERIVED)}


def mark_of(disk: Disk, path: str) -> DurableMark:
    file = DurableMarkFile.open(disk, path)
    mark = file.mark
    file.close()
    return mark


class SimPlace:
    """A store on the pretended disk."""

    root = "store"

    def __init__(self, disk: SimDisk | None = None) -> None:
        self.disk: SimDisk = SimDisk() if disk is None else disk

    def files(self) -> dict[str, bytes]:
        start = len(self.root) + 1
        return {path[start:]: content for path, content in self.disk.files().items()}

    def remove(self, name: str) -> None:
        """For good: what a half-done removal leaves is another story."""
        for path in self.disk.files():
            if path == f"{self.root}/{name}" or path.startswith(f"{self.root}/{name}/"):
                self.disk.remove(path)
                self.disk.sync_directory(path.rpartition("/")[0])

    def copy(self) -> "SimPlace":
        return SimPlace(self.disk.kill())


class RealPlace:
    """A store in a real directory."""

    def __init__(self, root: Path) -> None:
        self.path = root
        self.root = str(root)
        self.disk = MappedDisk()

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.path)): path.read_bytes()
            for path in self.path.rglob("*")
            if path.is_file()
        }

    def remove(self, name: str) -> None:
        found = self.path / name
        for path in [found] if found.is_file() else sorted(found.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()


def check_rebuilt(place: SimPlace | RealPlace, removed: tuple[str, ...]) -> None:
    """Remove, open, close: everything is as it was."""
    before = place.files()
    mark = mark_of(place.disk, f"{place.root}/durable_mark")
    for name in removed:
        place.remove(name)
    open_and_close(place.disk, place.root)
    after = place.files()
    assert after.keys() == before.keys(), removed
    for path in before:
        if path != "durable_mark":
            assert after[path] == before[path], (path, removed)
    rebuilt = mark_of(place.disk, f"{place.root}/durable_mark")
    if "durable_mark" in removed:
        # Nobody remembers from where on every record must have its CRC.
        assert rebuilt.crc_from == mark.flushed
        rebuilt = rebuilt._replace(crc_from=mark.crc_from)
    assert rebuilt == mark, removed


@pytest.fixture(scope="module")
def stopped() -> SimPlace:
    """The mixed store, stopped cleanly."""
    place = SimPlace()
    writer = written(place.disk, place.root)
    writer.store.close()
    return place


def test_the_log_holds_what_makes_a_rebuild_hard(stopped: SimPlace) -> None:
    files = stopped.files()
    by_folder = {name: [p for p in files if p.startswith(f"{name}/")] for name in DERIVED}
    assert all(len(paths) > 1 for paths in by_folder.values())
    assert len([path for path in files if path.startswith("commitlog/")]) > 5
    folders = {path.rpartition("/")[0] for path in files}
    assert {"consumequeue/Anew/0", f"consumequeue/{'T' * 200}/0"} <= folders


@pytest.mark.parametrize(
    "removed", [names for names in combinations_of(REMOVABLE) if is_whole(names)], ids="+".join
)
def test_whatever_is_removed_after_a_clean_stop_comes_back(
    stopped: SimPlace, removed: tuple[str, ...]
) -> None:
    check_rebuilt(stopped.copy(), removed)


@pytest.mark.parametrize("removed", combinations_of(DERIVED), ids="+".join)
def test_whatever_is_removed_after_a_crash_comes_back(removed: tuple[str, ...]) -> None:
    place = SimPlace()
    writer = written(place.disk, place.root)
    killed = place.copy()
    writer.store.close()
    for name in removed:
        killed.remove(name)
    open_and_close(killed.disk, killed.root)
    assert derived_of(killed.files()) == derived_of(place.files())


def test_the_same_on_a_real_disk(tmp_path: Path) -> None:
    place = RealPlace(tmp_path / "store")
    writer = written(place.disk, place.root)
    writer.store.close()
    for removed in (QUEUES, ("index",), (*DERIVED, "checkpoint"), REMOVABLE):
        check_rebuilt(place, removed)


def test_removing_one_file_of_a_queue_brings_all_of_them_back(stopped: SimPlace) -> None:
    """The last one: a missing first or middle file is refused after a clean stop."""
    before = derived_of(stopped.files())
    folders = {path.rpartition("/")[0] for path in before if path.startswith("consumequeue/")}
    assert len(folders) > 2
    for folder in folders:
        place = stopped.copy()
        place.disk.remove(f"store/{max(path for path in before if path.startswith(folder + '/'))}")
        open_and_close(place.disk, place.root)
        assert derived_of(place.files()) == before, folder


def visible(place: SimPlace) -> dict[tuple[bytes, int], tuple[int, int, list[bytes]]]:
    """Bounds and records of every queue."""
    store = Store.open(place.disk, place.root, CONFIG, SimDiskWorker(inline=True))
    found = {
        (queue.topic, queue.queue_id): (
            queue.min_offset,
            queue.max_offset,
            [
                bytes(part)
                for message in read_all(store, queue.topic, queue.queue_id)
                for part in [store.record_at(message.log_offset) or b""]
            ],
        )
        for queue in store.queues()
        if queue.max_offset > queue.min_offset
    }
    store.close()
    return found


def test_after_retention_what_can_be_seen_comes_back() -> None:
    place = SimPlace()
    writer = Writer(place.disk, place.root)
    writer.write(12)
    writer.expire()
    writer.write(8)
    writer.store.close()
    before = visible(place)
    assert before[b"Orders", 0][0] > 8, "whole files of units were removed"
    for name in DERIVED:
        place.remove(name)
    assert visible(place) == before
    rebuilt = derived_of(place.files())
    for name in DERIVED:
        place.remove(name)
    open_and_close(place.disk, place.root)
    assert derived_of(place.files()) == rebuilt


# A power cut while it is rebuilt.


def cut_at_every_call(
    stopped: SimPlace, removed: tuple[str, ...], check: Callable[[SimDisk, int], None]
) -> int:
    """Open with something missing, lose power at call n, for every n; how many there are."""
    number = 0
    while True:
        number += 1
        place = stopped.copy()
        for name in removed:
            place.remove(name)
        place.disk.faults.calls.clear()
        place.disk.faults.power_cut_at(number)
        try:
            open_and_close(place.disk, place.root)
        except PowerCut:
            check(place.disk, number)
            continue
        return number


@pytest.mark.parametrize("removed", [("consumequeue",), ("index",), QUEUES], ids="+".join)
def test_a_power_cut_anywhere_in_a_rebuild_is_rebuilt_again(
    stopped: SimPlace, removed: tuple[str, ...]
) -> None:
    before = derived_of(stopped.files())
    states = 0

    def check(disk: SimDisk, number: int) -> None:
        nonlocal states
        for survivor in disk.crash_states(2, seed=number, share=0.02):
            states += 1
            open_and_close(survivor, "store")
            assert derived_of(SimPlace(survivor).files()) == before, (number, survivor.origin)

    assert cut_at_every_call(stopped, removed, check) > 50
    assert states > 100
