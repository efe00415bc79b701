"""The real disk, beyond the contract in tests/unit/ports/test_disk.py."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aerobee.system.disk import PAGE_BYTES, MappedDisk

# Another process, taking the lock as Java's FileChannel.tryLock(0, 1) does: "free" or "taken".
_TRY_LOCK = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
try:
    fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 0, os.SEEK_SET)
    print("free")
except OSError:
    print("taken")
"""


def _lock_in_another_process(path: str) -> str:
    command = [sys.executable, "-c", _TRY_LOCK, path]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _mappings(name: str) -> int:
    return Path("/proc/self/maps").read_text().count(name)


def _is_kept_in_memory(path: Path) -> bool:
    """Whether the file system has no disk behind its cache, so that nothing can be dropped."""
    found = subprocess.run(["stat", "-f", "-c", "%T", path], capture_output=True, text=True)
    return found.stdout.strip() in ("tmpfs", "ramfs", "overlayfs", "")


@pytest.fixture
def disk() -> MappedDisk:
    return MappedDisk()


def test_a_hundred_mapped_files_hold_no_descriptor(disk: MappedDisk, tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    files = [disk.create(f"{tmp_path}/{number}", 100) for number in range(50)]
    files += [disk.open(f"{tmp_path}/{number}") for number in range(50)]
    for file in files:
        file.sync()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_mapping_goes_with_the_last_slice_of_its_view(disk: MappedDisk, tmp_path: Path) -> None:
    file = disk.create(f"{tmp_path}/lifetime", 8192)
    part = file.view[100:200][10:20]
    file.close()
    del file
    assert _mappings("lifetime") == 1
    part.release()
    assert _mappings("lifetime") == 0


def test_the_room_of_a_new_file_is_reserved(disk: MappedDisk, tmp_path: Path) -> None:
    disk.create(f"{tmp_path}/a", 1 << 20)
    assert os.stat(f"{tmp_path}/a").st_blocks * 512 >= 1 << 20


def test_a_file_that_cannot_be_reserved_leaves_no_name(disk: MappedDisk, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot reserve") as refusal:
        disk.create(f"{tmp_path}/huge", 1 << 60)
    assert refusal.value.filename == f"{tmp_path}/huge"
    assert refusal.value.errno in (errno.ENOSPC, errno.EFBIG)
    assert disk.list_directory(str(tmp_path)) == []


def test_a_path_that_cannot_be_looked_at_is_not_taken_for_absent(
    disk: MappedDisk, tmp_path: Path
) -> None:
    os.symlink("loop", tmp_path / "loop")
    with pytest.raises(OSError, match="symbolic links"):
        disk.exists(f"{tmp_path}/loop")


def test_a_failed_replacement_names_the_file_and_keeps_the_old_one(
    disk: MappedDisk, tmp_path: Path
) -> None:
    disk.replace(f"{tmp_path}/a", b"old")
    (tmp_path / "a.tmp").mkdir()
    with pytest.raises(OSError, match="cannot replace") as failure:
        disk.replace(f"{tmp_path}/a", b"new")
    assert failure.value.filename == f"{tmp_path}/a"
    assert disk.read(f"{tmp_path}/a") == b"old"


def test_dropped_pages_are_read_again_and_warming_brings_them_back(
    disk: MappedDisk, tmp_path: Path
) -> None:
    if _is_kept_in_memory(tmp_path):
        pytest.skip("this file system keeps its files in memory")
    path = f"{tmp_path}/a"
    file = disk.create(path, 8 * PAGE_BYTES)
    file.view[:] = b"x" * len(file.view)
    file.close()
    disk.drop_cache(path)
    file = disk.open(path)
    assert not file.is_resident(0, 8 * PAGE_BYTES)
    file.warm(5 * PAGE_BYTES, 8 * PAGE_BYTES)
    assert file.is_resident(5 * PAGE_BYTES, 8 * PAGE_BYTES)
    assert bytes(file.view) == b"x" * 8 * PAGE_BYTES


def test_without_reading_ahead_only_what_is_touched_is_brought_in(
    disk: MappedDisk, tmp_path: Path
) -> None:
    if _is_kept_in_memory(tmp_path):
        pytest.skip("this file system keeps its files in memory")
    path = f"{tmp_path}/a"
    disk.create(path, 64 * PAGE_BYTES).close()
    disk.drop_cache(path)
    file = disk.open(path)
    file.read_ahead(False)
    assert file.view[0] == 0
    assert file.is_resident(0, PAGE_BYTES)
    assert not file.is_resident(PAGE_BYTES, 2 * PAGE_BYTES)


def test_a_lock_keeps_another_process_out_until_it_is_released(
    disk: MappedDisk, tmp_path: Path
) -> None:
    path = f"{tmp_path}/lock"
    assert _lock_in_another_process(path) == "free"
    lock = disk.lock(path)
    assert _lock_in_another_process(path) == "taken"
    # A second try here must not open and close the file: that would give the first one up.
    with pytest.raises(BlockingIOError):
        disk.lock(path)
    assert _lock_in_another_process(path) == "taken"
    lock.release()
    assert _lock_in_another_process(path) == "free"


def test_a_lock_of_another_process_keeps_us_out(disk: MappedDisk, tmp_path: Path) -> None:
    path = f"{tmp_path}/lock"
    program = f"{_TRY_LOCK}\nsys.stdout.flush()\nsys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"free\n"
        with pytest.raises(BlockingIOError, match="another process"):
            disk.lock(path)
        holder.communicate()
    disk.lock(path).release()


def test_a_file_with_holes_gets_its_room_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 20)
    assert path.stat().st_blocks * 512 < 1 << 20
    opened = MappedDisk().open(str(path))
    assert path.stat().st_blocks * 512 >= 1 << 20
    assert bytes(opened.view) == bytes(1 << 20)


def test_a_sparse_file_takes_no_blocks_until_they_are_reserved(tmp_path: Path) -> None:
    path = f"{tmp_path}/sparse"
    disk = MappedDisk()
    file = disk.create_sparse(path, 6_000_000)
    assert os.stat(path).st_blocks == 0
    file.reserve(0, 4096)
    assert os.stat(path).st_blocks * 512 == 4096
    disk.open_sparse(path)
    assert os.stat(path).st_blocks * 512 == 4096
    disk.open(path)
    assert os.stat(path).st_blocks * 512 >= 6_000_000


def test_a_disk_is_as_full_as_df_says(disk: MappedDisk, tmp_path: Path) -> None:
    """RocketMQ's limits (75, 85, 90 %) are of this figure."""
    shown = subprocess.run(
        ["df", "--output=pcent", tmp_path], capture_output=True, text=True, check=True
    )
    space = disk.space(str(tmp_path))
    used_percent = 100 * (1 - space.free_bytes / space.total_bytes)
    assert used_percent == pytest.approx(int(shown.stdout.split()[-1].rstrip("%")), abs=1.5)
