"""One bit flips on the disk, any bit: no wrong byte is ever served.

Below the durable mark a flip is corruption: a record that holds it is refused by name, at the start
or when it is read, and every other record is served. Above the mark it is taken for a torn tail,
and cut. In a derived file it leads to a rebuild, or to an error that names the file.
"""

import contextlib
import random
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

import pytest

from aerobee.app.chaos.log_check import Queue
from aerobee.errors import CorruptFile, CorruptRecord
from aerobee.protocol.message.message_draft import MessageDraft
from aerobee.protocol.message.record import CRC_PROPERTY_BYTES, RECORD_BYTES_MIN
from aerobee.sim.disk import SimDisk
from aerobee.sim.disk_worker import SimDiskWorker
from aerobee.storage.config import StorageConfig
from aerobee.storage.defects import NO_DEFECTS, Defects
from aerobee.storage.store import Store
from tests.crash.recovery_check import LOG, Truth
from tests.score import show
from tests.store_kit import EVERYTHING, ROOT, StoreKit, batch_draft, draft, properties

KIB = 1024
LOG_BYTES = 8 * KIB
QUEUES: tuple[Queue, ...] = ((b"Orders", 0), (b"Orders", 1), (b"Refunds", 0))
NEVER_MS = 1 << 40

PROCESSES = 2

_NEAR = 50  # more than a small log has in all


class Place(NamedTuple):
    """One record: where it is, and who reads it."""

    start: int
    end: int
    queue: Queue
    queue_offset: int
    content: bytes


class Undamaged(NamedTuple):
    """A stopped store, every byte of its first log file in use, and what is in it."""

    disk: SimDisk
    config: StorageConfig
    places: list[Place]
    log_end: int

    def place_of(self, position: int) -> Place | None:
        """The record that holds a byte of the log; None for a filler."""
        index = bisect_right(self.places, position, key=lambda place: place.start) - 1
        return self.places[index] if position < self.places[index].end else None

    def places_near(self, position: int) -> list[Place]:
        """All of a small log; of a larger one so many to both sides."""
        index = bisect_right(self.places, position, key=lambda place: place.start)
        return self.places[max(0, index - _NEAR) : index + _NEAR]


def build(log_bytes: int, stop: str, defects: Defects = NO_DEFECTS) -> Undamaged:
    """`stop`: "clean"; "cut", a power cut long after the last checkpoint; "derived again", one
    after which every record is dispatched anew; "above mark", one after which every record is
    above the mark. "... aligned": with records of one size; "... in one file": the mark, too."""
    config = StorageConfig(
        log_file_bytes=2 * log_bytes if stop.endswith("in one file") else log_bytes,
        queue_file_units=log_bytes // 50,
        index_slots=16,
        index_units=log_bytes // 30,
        mark_interval_ms=NEVER_MS if stop == "above mark" else 1000,
        checkpoint_interval_ms=1000 if stop.startswith(("clean", "cut")) else NEVER_MS,
    )
    kit = StoreKit(config=config, defects=defects)
    number = 0
    while kit.store.end_offset <= log_bytes:
        kit.append(_aligned(number) if stop.endswith("aligned") else _mixed(number))
        number += 1
    for _ in range(3):
        kit.step(2000)
        kit.worker.run_all()
    kit.step()
    log_end = kit.store.end_offset
    if stop.startswith("clean"):
        kit.store.close()
    disk = kit.disk.power_cut()
    files = disk.files()
    log = b"".join(data for path, data in sorted(files.items()) if path.startswith(LOG))
    return Undamaged(disk, config, _places(log[:log_end]), log_end)


def _mixed(number: int) -> MessageDraft:
    """Singles and batches of many sizes, with keys and tags."""
    topic, queue_id = QUEUES[number % 3]
    if number % 9 == 4:
        return batch_draft(topic, queue_id, [b"%d" % n * 9 for n in range(3)])
    body = b"%06d" % number + b"." * (number % 3 * (number % 7) * 20)
    text = properties(TAGS=f"t{number % 2}", KEYS=f"k{number % 5}")
    return draft(topic, queue_id, body, text)


