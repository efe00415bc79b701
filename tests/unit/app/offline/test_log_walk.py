from itertools import pairwise
from pathlib import Path

from aerobee.app.offline.log_walk import Damage, FoundRecord, LogWalk
from aerobee.app.offline.store_folder import open_store
from tests.fixture_store import unpack


def walked(root: Path, start: int | None = None) -> tuple[list[int], list[Damage], int]:
    """Where records begin, what is damaged, where the log ends."""
    offsets, damages = [], []
    with open_store(str(root)) as folder:
        walk = LogWalk(folder, start)
        for found in walk:
            if isinstance(found, FoundRecord):
                offsets.append(found.log_offset)
            else:
                damages.append(found)
        return offsets, damages, walk.end


def overwrite(root: Path, log_offset: int, data: bytes) -> None:
    with (root / "commitlog" / f"{log_offset >> 20 << 20:020}").open("r+b") as file:
        file.seek(log_offset & 0xFFFFF)
        file.write(data)


def test_a_whole_log_is_walked_over_its_files_to_its_end(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, damages, end = walked(root)
    assert (len(offsets), damages, end) == (2829, [], 2_210_981)
    assert walked(root, offsets[1000])[0] == offsets[1000:]


def test_damage_is_named_and_the_walk_goes_on_behind_it(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, end = walked(root)
    broken = offsets[500]
    overwrite(root, broken + 90, b"\xff\xff")
    found, (damage,), same_end = walked(root)
    assert found == offsets[:500] + offsets[501:]
    assert same_end == end
    assert (damage.log_offset, damage.size) == (broken, offsets[501] - broken)
    assert damage.path.endswith("/commitlog/00000000000000000000")
    assert (damage.position, damage.is_tail) == (broken, False)


def test_a_size_that_is_wrong_costs_one_record_only(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, _ = walked(root)
    for number, size in ((3, b"\0\0\0\0"), (5, b"\x7f\xff\xff\xff"), (7, b"\xff\xff\xff\xff")):
        overwrite(root, offsets[number], size)
    found, damages, _ = walked(root)
    assert [one.log_offset for one in damages] == [offsets[number] for number in (3, 5, 7)]
    assert len(found) == len(offsets) - 3


def test_a_record_copied_elsewhere_is_not_taken_for_one(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, _ = walked(root)
    sizes = [after - offset for offset, after in pairwise(offsets[:500])]
    number = sizes.index(sizes[0], 1)  # as long as the first
    log = (root / "commitlog" / f"{0:020}").read_bytes()
    overwrite(root, offsets[number], log[offsets[0] : offsets[1]])
    found, (damage,), _ = walked(root)
    assert found == offsets[:number] + offsets[number + 1 :]
    assert (damage.log_offset, damage.reason) == (
        offsets[number],
        "a record that belongs elsewhere",
    )


def test_what_is_torn_at_the_end_is_a_tail(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, _ = walked(root)
    overwrite(root, offsets[-1] + 2, b"torn")
    found, (tail,), cut_end = walked(root)
    assert (found, cut_end) == (offsets[:-1], offsets[-1])
    assert (tail.log_offset, tail.is_tail) == (offsets[-1], True)


def test_zeros_in_the_middle_and_files_that_are_gone_are_damage(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, _ = walked(root)
    first = [offset for offset in offsets if offset < 1 << 20]
    overwrite(root, first[-3], bytes((1 << 20) - first[-3]))
    _, (hole,), _ = walked(root)
    assert (hole.log_offset, hole.is_tail) == (first[-3], False)
    (root / "commitlog" / f"{1 << 20:020}").unlink()
    _, damages, _ = walked(root)
    assert (damages[-1].reason, damages[-1].log_offset, damages[-1].size) == (
        "files of the log are missing",
        1 << 20,
        1 << 20,
    )


def test_a_filler_that_does_not_reach_to_the_end_of_its_file_is_damage(tmp_path: Path) -> None:
    root = unpack("clean", tmp_path)
    offsets, _, _ = walked(root)
    content = (root / "commitlog" / f"{0:020}").read_bytes()
    at = content.index(bytes.fromhex("cbd43194")) - 4
    overwrite(root, at, (len(content) - at - 1).to_bytes(4, "big"))
    found, (damage,), _ = walked(root)
    assert found == offsets
    assert (damage.log_offset, damage.size) == (at, len(content) - at)
    assert damage.reason == "a filler of the wrong size"
