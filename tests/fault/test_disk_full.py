"""A disk without room: refusals that are definite, reads that go on, and no message lost.

The disk of most stories here has a capacity that a test raises and lowers; what the store asks for
beyond it fails with ENOSPC, as on a real disk, whichever file it is for.
"""

import errno
from dataclasses import replace

import pytest

from aerobee.errors import DiskFailed, DiskFull, StorageError
from aerobee.sim.disk import SimDisk
from aerobee.storage.config import FlushMode, StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defect, Defects
from tests.store_kit import ROOT, SMALL, StoreKit, bodies_of, draft, offsets_of, properties

# No limit but the disk itself, and nothing goes by itself.
CONFIG = replace(SMALL, disk_used_ratio_clean=1.0, disk_used_ratio_full=1.0, disk_free_bytes_min=0)
MODES = [FlushMode.ASYNC, FlushMode.SYNC]
SECOND_MS = 1000


class Producer:
    """Appends numbered messages, and knows which of them were acknowledged."""

    def __init__(self, disk: SimDisk, config: StorageConfig, defects: Defects = NO_DEFECTS) -> None:
        self.kit = StoreKit(disk, config, defects=defects)
        self.number = 0
        self.acknowledged: list[bytes] = []
        self.refused: list[bytes] = []

    def send(self, size: int = 200, queue_id: int = 0) -> bool:
        """Whether a message was taken; it is acknowledged as the mode says."""
        body = f"{self.number} ".encode().ljust(size, b".")
        self.number += 1
        try:
            self.kit.append(draft(b"Orders", queue_id, body, properties(KEYS=f"k{self.number}")))
        except DiskFull:
            self.refused.append(body)
            return False
        if self.kit.config.flush_mode is FlushMode.SYNC:
            self.kit.store.wait_for(self.kit.store.end_offset, body)
        else:
            self.acknowledged.append(body)
        return True

    def run(self, ms: int = 1) -> None:
        """A step, with the disk work done at once."""
        result = self.kit.step(ms)
        assert result.failed == []
        self.acknowledged += [ticket for ticket in result.safe if isinstance(ticket, bytes)]
        self.kit.worker.run_all()

    def fill(self, count: int = 1000) -> None:
        """Send until the disk is full."""
        for _ in range(count):
            if not self.send():
                return
            self.run()
        raise AssertionError("the disk took it all")

    def leave_room(self, room_bytes: int) -> None:
        """The disk has so much room left, and not more."""
        space = self.kit.disk.space(ROOT)
        self.kit.disk.capacity_bytes = space.total_bytes - space.free_bytes + room_bytes

    def wait(self, seconds: int = 10) -> None:
        for _ in range(10 * seconds):
            self.run(SECOND_MS // 10)


def small_disk(log_files: int) -> SimDisk:
    """Room for the small files of a store, one of each kind of the others, and some log files."""
    return SimDisk(capacity_bytes=14_000 + log_files * SMALL.log_file_bytes)


def check_kept(producer: Producer, bodies: list[bytes]) -> None:
    """No acknowledged message is missing, and no refused one is there."""
    assert [body for body in bodies if body in producer.refused] == []
    assert [body for body in producer.acknowledged if body not in bodies] == []


# The log.


@pytest.mark.parametrize("mode", MODES)
def test_without_room_for_the_next_log_file_sends_are_refused_and_reads_go_on(
    mode: FlushMode,
) -> None:
    producer = Producer(small_disk(3), replace(CONFIG, flush_mode=mode, queue_file_units=100))
    producer.fill()
    producer.run()
    store = producer.kit.store
    end = store.end_offset
    for _ in range(5):
        with pytest.raises(DiskFull, match="no room for the next commit log file"):
            producer.kit.append(draft(body=bytes(100)))
        producer.run()
    assert store.end_offset == end
    assert store.failure is None
    producer.wait()
    check_kept(producer, bodies_of(store))
    assert len(producer.acknowledged) == len(bodies_of(store)) > 20


@pytest.mark.parametrize("mode", MODES)
def test_when_there_is_room_again_sends_go_on_without_a_restart(mode: FlushMode) -> None:
    producer = Producer(small_disk(3), replace(CONFIG, flush_mode=mode, queue_file_units=100))
    for _ in range(3):
        producer.fill()
        producer.wait(3)
        producer.kit.disk.capacity_bytes += 2 * SMALL.log_file_bytes
        producer.wait(3)
        assert producer.kit.store.appender.refusal is None
        assert producer.send()
    producer.wait(2)
    check_kept(producer, bodies_of(producer.kit.store))
    queue = producer.kit.store.queue(b"Orders", 0)
    assert offsets_of(queue) == (0, len(producer.acknowledged), len(producer.acknowledged))


def test_a_file_that_cannot_be_made_is_not_tried_at_every_send() -> None:
    producer = Producer(small_disk(2), replace(CONFIG, queue_file_units=100))
    producer.fill()
    calls = producer.kit.disk.faults.calls
    before = len(calls)
    for _ in range(500):
        assert not producer.send()
        producer.run(10)
    tries = sum(call.name == "create" for call in calls[before:])
    assert 3 <= tries <= 6, "about one a second"


def test_a_message_too_large_for_the_room_left_does_not_take_the_store_with_it() -> None:
    producer = Producer(SimDisk(), CONFIG)
    producer.send(100)
    producer.wait(6)
    producer.leave_room(1000)
    assert not producer.send(3800), "it wants a file of its own"
    producer.run()
    assert not producer.send(100), "from now on all are refused"
    producer.leave_room(SMALL.log_file_bytes)
    producer.wait(3)
    assert producer.send(3800)
    producer.wait(1)
    assert [len(body) for body in bodies_of(producer.kit.store)] == [100, 3800]


# Queues and index.


def test_a_message_whose_queue_file_has_no_room_is_seen_later() -> None:
    producer = Producer(SimDisk(capacity_bytes=1 << 20), CONFIG)
    for _ in range(8):
        assert producer.send(20)  # the first file of the queue is full
    producer.wait(1)
    producer.leave_room(0)
    assert producer.send(20)
    producer.run()
    store = producer.kit.store
    assert len(bodies_of(store)) == 8
    with pytest.raises(DiskFull, match="no room for a file of the store"):
        producer.kit.append(draft())
    producer.leave_room(1 << 20)
    producer.wait(2)
    assert producer.send(20)
    producer.wait(1)
    assert len(bodies_of(store)) == 10
    check_kept(producer, bodies_of(store))


def test_a_new_queue_without_room_for_its_first_file_is_seen_later() -> None:
    producer = Producer(SimDisk(capacity_bytes=1 << 20), CONFIG)
    producer.send()
    producer.wait(1)
    producer.leave_room(0)
    assert producer.send(queue_id=7)
    producer.run()
    assert bodies_of(producer.kit.store, b"Orders", 7) == []
    producer.leave_room(1 << 20)
    producer.wait(2)
    assert len(bodies_of(producer.kit.store, b"Orders", 7)) == 1


def full_index(producer: Producer) -> None:
    """Bring the index to where its next keys need another file, of which there is no room."""
    for _ in range(SMALL.index_units - 1):
        assert producer.send(20)
    producer.wait(6)
    index = f"{ROOT}/index"
    assert len(producer.kit.disk.list_directory(index)) == 1
    producer.leave_room(0)
    for _ in range(8):
        producer.send(20)
        producer.run()


def test_without_room_for_an_index_file_reads_by_key_and_by_queue_go_on() -> None:
    producer = Producer(SimDisk(capacity_bytes=1 << 20), replace(CONFIG, queue_file_units=100))
    full_index(producer)
    store = producer.kit.store
    found = store.records_by_key(b"Orders", b"k5", 0, 1 << 60, 10)
    assert len(found) == 1
    producer.wait(12)
    assert len(bodies_of(store)) == len(producer.acknowledged)
    producer.kit.disk.capacity_bytes = 1 << 20
    producer.wait(12)
    for number in range(len(producer.acknowledged)):
        key = f"k{number + 1}".encode()
        assert len(store.records_by_key(b"Orders", key, 0, 1 << 60, 10)) == 1, key


def test_a_crash_while_there_was_no_room_for_queues_and_index_loses_nothing() -> None:
    producer = Producer(SimDisk(capacity_bytes=1 << 20), CONFIG)
    full_index(producer)
    producer.wait(12)
    for survivor in [producer.kit.disk.kill(), *producer.kit.disk.crash_states(random_count=8)]:
        survivor.capacity_bytes = 1 << 20
        again = StoreKit(survivor, CONFIG)
        check_kept(producer, bodies_of(again.store))
        assert bodies_of(again.store) == sorted(
            bodies_of(again.store), key=lambda body: int(body.split()[0])
        )


@pytest.mark.parametrize("is_killed", [True, False])
def test_what_was_waiting_for_room_does_not_cost_a_rebuild_at_the_next_start(
    is_killed: bool,
) -> None:
    """A mark that is written meanwhile would speak of an index with keys of a message that has no
    place in its queue; the next start could not believe it."""
    producer = Producer(SimDisk(), CONFIG)
    for _ in range(8):
        assert producer.send(20)  # the first file of the queue is full
    assert producer.send(20, queue_id=1)
    producer.wait(6)
    producer.leave_room(0)
    assert producer.send(20, queue_id=1)
    assert producer.send(20)
    producer.wait(12)
    if is_killed:
        disk = producer.kit.disk.kill()
    else:
        producer.kit.store.close()
        disk = producer.kit.disk
    disk.capacity_bytes = 1 << 20
    before = len(disk.faults.calls)
    again = StoreKit(disk, CONFIG)
    bodies = bodies_of(again.store) + bodies_of(again.store, b"Orders", 1)
    assert sorted(bodies) == sorted(producer.acknowledged)
    made = [call.path for call in disk.faults.calls[before:] if call.name == "create"]
    assert [path for path in made if "/index/" in path] == []


# Every size of a disk.


def story_on(disk: SimDisk, mode: FlushMode) -> Producer:
    """Send as long as the disk allows, in several queues, and past that."""
    producer = Producer(disk, replace(CONFIG, flush_mode=mode))
    for number in range(60):
        producer.send(150, queue_id=number % 3)
        producer.run()
    producer.wait(2)
    return producer


@pytest.mark.parametrize("mode", MODES)
def test_a_disk_of_any_size_refuses_definitely_and_loses_nothing(mode: FlushMode) -> None:
    whole = story_on(SimDisk(), mode)
    assert whole.refused == []
    used = whole.kit.disk.capacity_bytes - whole.kit.disk.space(ROOT).free_bytes
    sizes_that_refused = 0
    for capacity in range(0, used + 1000, 491):
        try:
            producer = story_on(SimDisk(capacity_bytes=capacity), mode)
        except DiskFull:
            continue  # not even an empty store has room
        store = producer.kit.store
        queued = [body for queue_id in range(3) for body in bodies_of(store, b"Orders", queue_id)]
        assert [body for body in queued if body in producer.refused] == []
        sizes_that_refused += bool(producer.refused)
        producer.kit.disk.capacity_bytes = 1 << 30
        producer.wait(7)
        assert producer.send()
        producer.wait(1)
        for disk in (producer.kit.disk.kill(), producer.kit.disk.power_cut()):
            again = StoreKit(disk, producer.kit.config)
            bodies = [b for i in range(3) for b in bodies_of(again.store, b"Orders", i)]
            check_kept(producer, bodies)
    assert sizes_that_refused > 20


# Limits.


def test_sends_are_refused_before_the_disk_is_full_and_go_on_below_the_second_limit() -> None:
    config = replace(
        CONFIG, disk_used_ratio_clean=0.8, disk_used_ratio_full=0.9, retention_ms=1 << 40
    )
    producer = Producer(SimDisk(capacity_bytes=1 << 20), config)
    disk = producer.kit.disk
    producer.send()
    disk.create("others", (1 << 20) * 88 // 100)
    producer.wait(2)
    assert producer.send(), "below the limit"
    disk.create("more", (1 << 20) * 3 // 100)
    producer.wait(2)
    with pytest.raises(DiskFull, match=r"% used and .* free; appends stop above 90 %"):
        producer.kit.append(draft())
    disk.remove("more")
    producer.wait(2)
    assert not producer.send(), "not yet low enough"
    disk.remove("others")
    producer.wait(2)
    assert producer.send()
    producer.wait(1)
    check_kept(producer, bodies_of(producer.kit.store))


def test_a_store_that_is_opened_on_a_full_disk_takes_nothing_and_shows_all() -> None:
    config = replace(CONFIG, disk_used_ratio_full=0.9, disk_used_ratio_clean=0.9)
    producer = Producer(SimDisk(capacity_bytes=1 << 20), config)
    producer.send()
    producer.wait(1)
    producer.kit.disk.create("others", (1 << 20) * 91 // 100)
    again = producer.kit.reopen()
    with pytest.raises(DiskFull, match="appends stop above 90 %"):
        again.append(draft())
    assert bodies_of(again.store) == producer.acknowledged


def test_a_store_that_cleans_itself_takes_many_times_what_its_disk_holds() -> None:
    config = replace(
        CONFIG, disk_used_ratio_clean=0.6, disk_used_ratio_full=0.9, checkpoint_interval_ms=100
    )
    producer = Producer(SimDisk(capacity_bytes=100_000), config)
    sent = 0
    for _ in range(4000):
        sent += producer.send(150)
        producer.run(20)
    assert sent * 150 > 5 * 100_000
    assert len(producer.refused) < 100
    bodies = bodies_of(producer.kit.store)
    assert bodies == producer.acknowledged[-len(bodies) :]
    assert len(bodies) > 100


# Syncs, starts and stops.


def story_of_a_sync_without_room(defects: Defects) -> None:
    """A sync that fails for lack of room is a failed sync: what waited for it may be lost."""
    producer = Producer(SimDisk(), replace(CONFIG, flush_mode=FlushMode.SYNC), defects)
    producer.send()
    producer.wait(1)
    kit = producer.kit
    kit.disk.faults.fail_sync(f"{ROOT}/commitlog/*", code=errno.ENOSPC)
    kit.append(draft(body=b"lost"))
    kit.store.wait_for(kit.store.end_offset, b"lost")
    durable: list[object] = []
    for _ in range(5):
        durable += kit.step().safe
        kit.worker.run_all()
    after = StoreKit(kit.disk.power_cut())
    assert [ticket for ticket in durable if ticket not in bodies_of(after.store)] == []
    assert isinstance(kit.store.failure, DiskFailed)


def test_a_sync_that_fails_for_lack_of_room_acknowledges_nothing() -> None:
    story_of_a_sync_without_room(NO_DEFECTS)


def test_planted_acknowledge_on_full_disk_is_noticed() -> None:
    with pytest.raises(AssertionError):
        story_of_a_sync_without_room(frozenset({Defect.ACKNOWLEDGE_ON_FULL_DISK}))


def test_a_store_can_be_stopped_on_a_full_disk_and_opened_when_there_is_room() -> None:
    producer = Producer(SimDisk(capacity_bytes=1 << 20), CONFIG)
    full_index(producer)
    disk = producer.kit.disk
    producer.kit.store.close()
    with pytest.raises(DiskFull, match="no room for a file of the store"):
        StoreKit(disk, CONFIG)
    disk.capacity_bytes = 1 << 20
    again = StoreKit(disk, CONFIG)
    assert bodies_of(again.store) == producer.acknowledged


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_whichever_call_of_a_start_finds_no_room_the_start_says_so(code: int) -> None:
    producer = Producer(SimDisk(), CONFIG)
    for _ in range(40):
        producer.send()
        producer.run()
    stopped = producer.kit.disk.kill()

    def opened(n: int) -> tuple[SimDisk, StorageError | None]:
        disk = stopped.kill()
        if n:
            disk.faults.fail_call(n, code)
        try:
            StoreKit(disk, CONFIG)
        except StorageError as error:
            return disk, error
        return disk, None

    disk, error = opened(0)
    assert error is None
    for n in range(1, len(disk.faults.calls) + 1):
        failed, error = opened(n)
        call = failed.faults.calls[-1]
        assert error is None or isinstance(error, DiskFull | DiskFailed), call
        again = StoreKit(failed.kill(), CONFIG)
        check_kept(producer, bodies_of(again.store))