def _aligned(number: int) -> MessageDraft:
    """Records of 128 bytes each: a flip in a unit turns one place of a record into another's."""
    topic, queue_id = QUEUES[number % 3]
    size = 128 - RECORD_BYTES_MIN - CRC_PROPERTY_BYTES - len(topic)
    return draft(topic, queue_id, b"%d" % number + b"." * (size - len(str(number))))


def _places(log: bytes) -> list[Place]:
    counts: dict[Queue, int] = {}
    places = []
    for record in Truth(log).records:
        offset = counts.get(record.queue, 0)
        counts[record.queue] = offset + 1
        start = record.end - len(record.content)
        places.append(Place(start, record.end, record.queue, offset, record.content))
    return places


cached_build = cache(build)


def flipped(base: Undamaged, path: str, bit: int) -> SimDisk:
    """A twin of the stopped disk with one bit of one file changed."""
    disk = base.disk.power_cut()
    file = disk.open(path)
    file.view[bit >> 3] ^= 1 << (bit & 7)
    file.sync()
    file.close()
    return disk


# What must hold.


def served(store: Store, place: Place) -> bytes | CorruptRecord | CorruptFile:
    """What a reader gets who asks for one record: its bytes, or the error instead."""
    try:
        read = store.read(*place.queue, place.queue_offset, 1, EVERYTHING)
    except (CorruptRecord, CorruptFile) as error:
        return error
    return b"".join(read.slices)


def try_open(
    disk: SimDisk, base: Undamaged, defects: Defects = NO_DEFECTS
) -> Store | CorruptRecord | CorruptFile:
    try:
        return Store.open(disk, ROOT, base.config, SimDiskWorker(), defects=defects)
    except (CorruptRecord, CorruptFile) as error:
        return error


def check_flip_below_the_mark(base: Undamaged, store: Store, position: int) -> None:
    """Every record but the damaged one is served, and that one is named."""
    damaged = base.place_of(position)
    for place in base.places_near(position):
        found = served(store, place)
        if isinstance(found, bytes):
            assert found == place.content, f"a flip at {position}: {place.start} is wrong"
        else:
            assert place is damaged, f"a flip at {position} takes {place.start} away: {found}"
            assert isinstance(found, CorruptRecord)
            assert found.log_offset == place.start
    if damaged is not None:
        _check_single(store, damaged)


def _check_single(store: Store, damaged: Place) -> None:
    """Asked for by its log offset, a damaged record is an error or nothing."""
    with contextlib.suppress(CorruptRecord):
        assert store.record_at(damaged.start) is None, f"the record at {damaged.start} is served"


def check_open_with_flip(base: Undamaged, bit: int, defects: Defects = NO_DEFECTS) -> None:
    """Open a store with a flip below its mark. If it does not open, it names the record."""
    position = bit >> 3
    path = f"{LOG}/{0:020d}"
    opened = try_open(flipped(base, path, bit), base, defects)
    if isinstance(opened, Store):
        check_flip_below_the_mark(base, opened, position)
        return
    assert isinstance(opened, CorruptRecord)
    damaged = base.place_of(position)
    start = damaged.start if damaged is not None else base.places[-2].end
    assert (opened.path, opened.position) == (path, start), f"a flip at {position}: {opened}"


def check_cut(base: Undamaged, bit: int, defects: Defects = NO_DEFECTS) -> None:
    """A flip above the mark: the log ends before it, and all before that is there."""
    position = bit >> 3
    store = try_open(flipped(base, f"{LOG}/{0:020d}", bit), base, defects)
    assert isinstance(store, Store), f"a flip at {position} above the mark: {store}"
    damaged = base.place_of(position)
    kept = [place for place in base.places if place.end <= position]
    if damaged is None:  # in the filler: its eight bytes count, the zeros behind them do not
        assert store.end_offset in (kept[-1].end, base.log_end)
        if store.end_offset == base.log_end:
            kept = base.places
    else:
        assert store.end_offset == damaged.start, f"a flip at {position}"
    _check_exactly(store, kept)


