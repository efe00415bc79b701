from pathlib import Path

import pytest

from aerobee.errors import Misuse
from aerobee.pipeline.log_table.log_options import log_options
from aerobee.pipeline.log_table.log_planning import LogPart, plan_log
from aerobee.protocol.message.durable_mark_slots import (
    FILE_BYTES,
    NO_BOUND,
    DurableMark,
    encode_slot,
)
from tests.log_table_kit import Log, message


def planned(log: Log, *, cores: int = 1, **options: str) -> list[LogPart]:
    return plan_log(log_options({"path": str(log.folder), **options}), cores)


def made(folder: Path, count: int = 60) -> Log:
    return Log(folder, [message(n, b"x" * 100) for n in range(count)])


def test_a_small_log_is_one_part_up_to_its_end(tmp_path: Path) -> None:
    log = made(tmp_path)
    (part,) = planned(log, cores=8)
    assert (part.start, part.end, part.gaps) == (0, log.end, ())
    assert [file.base for file in part.files] == list(range(0, log.end, log.file_bytes))
    assert part.files[-1].limit == log.end - part.files[-1].base


def test_parts_follow_one_another_and_have_the_files_they_touch(tmp_path: Path) -> None:
    log = made(tmp_path)
    for parts in (
        planned(log, minPartitions="7"),
        planned(log, maxPartitionBytes=str(-(-log.end // 7))),
    ):
        assert len(parts) == 7
        assert [part.start for part in parts] == [0, *(part.end for part in parts[:-1])]
        assert parts[-1].end == log.end
        for part in parts:
            bases = [file.base for file in part.files]
            first = part.start - part.start % log.file_bytes
            assert bases == list(range(first, part.end, log.file_bytes))


def test_a_large_log_has_a_part_for_every_core(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n, b"x" * 1_000_000) for n in range(5)], 8 << 20)
    assert len(planned(log, cores=4)) == 4
    assert len(planned(log, cores=64)) == 4  # of a megabyte and more


def test_no_core_waits_for_the_last_part(tmp_path: Path) -> None:
    log = Log(tmp_path, [message(n, b"x" * 1_000_000) for n in range(12)], 16 << 20)
    fifth = str(-(-log.end // 5))
    assert len(planned(log, cores=1, maxPartitionBytes=fifth)) == 5
    parts = planned(log, cores=2, maxPartitionBytes=fifth)
    assert len(parts) == 6
    assert {(part.end - part.start) // 1000 for part in parts} == {log.end // 6 // 1000}
    assert len(planned(log, cores=8, maxPartitionBytes=fifth)) == 8


def test_files_made_ahead_are_no_part_of_the_log(tmp_path: Path) -> None:
    log = made(tmp_path)
    after = log.path(log.end).stat().st_size + log.end - log.end % log.file_bytes
    log.path(after).write_bytes(bytes(log.file_bytes))
    (part,) = planned(log)
    assert part.end == log.end


def test_a_range_of_offsets_or_of_time_needs_its_files_only(tmp_path: Path) -> None:
    log = made(tmp_path)
    size = log.file_bytes
    first_of = [
        next(n for n, (start, _) in enumerate(log.places) if start >= base)
        for base in range(0, log.end, size)
    ]
    (part,) = planned(log, startingLogOffset=str(size + 5), endingLogOffset=str(2 * size))
    assert (part.start, part.end, len(part.files)) == (size + 5, 2 * size, 1)
    (part,) = planned(log, startingTimestamp=str(first_of[1] + 1), endingTimestamp=str(first_of[2]))
    assert [file.base for file in part.files] == [size]
    (part,) = planned(log, startingTimestamp=str(first_of[1]))  # neighbours may be of one ms
    assert part.start == 0
    assert planned(log, endingTimestamp="0") == []
    assert planned(log, startingLogOffset=str(10 * size)) == []


def test_what_is_missing_between_files_is_a_gap_of_the_part_it_begins_in(tmp_path: Path) -> None:
    log = made(tmp_path)
    size = log.file_bytes
    log.path(size).unlink()
    whole = log.path(2 * size).read_bytes()
    log.path(2 * size).write_bytes(whole[:100])
    parts = planned(log, minPartitions="5")
    gaps = [(gap.start, gap.end) for part in parts for gap in part.gaps]
    assert gaps == [(size, 2 * size), (2 * size + 100, 3 * size)]
    for part in parts:
        assert all(part.start <= gap.start < part.end for gap in part.gaps)


def test_a_file_missing_behind_the_last_wanted_one_is_still_a_gap(tmp_path: Path) -> None:
    log = made(tmp_path)
    size = log.file_bytes
    later = next(n for n, (start, _) in enumerate(log.places) if start >= 2 * size)
    log.path(size).unlink()
    (part,) = planned(log, endingTimestamp=str(later))
    assert [gap.start for gap in part.gaps] == [size]


def test_a_torn_end_is_left_out_and_reported_where_that_was_asked_for(tmp_path: Path) -> None:
    log = made(tmp_path)
    start = log.places[-1][0]
    log.put(log.end - 3, bytes(3))
    (part,) = planned(log)
    assert (part.end, part.gaps) == (start, ())
    (part,) = planned(log, onDamage="report")
    assert [(gap.start, gap.end) for gap in part.gaps] == [(start, log.end - 3)]


def test_files_that_overlap_are_of_two_logs(tmp_path: Path) -> None:
    log = made(tmp_path)
    log.path(0).rename(log.folder / "commitlog" / f"{7:020}")
    with pytest.raises(Misuse, match="longer than the file behind it"):
        planned(log)


def test_an_empty_log_has_no_parts(tmp_path: Path) -> None:
    assert planned(Log(tmp_path, [])) == []


def marked(log: Log, confirmed: int) -> None:
    mark = DurableMark(flushed=log.end, confirmed=confirmed)
    slot = encode_slot(mark, 2)
    (log.folder / "durable_mark").write_bytes(slot.ljust(FILE_BYTES, b"\0"))


def test_of_a_log_that_others_copy_only_what_is_confirmed_is_read(tmp_path: Path) -> None:
    log = made(tmp_path)
    for at in (-1, -2, 25, 0):  # within the last file, within an earlier one, the first record
        start, end = log.places[at]
        marked(log, end)
        (part,) = planned(log)
        assert (part.start, part.end) == (0, end)
        assert part.files[-1].base + part.files[-1].limit == end
        marked(log, start)
        assert [one.end for one in planned(log)] == ([start] if start else [])


def test_confirmed_is_a_bound_beside_those_that_were_asked_for(tmp_path: Path) -> None:
    log = made(tmp_path)
    marked(log, log.places[25][1])
    (part,) = planned(log, endingLogOffset=str(log.places[20][1]))
    assert part.end == log.places[20][1]
    (part,) = planned(log, endingLogOffset=str(log.places[30][1]))
    assert part.end == log.places[25][1]
    assert planned(log, startingLogOffset=str(log.places[25][1])) == []


def test_a_torn_end_that_nobody_has_confirmed_is_no_damage(tmp_path: Path) -> None:
    log = made(tmp_path)
    log.put(log.end - 3, bytes(3))
    marked(log, log.places[-2][1])
    (part,) = planned(log, onDamage="report")
    assert (part.end, part.gaps) == (log.places[-2][1], ())


def test_a_log_of_a_broker_without_copies_is_read_to_its_end(tmp_path: Path) -> None:
    log = made(tmp_path)
    marked(log, NO_BOUND)
    (part,) = planned(log)
    assert part.end == log.end


def test_a_folder_of_a_log_is_bounded_by_the_mark_beside_it(tmp_path: Path) -> None:
    log = made(tmp_path)
    marked(log, log.places[25][1])
    (part,) = plan_log(log_options({"path": str(log.folder / "commitlog") + "/"}), 1)
    assert part.end == log.places[25][1]
