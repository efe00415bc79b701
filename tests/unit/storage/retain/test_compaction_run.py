"""One run over one queue: what is kept, in how many parts, and what a damaged record does to it."""

from collections.abc import Sequence

import pytest

from aerobee.errors import CorruptRecord
from aerobee.protocol.message.record import RecordWriter
from aerobee.sim.disk import SimDisk
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.index.kept_file import KeptFile
from aerobee.storage.index.kept_files import KeptFiles
from aerobee.storage.retain.compaction_run import (
    ENTRIES_A_PART,
    CompactionRun,
    RunPlan,
    Unit,
    key_digest,
)
from tests.store_kit import draft, properties

HOST = bytes((127, 0, 0, 1)) + (10911).to_bytes(4, "big")
TOPIC = b"Prices"
FOLDER = "store/compacted/Prices/0"
STAMP = 1_000_000


class RunRig:
    """A log of one queue, and runs over it."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.disk.make_directory("store")
        self.log = FileSequence(self.disk, "store/commitlog", 1 << 20)
        self.file = self.log.create(0)
        self.kept = KeptFiles(self.disk, "store/compacted")
        self.units: list[Unit] = []
        self.position = 0

    def put(self, key: str, body: bytes = b"value", queue_id: int = 0) -> None:
        """One record, stored a millisecond after the one before."""
        number = len(self.units)
        text = properties(KEYS=key) if key else b""
        record = RecordWriter(HOST, True).encode(
            draft(TOPIC, queue_id, body, text), number, self.position, STAMP + number
        )
        self.file.view[self.position : self.position + len(record)] = record
        self.units.append(Unit(number, self.file, self.position, len(record), 9))
        self.position += len(record)

    def plan(self, **changes: object) -> RunPlan:
        before = self.kept.find(TOPIC, 0)
        start = 0 if before is None else before.end
        plan = RunPlan(TOPIC, 0, before, start, len(self.units), 0, 1000, 0)
        return plan._replace(**changes)  # type: ignore[arg-type]

    def run(self, part: int = 3, **changes: object) -> KeptFile:
        """A whole run; its file counts from now on."""
        run = CompactionRun(self.disk, self.kept.path, self.plan(**changes))
        for _ in range(10_000):
            if run.is_hungry:
                start = run.next_offset
                run.add(self.units[start : start + part], min(start + part, run.plan.end))
            run.work()
            if run.outcome is not None:
                self.kept.put(TOPIC, 0, run.outcome)
                return run.outcome
        raise AssertionError("the run does not end")


def offsets(file: KeptFile) -> list[int]:
    return [entry.queue_offset for entry in file.entries(0, file.count)]


def rig_of(keys: Sequence[str]) -> RunRig:
    rig = RunRig()
    for key in keys:
        rig.put(key)
    return rig


def test_the_newest_of_each_key_is_kept_as_it_was_stored() -> None:
    rig = rig_of("abcaba")
    file = rig.run()
    assert offsets(file) == [2, 4, 5]
    assert (file.end, file.log_end, file.first_offset) == (6, rig.position, 2)
    assert [entry.digest for entry in file.entries(0, 3)] == [
        key_digest(key) for key in (b"c", b"b", b"a")
    ]
    for entry in file.entries(0, 3):
        unit = rig.units[entry.queue_offset]
        record = file.view[entry.position : entry.position + entry.size]
        assert record == unit.file.slice(unit.position, unit.size)
        assert (entry.tag_code, entry.stored_ms) == (9, STAMP + entry.queue_offset)
        assert entry.log_offset == unit.position


def test_what_was_kept_before_stays_unless_its_key_came_again() -> None:
    rig = rig_of("abc")
    rig.run()
    for key in "bd":
        rig.put(key)
    file = rig.run()
    assert (offsets(file), file.end) == ([0, 2, 3, 4], 5)
    rig.put("a")
    assert offsets(rig.run()) == [2, 3, 4, 5]


def test_a_run_whose_table_is_full_ends_there_and_the_next_goes_on() -> None:
    rig = rig_of("abababcdab")
    first = rig.run(keys_max=2)
    assert (offsets(first), first.end) == ([4, 5], 6)
    second = rig.run(keys_max=2)
    assert (offsets(second), second.end) == ([4, 5, 6, 7], 8)
    third = rig.run(keys_max=2)
    assert (offsets(third), third.end) == ([6, 7, 8, 9], 10)


def test_a_message_without_a_body_deletes_its_key_and_goes_itself_when_it_is_old() -> None:
    rig = rig_of("abc")
    rig.run()
    rig.put("a", b"")
    rig.put("b", b"")
    file = rig.run()
    assert offsets(file) == [2, 3, 4]
    assert file.oldest_deletion_ms == STAMP + 3
    later = rig.run(deletions_before_ms=STAMP + 4)
    assert (offsets(later), later.oldest_deletion_ms) == ([2, 4], STAMP + 4)
    last = rig.run(deletions_before_ms=STAMP + 5)
    assert (offsets(last), last.oldest_deletion_ms) == ([2], 0)


def test_a_deletion_that_is_old_already_takes_its_key_with_it() -> None:
    rig = rig_of("ab")
    rig.run()
    rig.put("a", b"")
    assert offsets(rig.run(deletions_before_ms=STAMP + 99)) == [1]


def test_a_key_that_comes_back_after_its_deletion_is_there() -> None:
    rig = rig_of("a")
    rig.put("a", b"")
    rig.run()
    rig.put("a", b"again")
    file = rig.run(deletions_before_ms=STAMP + 99)
    assert (offsets(file), file.oldest_deletion_ms) == ([2], 0)


def test_messages_without_a_key_are_not_kept() -> None:
    rig = RunRig()
    for key in ("", "a", "  ", ""):
        rig.put(key)
    file = rig.run()
    assert (offsets(file), file.end) == ([1], 4)


def test_all_words_of_the_keys_are_one_key() -> None:
    rig = rig_of(["a b", "a", "b", "a b"])
    assert offsets(rig.run()) == [1, 2, 3]


def test_the_file_is_the_same_whatever_the_parts_are() -> None:
    keys = [f"k{number % 7}" for number in range(40)]
    contents = set()
    for part in (1, 2, 39, 100):
        rig = rig_of(keys)
        rig.run(part)
        contents.add(rig.disk.read(f"{FOLDER}/{40:020}"))
    assert len(contents) == 1


def test_no_part_is_larger_than_it_may_be() -> None:
    keys = [f"k{number}" for number in range(2 * ENTRIES_A_PART + 10)]
    rig = rig_of(keys)
    rig.run(1000, keys_max=10**6)
    rig.put("new")
    run = CompactionRun(rig.disk, rig.kept.path, rig.plan())
    run.add(rig.units[-1:], len(rig.units))
    parts = 0
    while run.outcome is None:
        run.work()
        parts += 1
    # Gathering, what is fresh, three parts to weigh, the file, three to copy, the end.
    assert parts >= 10
    assert run.outcome.count == len(keys) + 1


@pytest.mark.parametrize("at", [0, 21, 30, 90, -3])
def test_a_damaged_record_ends_the_run_and_what_it_made_can_go(at: int) -> None:
    rig = rig_of("abc")
    unit = rig.units[1]
    rig.file.view[unit.position + at % unit.size] ^= 1
    with pytest.raises(CorruptRecord) as raised:
        rig.run()
    assert raised.value.log_offset == unit.position
    assert rig.disk.list_directory(FOLDER) == []


def test_a_record_of_another_queue_is_damage() -> None:
    rig = rig_of("a")
    rig.put("b", queue_id=1)
    with pytest.raises(CorruptRecord):
        rig.run()


def test_a_damaged_record_that_was_kept_is_not_handed_on() -> None:
    rig = rig_of("abc")
    before = rig.run()
    before.view[before.entry(1).position + 95] ^= 1
    rig.put("d")
    with pytest.raises(CorruptRecord, match="compaction kept"):
        rig.run()
    assert rig.disk.list_directory(FOLDER) == [f"{3:020}", f"{4:020}.new"]


def test_what_a_run_made_goes_when_nobody_wants_it() -> None:
    rig = rig_of("abc")
    run = CompactionRun(rig.disk, rig.kept.path, rig.plan())
    run.discard()
    run.add(rig.units, 3)
    for _ in range(4):
        run.work()
    assert rig.disk.list_directory(FOLDER) == [f"{3:020}.new"]
    run.discard()
    assert rig.disk.list_directory(FOLDER) == []
    finished = CompactionRun(rig.disk, rig.kept.path, rig.plan())
    finished.add(rig.units, 3)
    while finished.outcome is None:
        finished.work()
    finished.discard()
    assert rig.disk.list_directory(FOLDER) == []


def test_a_file_in_its_place_is_on_the_disk_whatever_happens_then() -> None:
    rig = rig_of("abcab")
    file = rig.run()
    data = bytes(file.view)
    for state in rig.disk.crash_states(random_count=10, seed=3):
        assert state.read(f"{FOLDER}/{5:020}") == data
