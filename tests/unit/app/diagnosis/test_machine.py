import os
import sys
from pathlib import Path

from aerobee.app.diagnosis.machine import (
    chosen_in,
    clock_facts,
    disk_facts,
    file_system_in,
    kernel_facts,
    runtime_facts,
    sync_times,
)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_kernel_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "proc/sys/vm/overcommit_memory": "1\n",
            "proc/sys/vm/max_map_count": "65530\n",
            "proc/sys/vm/swappiness": "60\n",
            "proc/sys/vm/zone_reclaim_mode": "0\n",
            "proc/swaps": "Filename Type Size Used Priority\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        },
    )
    facts = kernel_facts(tmp_path)
    assert (facts.overcommit, facts.map_count, facts.swappiness) == (1, 65_530, 60)
    assert (facts.zone_reclaim, facts.huge_pages, facts.has_swap) == (0, "madvise", False)
    assert facts.files_hard is not None


def test_a_kernel_that_says_nothing_is_no_error(tmp_path: Path) -> None:
    facts = kernel_facts(tmp_path)
    assert (facts.overcommit, facts.map_count, facts.huge_pages) == (None, None, None)


def test_a_disk_is_read_with_the_settings_of_the_whole(tmp_path: Path) -> None:
    number = os.stat(tmp_path).st_dev
    major, minor = os.major(number), os.minor(number)
    write(
        tmp_path,
        {
            "proc/diskstats": f"{major} {minor} sda1 1 0 1 1 1 0 1 1 0 1 1 0 0 0 0 0 0\n",
            "proc/self/mountinfo": f"1 1 {major}:{minor} / / rw - xfs /dev/sda1 rw\n",
            "sys/devices/sda/queue/scheduler": "none [bfq]\n",
            "sys/devices/sda/queue/rotational": "0\n",
            "sys/devices/sda/sda1/size": "1\n",
        },
    )
    (tmp_path / "sys/class/block").mkdir(parents=True)
    (tmp_path / "sys/class/block/sda1").symlink_to("../../devices/sda/sda1")
    facts = disk_facts(str(tmp_path / "not/there/yet"), tmp_path)
    assert facts.path == str(tmp_path)
    assert (facts.system, facts.device) == ("xfs", "sda1")
    assert (facts.scheduler, facts.is_rotating) == ("bfq", False)
    assert 0 < facts.free_bytes <= facts.total_bytes
    assert facts.sync_ms is not None
    assert facts.worst_sync_ms is not None
    assert facts.worst_sync_ms >= facts.sync_ms > 0
    assert not list(tmp_path.glob(".aerobee*"))


def test_a_folder_that_cannot_be_written_is_a_complaint(tmp_path: Path) -> None:
    times, complaint = sync_times(tmp_path / "gone")
    assert times == []
    assert "No such file" in complaint


def test_the_choice_is_in_brackets() -> None:
    assert chosen_in("always [madvise] never") == "madvise"
    assert chosen_in("none\n") == "none"
    assert chosen_in("") == ""


def test_the_last_mount_counts() -> None:
    mounts = "1 1 8:1 / /a rw - ext4 /dev/sda1 rw\n2 1 8:1 / /b rw shared:1 - xfs /dev/sda1 rw\n"
    assert file_system_in(mounts, os.makedev(8, 1)) == "xfs"
    assert file_system_in(mounts, os.makedev(8, 2)) == ""


def test_this_machine_has_a_clock_and_a_python() -> None:
    clock = clock_facts()
    assert clock.is_steady
    assert clock.offsets == {}
    runtime = runtime_facts()
    assert runtime.python == sys.version_info[:3]
    assert 0 <= runtime.compiled <= runtime.hot