def _check_exactly(store: Store, kept: Iterable[Place]) -> None:
    expected = dict.fromkeys(QUEUES, b"")
    for place in kept:
        expected[place.queue] += place.content
    for queue, content in expected.items():
        read = store.read(*queue, 0, 10_000, EVERYTHING)
        assert b"".join(read.slices) == content, f"{queue} after a cut"


# Tasks for the processes.


def flip_open_store(
    bits: Sequence[int], log_bytes: int = LOG_BYTES, defects: Defects = NO_DEFECTS
) -> int:
    """Flip and flip back under an open store, which has not looked at these bytes yet."""
    base = cached_build(log_bytes, "clean")
    disk = base.disk.power_cut()
    store = try_open(disk, base, defects)
    assert isinstance(store, Store)
    view = disk.open(f"{LOG}/{0:020d}").view
    for bit in bits:
        view[bit >> 3] ^= 1 << (bit & 7)
        check_flip_below_the_mark(base, store, bit >> 3)
        view[bit >> 3] ^= 1 << (bit & 7)
    return len(bits)


def flip_and_open(
    stop: str, bits: list[int], log_bytes: int = LOG_BYTES, defects: Defects = NO_DEFECTS
) -> int:
    base = cached_build(log_bytes, stop)
    for bit in bits:
        if stop == "above mark":
            check_cut(base, bit, defects)
        else:
            check_open_with_flip(base, bit, defects)
    return len(bits)


def one_bit_a_byte(log_bytes: int, seed: int) -> list[int]:
    generator = random.Random(seed)
    return [position * 8 + generator.randrange(8) for position in range(log_bytes)]


def _parts(bits: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(bits), 1024):
        yield bits[start : start + 1024]


def test_no_flip_of_any_byte_below_the_mark_serves_a_wrong_one() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        count = sum(pool.map(flip_open_store, _parts(one_bit_a_byte(LOG_BYTES, seed=5))))
    show(f"bit flips in a synced log: {count:,}")
    assert count == 8_192


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_no_flip_of_any_bit_below_the_mark_serves_a_wrong_byte() -> None:
    with ProcessPoolExecutor(PROCESSES) as pool:
        assert sum(pool.map(flip_open_store, _parts(list(range(LOG_BYTES * 8))))) == 65_536


@pytest.mark.parametrize("stop", ["clean", "cut, in one file", "derived again", "above mark"])
def test_a_store_with_a_flip_in_its_log_opens_right_or_not_at_all(stop: str) -> None:
    bits = one_bit_a_byte(LOG_BYTES, seed=7)[::4]
    with ProcessPoolExecutor(PROCESSES) as pool:
        parts = list(_parts(bits))
        assert sum(pool.map(flip_and_open, [stop] * len(parts), parts)) == LOG_BYTES // 4


@pytest.mark.night
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("stop", ["derived again", "above mark"])
def test_a_store_with_any_flip_in_its_log_opens_right_or_not_at_all(stop: str) -> None:
    parts = list(_parts(list(range(LOG_BYTES * 8))))
    with ProcessPoolExecutor(PROCESSES) as pool:
        assert sum(pool.map(flip_and_open, [stop] * len(parts), parts)) == LOG_BYTES * 8


