"""The key index over its files: order of keys, names, rolls, look-ups, retention and crashes.

Longer than 500 lines because crashes and cuts are judged by the same few helpers.
"""

import struct
from datetime import UTC, datetime, timedelta

import pytest

from aerobee.errors import CorruptFile, Misuse
from aerobee.sim.disk import SimDisk
from aerobee.storage.index.key_index import (
    KeyIndex,
    KeyIndexConfig,
    discard,
    file_name,
    index_names,
    topic_hash,
)
from aerobee.storage.index.key_index_file import file_bytes, index_hash

CONFIG = KeyIndexConfig(slots=8, units=11)  # ten keys a file
FOLDER = "store/index"
START = 1_700_000_000_000  # 2023-11-14 22:13:20
FOREVER = 1 << 60


def opened(disk: SimDisk) -> KeyIndex:
    disk.make_directory(FOLDER)  # the folders above are not the index's to sync
    return KeyIndex.open(disk, FOLDER, CONFIG)


def put(index: KeyIndex, number: int) -> int:
    """Record `number`, at log offset 100·number, with one, two, three or four keys."""
    return index.put_keys(
        b"Orders",
        b"U%d" % number,
        b" ".join([b"", b"all", b"", b"k%d" % (number // 2), b""][: number % 4 + 1]),
        b"red" if number % 3 == 0 else b"",
        100 * number,
        START + 300 * number,
    )


def filled(disk: SimDisk, count: int) -> KeyIndex:
    index = opened(disk)
    for number in range(count):
        put(index, number)
    return index


def contents(disk: SimDisk) -> dict[str, bytes]:
    return {name: disk.read(f"{FOLDER}/{name}") for name in index_names(disk, FOLDER)}


def settled_contents(disk: SimDisk, index: KeyIndex) -> dict[str, bytes]:
    assert sorted(index.paths) == [f"{FOLDER}/{name}" for name in contents(disk)]
    return contents(disk)


def sync(disk: SimDisk, index: KeyIndex) -> None:
    for file in index.sync_targets():
        file.sync()
    folder = index.directory_to_sync()
    if folder is not None:
        disk.sync_directory(folder)


def java_hash(text: str) -> int:
    value = 0
    for character in text:
        value = (31 * value + ord(character)) % 2**32
    return value


def keys_of(disk: SimDisk, index: KeyIndex) -> list[tuple[int, int]]:
    """(key hash, log offset) of every unit, file by file."""
    found = []
    for content in settled_contents(disk, index).values():
        count = struct.unpack_from(">i", content, 36)[0]
        for unit in range(1, count):
            found.append(struct.unpack_from(">iq", content, 40 + 4 * 8 + 20 * unit))
    return found


# Keys of a record.


def test_a_record_is_indexed_by_unique_key_then_words_then_tag() -> None:
    disk = SimDisk()
    index = opened(disk)
    assert index.put_keys(b"T1", b"UNIQ", b"one two", b"red", 700, START) == 4
    expected = ["T1#UNIQ", "T1#one", "T1#two", "T1#T#red"]
    assert keys_of(disk, index) == [(index_hash(java_hash(text)), 700) for text in expected]


def test_blanks_around_and_between_words_make_no_keys() -> None:
    disk = SimDisk()
    index = opened(disk)
    assert index.put_keys(b"T1", b"", b"  one   two ", b"", 700, START) == 2
    assert index.put_keys(b"T1", b"", b"   ", b"", 800, START) == 0
    assert [offset for _, offset in keys_of(disk, index)] == [700, 700]


def test_a_record_without_keys_opens_no_file() -> None:
    disk = SimDisk()
    index = opened(disk)
    assert index.put_keys(b"T1", b"", b"", b"", 700, START) == 0
    assert index.paths == []
    assert (index.unit_count, index.end_offset, index.end_timestamp) == (0, -1, 0)


def test_a_topic_hash_is_that_of_the_topic_and_the_sign() -> None:
    assert topic_hash(b"Orders") == java_hash("Orders#")


# Files and their names.


@pytest.mark.parametrize(
    ("time_ms", "expected"),
    [
        (0, "19700101000000000"),
        (951_827_696_789, "20000229123456789"),
        (4_107_542_400_000, "21000301000000000"),  # 2100 has no leap day
        (START, "20231114221320000"),
        (253_402_300_799_999, "99991231235959999"),
        (253_402_300_800_000, "99991231235959999"),
        (-1, "19700101000000000"),
    ],
)
def test_a_name_is_the_time_in_utc(time_ms: int, expected: str) -> None:
    assert file_name(time_ms) == expected


def test_names_agree_with_the_calendar_on_every_day_of_five_centuries() -> None:
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    for day in range(365 * 500):
        time_ms = day * 86_400_000 + day * 7919 % 86_400_000
        moment = epoch + timedelta(milliseconds=time_ms)
        expected = moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03}"
        assert file_name(time_ms) == expected


def test_a_file_is_named_after_the_record_that_opens_it() -> None:
    disk = SimDisk()
    index = opened(disk)
    for number in range(11):
        index.put_keys(b"T1", b"U%d" % number, b"", b"", 100 * number, START + 60_000 * number)
    assert index.paths == [f"{FOLDER}/{file_name(START)}", f"{FOLDER}/{file_name(START + 600_000)}"]


def test_names_rise_even_if_all_records_have_one_time() -> None:
    disk = SimDisk()
    index = opened(disk)
    for number in range(35):
        index.put_keys(b"T1", b"U%d" % number, b"", b"", 100 * number, START)
    names = [path.rpartition("/")[2] for path in index.paths]
    assert names == [f"{20231114221320000 + number}" for number in range(4)]


def test_a_file_begins_where_its_first_record_does_and_ends_with_its_last() -> None:
    disk = SimDisk()
    index = opened(disk)
    for number in range(15):
        index.put_keys(b"T1", b"U%d" % number, b"", b"", 100 * number, START + 5000 * number)
    second = list(settled_contents(disk, index).values())[1]
    assert struct.unpack_from(">qqqqi", second, 0)[:4] == (
        START + 50_000,
        START + 70_000,
        1000,
        1400,
    )
    # As at Apache, the first unit's seconds count from the end of the file before: 50 s - 45 s.
    assert struct.unpack_from(">i", second, 40 + 4 * 8 + 20 + 12)[0] == 5


def test_an_index_that_was_deleted_comes_back_with_the_same_names_and_bytes() -> None:
    first, second = SimDisk(), SimDisk()
    expected = settled_contents(first, filled(first, 40))
    assert len(expected) > 5
    assert settled_contents(second, filled(second, 40)) == expected


def test_sizes_that_rocketmq_could_not_map_are_refused() -> None:
    for config in (KeyIndexConfig(0, 10), KeyIndexConfig(5, 1), KeyIndexConfig(5, 1 << 27)):
        with pytest.raises(Misuse):
            KeyIndex.open(SimDisk(), FOLDER, config)
    assert file_bytes(*KeyIndexConfig()) == 420_000_040


# Putting again.


def test_putting_a_record_again_changes_nothing() -> None:
    once, twice = SimDisk(), SimDisk()
    index = opened(twice)
    for number in range(40):
        new = put(index, number)
        for old in (number, number, max(0, number - 1), 0):
            assert put(index, old) == 0, f"record {old} again after {new} keys of {number}"
    assert settled_contents(twice, index) == settled_contents(once, filled(once, 40))


def test_a_reopened_index_goes_on_as_if_it_had_never_closed() -> None:
    straight = SimDisk()
    expected = settled_contents(straight, filled(straight, 40))
    for stop in range(40):
        disk = SimDisk()
        filled(disk, stop).close()
        index = opened(disk)
        assert index.end_offset == (100 * (stop - 1) if stop else -1)
        for number in range(40):
            put(index, number)
        assert settled_contents(disk, index) == expected


@pytest.mark.parametrize("is_looked_at", [False, True])
def test_no_key_is_lost_or_doubled_when_a_file_cannot_be_made_at_first(is_looked_at: bool) -> None:
    straight = SimDisk()
    expected = settled_contents(straight, filled(straight, 40))
    for call in range(1, len(expected) + 1):
        disk = SimDisk()
        index = opened(disk)
        disk.faults.fail_call(call)
        failures = 0
        for number in range(40):
            try:
                put(index, number)
                if is_looked_at or number == 39:
                    assert index.unit_count > 0
            except OSError:
                failures += 1
                put(index, number)
        assert settled_contents(disk, index) == expected
        assert failures == 1


def test_a_full_disk_hides_the_newest_keys_but_stops_neither_finding_nor_closing() -> None:
    disk = SimDisk(capacity_bytes=file_bytes(*CONFIG))
    index = opened(disk)
    for number in range(12):
        index.put_keys(b"T1", b"", b"same", b"", number, START)
    assert index.find(b"T1", b"same", 0, FOREVER, 64) == list(range(9, -1, -1))
    with pytest.raises(OSError, match="disk full"):
        assert index.unit_count
    index.close()
    assert opened(disk).end_offset == 9


# Finding.


def test_keys_are_found_over_all_files_newest_first() -> None:
    index = filled(SimDisk(), 40)
    assert index.find(b"Orders", b"U7", 0, FOREVER, 10) == [700]
    with_word = [100 * number for number in range(39, -1, -1) if number % 4 >= 1]
    assert index.find(b"Orders", b"all", 0, FOREVER, 64) == with_word
    assert index.find(b"Orders", b"all", 0, FOREVER, 7) == with_word[:7]
    with_tag = [100 * number for number in range(39, -1, -1) if number % 3 == 0]
    assert index.find(b"Orders", b"T#red", 0, FOREVER, 64) == with_tag
    assert index.find(b"Orders", b"blue", 0, FOREVER, 64) == []
    assert index.find(b"Orderz", b"all", 0, FOREVER, 64) == []


def test_a_key_just_put_is_found_at_once() -> None:
    index = opened(SimDisk())
    for number in range(40):
        put(index, number)
        assert index.find(b"Orders", b"U%d" % number, 0, FOREVER, 1) == [100 * number]


def test_no_more_than_64_are_found() -> None:
    index = opened(SimDisk())
    for number in range(100):
        index.put_keys(b"T1", b"", b"same", b"", number, START)
    assert index.find(b"T1", b"same", 0, FOREVER, 1000) == list(range(99, 35, -1))


def test_a_record_whose_keys_span_two_files_is_found_once() -> None:
    index = opened(SimDisk())
    for number in range(8):
        index.put_keys(b"T1", b"", b"same same same", b"", number, START)
    assert len(index.paths) == 3
    assert index.find(b"T1", b"same", 0, FOREVER, 64) == [7, 6, 5, 4, 3, 2, 1, 0]
    for limit in range(9):
        assert index.find(b"T1", b"same", 0, FOREVER, limit) == [7, 6, 5, 4, 3, 2, 1, 0][:limit]


def test_a_time_range_leaves_out_only_what_is_a_second_away() -> None:
    index = filled(SimDisk(), 60)
    for begin in range(START - 1000, START + 20_000, 700):
        for length in (0, 1, 2500, 9000):
            found = index.find(b"Orders", b"all", begin, begin + length, 64)
            times = {offset: START + 3 * offset for offset in found}
            inside = [
                100 * number
                for number in range(60)
                if number % 4 >= 1 and begin <= START + 300 * number <= begin + length
            ]
            assert set(inside) <= set(found)
            assert found == sorted(found, reverse=True)
            assert all(begin - 1000 < time < begin + length + 1000 for time in times.values())


def test_keys_that_are_not_ascii_are_found() -> None:
    index = opened(SimDisk())
    index.put_keys(b"T1", b"", "ключ 鍵 🔑".encode(), "étiquette".encode(), 5, START)
    for key in ("ключ", "鍵", "🔑", "T#étiquette"):
        assert index.find(b"T1", key.encode(), 0, FOREVER, 9) == [5]
    assert index.find(b"T1", "ключ鍵".encode(), 0, FOREVER, 9) == []


# Keeping.


def test_files_below_the_log_are_taken_out_but_never_the_last() -> None:
    disk = SimDisk()
    index = filled(disk, 40)
    paths = index.paths
    ends = [struct.unpack_from(">q", disk.read(path), 24)[0] for path in paths]
    assert index.remove_below(ends[0]) == []
    removed = index.remove_below(ends[2] + 1)
    assert [file.path for file in removed] == paths[:3]
    assert index.paths == paths[3:]
    assert index.find(b"Orders", b"U0", 0, FOREVER, 9) == []
    assert index.find(b"Orders", b"U39", 0, FOREVER, 9) == [3900]
    assert [file.path for file in index.remove_below(1 << 60)] == paths[3:-1]
    assert index.paths == paths[-1:]


def test_only_files_written_since_the_last_time_are_to_be_synced() -> None:
    disk = SimDisk()
    index = opened(disk)
    assert index.sync_targets() == []
    assert index.directory_to_sync() is None
    put(index, 0)
    assert [file.path for file in index.sync_targets()] == index.paths
    assert index.directory_to_sync() == FOLDER
    assert index.sync_targets() == []
    assert index.directory_to_sync() is None
    put(index, 1)
    assert [file.path for file in index.sync_targets()] == index.paths
    assert index.directory_to_sync() is None
    for number in range(2, 12):
        put(index, number)
    assert [file.path for file in index.sync_targets()] == index.paths
    assert index.directory_to_sync() == FOLDER


def test_what_is_synced_when_told_survives_a_power_cut() -> None:
    disk = SimDisk()
    index = filled(disk, 40)
    sync(disk, index)
    assert contents(disk.power_cut()) == settled_contents(disk, index)


# Opening after a clean stop.


@pytest.mark.parametrize("size", [file_bytes(*CONFIG), 100, 39, 0])
def test_an_empty_last_file_is_removed_at_opening(size: int) -> None:
    """Apache makes a file before it has a key for it; a crash may cut the making short."""
    disk = SimDisk()
    filled(disk, 40).close()
    expected = contents(disk)
    disk.replace(f"{FOLDER}/20991231235959999", bytes(size))
    index = opened(disk)
    assert settled_contents(disk, index) == expected
    assert index.directory_to_sync() == FOLDER


def test_an_empty_file_amid_the_index_is_reported() -> None:
    disk = SimDisk()
    filled(disk, 40).close()
    path = f"{FOLDER}/{index_names(disk, FOLDER)[2]}"
    disk.replace(path, bytes(file_bytes(*CONFIG)))
    with pytest.raises(CorruptFile, match=path):
        opened(disk)


def test_files_out_of_order_are_reported() -> None:
    disk = SimDisk()
    filled(disk, 40).close()
    disk.rename(f"{FOLDER}/{index_names(disk, FOLDER)[0]}", f"{FOLDER}/20991231235959999")
    with pytest.raises(CorruptFile, match="20991231235959999"):
        opened(disk)


def test_an_index_of_other_sizes_is_reported() -> None:
    disk = SimDisk()
    filled(disk, 40).close()
    with pytest.raises(CorruptFile, match="9 slots and 11 units"):
        KeyIndex.open(disk, FOLDER, KeyIndexConfig(9, 11))


def test_files_with_other_names_are_left_alone() -> None:
    disk = SimDisk()
    for name in ("readme", "2023111422132000x", "202311142213200000"):
        disk.replace(f"{FOLDER}/{name}", b"not an index")
    index = filled(disk, 40)
    assert (
        len(index.paths) == len(index_names(disk, FOLDER)) == len(disk.list_directory(FOLDER)) - 3
    )


def test_a_discarded_index_is_gone_for_good() -> None:
    disk = SimDisk()
    sync(disk, filled(disk, 40))
    disk.replace(f"{FOLDER}/readme", b"not an index")
    discard(disk, FOLDER)
    assert disk.power_cut().list_directory(FOLDER) == ["readme"]
    discard(disk, FOLDER)
    discard(disk, "store/never")


# Recovering after a crash.


def marked(disk: SimDisk, count: int) -> tuple[KeyIndex, int, int]:
    """An index of `count` records, all synced, and what a mark says of it."""
    index = filled(disk, count)
    sync(disk, index)
    return index, 100 * count, index.unit_count


def time_of(log_offset: int) -> int:
    return START + 3 * log_offset


@pytest.mark.parametrize(("kept", "later"), [(0, 5), (1, 4), (5, 7), (6, 30), (17, 18), (19, 26)])
def test_every_power_cut_leaves_exactly_the_records_before_the_mark(kept: int, later: int) -> None:
    straight = SimDisk()
    expected = settled_contents(straight, filled(straight, kept))
    expected_later = settled_contents(straight, filled(straight, later))
    disk = SimDisk()
    index, dispatched, unit_count = marked(disk, kept)
    for number in range(kept, later):
        put(index, number)
        assert index.unit_count > 0
        disk.observe()
    for state in disk.crash_states(random_count=8):
        again = KeyIndex.recover(state, FOLDER, CONFIG, dispatched, unit_count, time_of)
        assert settled_contents(state, again) == expected, state.origin
        assert again.unit_count == unit_count
        sync(state, again)
        assert contents(state.power_cut()) == expected, state.origin
        for number in range(max(0, kept - 3), later):
            put(again, number)
        assert settled_contents(state, again) == expected_later, state.origin


def test_an_index_that_is_not_the_marked_one_is_reported() -> None:
    disk = SimDisk()
    index, dispatched, unit_count = marked(disk, 40)
    index.close()
    for wrong_offset, wrong_count in [
        (dispatched, unit_count + 1),  # a unit that was never written
        (dispatched, unit_count - 1),  # a unit that was
        (dispatched, 0),
        (dispatched, CONFIG.units),
        (dispatched - 100, unit_count),
    ]:
        with pytest.raises(CorruptFile, match=FOLDER):
            KeyIndex.recover(disk.kill(), FOLDER, CONFIG, wrong_offset, wrong_count, time_of)


def test_a_unit_of_a_record_after_the_mark_is_reported() -> None:
    disk = SimDisk()
    _, dispatched, unit_count = marked(disk, 3)
    with pytest.raises(CorruptFile, match="not those that were synced"):
        KeyIndex.recover(disk, FOLDER, CONFIG, dispatched - 100, unit_count, time_of)


def test_an_index_whose_last_file_is_missing_is_reported() -> None:
    disk = SimDisk()
    index, dispatched, unit_count = marked(disk, 40)
    disk.remove(index.paths[-1])
    with pytest.raises(CorruptFile):
        KeyIndex.recover(disk, FOLDER, CONFIG, dispatched, unit_count, time_of)
    discard(disk, FOLDER)
    with pytest.raises(CorruptFile, match=FOLDER):
        KeyIndex.recover(disk, FOLDER, CONFIG, dispatched, unit_count, time_of)


def test_the_end_time_is_read_from_the_log_or_else_known_to_the_second() -> None:
    disk = SimDisk()
    index, dispatched, unit_count = marked(disk, 2)
    put(index, 2)
    assert index.end_timestamp == START + 600
    for found, expected in [(START + 299, START + 299), (None, START)]:
        asked: list[int] = []

        def time_at(
            log_offset: int, found: int | None = found, asked: list[int] = asked
        ) -> int | None:
            asked.append(log_offset)
            return found

        again = KeyIndex.recover(disk.kill(), FOLDER, CONFIG, dispatched, unit_count, time_at)
        assert again.end_timestamp == expected
        assert asked == [100]


# After a cut of the log.


@pytest.mark.parametrize("kept", range(1, 40))
def test_an_index_of_a_log_that_was_cut_is_that_of_the_shorter_log(kept: int) -> None:
    disk = SimDisk()
    index, dispatched, unit_count = marked(disk, 40)
    put(index, 40)
    index.close()
    again = KeyIndex.recover(
        disk, FOLDER, CONFIG, dispatched, unit_count, time_of, cut_at=100 * kept
    )
    shorter = SimDisk()
    assert settled_contents(disk, again) == settled_contents(shorter, filled(shorter, kept))


def test_an_index_all_of_which_was_cut_is_empty() -> None:
    disk = SimDisk()
    _, dispatched, unit_count = marked(disk, 40)
    again = KeyIndex.recover(disk, FOLDER, CONFIG, dispatched, unit_count, time_of, cut_at=0)
    assert (again.paths, again.unit_count) == ([], 0)


@pytest.mark.parametrize("kept", [5, 30])
def test_an_index_that_was_cut_before_is_reported_or_cut_the_same_way(kept: int) -> None:
    expected = SimDisk()
    files = settled_contents(expected, filled(expected, kept))
    disk = SimDisk()
    _, dispatched, unit_count = marked(disk, 40)
    KeyIndex.recover(disk, FOLDER, CONFIG, dispatched, unit_count, time_of, cut_at=100 * kept)
    outcomes = set()
    for state in disk.crash_states(random_count=8):
        try:
            again = KeyIndex.recover(
                state, FOLDER, CONFIG, dispatched, unit_count, time_of, cut_at=100 * kept
            )
        except CorruptFile:
            outcomes.add("reported")
            continue
        outcomes.add("cut")
        assert settled_contents(state, again) == files, state.origin
    assert "cut" in outcomes