@pytest.mark.night
@pytest.mark.timeout(3600)
def test_no_flip_in_a_larger_log_serves_a_wrong_byte() -> None:
    ranges = [range(start, start + 4096) for start in range(0, 64 * KIB * 8, 4096)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        assert sum(pool.map(flip_open_store, ranges, [64 * KIB] * len(ranges))) == 64 * KIB * 8


@pytest.mark.night
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("stop", ["clean", "derived again", "above mark"])
def test_random_flips_over_a_large_log_open_right_or_not_at_all(stop: str) -> None:
    generator = random.Random(11)
    bits = [generator.randrange(256 * KIB * 8) for _ in range(1000)]
    assert flip_and_open(stop, bits, 256 * KIB) == 1000


# Derived files and marks.

SMALL_FILES = ("consumequeue/Orders/0/", "index/", "checkpoint", "durable_mark")


def check_flip_beside_the_log(base: Undamaged, path: str, bit: int) -> str:
    """Whatever it damages, each record is served right, or an error names a file."""
    store = try_open(flipped(base, path, bit), base)
    if not isinstance(store, Store):
        assert isinstance(store, CorruptFile)
        assert store.path == path
        return "refused"
    named = 0
    for place in base.places:
        found = served(store, place)
        if isinstance(found, bytes):
            assert found == place.content, f"bit {bit} of {path}: {place.start} is wrong"
        else:
            # A unit that points into the middle of a record looks like a damaged record.
            assert path.startswith(found.path) or found.path.startswith(LOG)
            named += 1
    contents = {place.content for place in base.places}
    for number in range(5):
        for record in store.records_by_key(b"Orders", b"k%d" % number, 0, EVERYTHING, 64):
            assert bytes(record) in contents
    return "named" if named else "right"


def _bits_of(content: bytes, *, is_every_bit: bool) -> list[int]:
    """All bits, or one of each byte, where something stands; one in sixteen bytes where zeros
    are."""
    generator = random.Random(3)
    bits: list[int] = []
    for position in range(len(content)):
        is_used = any(content[max(0, position - 32) : position + 32])
        if is_used and is_every_bit:
            bits += range(position * 8, position * 8 + 8)
        elif is_used or position % 16 == 0:
            bits.append(position * 8 + generator.randrange(8))
    return bits


def flip_some(stop: str, path: str, bits: list[int]) -> set[str]:
    base = cached_build(LOG_BYTES, stop)
    return {check_flip_beside_the_log(base, path, bit) for bit in bits}


def flip_file(name: str, stop: str, *, is_every_bit: bool = False) -> set[str]:
    """Flips of one file, one in each byte or all; what came of them."""
    files = cached_build(LOG_BYTES, stop).disk.files()
    path = next(path for path in files if path.startswith(f"{ROOT}/{name}"))
    parts = list(_parts(_bits_of(files[path], is_every_bit=is_every_bit)))
    with ProcessPoolExecutor(PROCESSES) as pool:
        done = pool.map(flip_some, [stop] * len(parts), [path] * len(parts), parts)
        return set().union(*done)


@pytest.mark.parametrize("is_every_bit", [False, pytest.param(True, marks=pytest.mark.night)])
@pytest.mark.parametrize("stop", ["clean", "cut"])
@pytest.mark.parametrize("name", SMALL_FILES)
def test_a_flip_beside_the_log_never_serves_a_wrong_message(
    stop: str, name: str, *, is_every_bit: bool
) -> None:
    outcomes = flip_file(name, stop, is_every_bit=is_every_bit)
    assert "right" in outcomes
    if name == "checkpoint":
        assert outcomes == {"right"}


@pytest.mark.parametrize("stop", ["clean, aligned", "cut, aligned"])
def test_a_flip_in_a_unit_never_leads_to_a_record_of_the_same_size(stop: str) -> None:
    assert "named" in flip_file("consumequeue/Orders/0/", stop)


def test_a_flip_in_the_only_good_slot_of_the_mark_is_named() -> None:
    config = cached_build(LOG_BYTES, "clean").config
    disk = SimDisk()
    Store.open(disk, ROOT, config, SimDiskWorker())
    disk = disk.power_cut()
    for position in (0, 4096):
        file = disk.open(f"{ROOT}/durable_mark")
        file.view[position + 20] ^= 1
        file.sync()
    with pytest.raises(CorruptFile, match="durable mark: neither slot is valid"):
        Store.open(disk, ROOT, config, SimDiskWorker())
