"""In a process of its own, because mounts are for as long as a process lives."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import errno, os, sys
from pathlib import Path
from aerobee.app.chaos.small_disk import SmallDisk, why_no_disks
why = why_no_disks()
if why:
    print(why)
    sys.exit()
place = Path(sys.argv[1]) / "disk"
disk = SmallDisk(place, 1 << 20)
(place / "kept").write_bytes(b"kept")
disk.fill()
try:
    (place / "more").write_bytes(b"more" * 4096)
    print("there was room")
except OSError as error:
    assert error.errno == errno.ENOSPC
disk.empty()
(place / "more").write_bytes(b"more" * 4096)
assert (place / "kept").read_bytes() == b"kept"
assert os.statvfs(place).f_blocks * os.statvfs(place).f_frsize == 1 << 20
print("as it should be")
"""


def test_a_disk_is_full_until_it_is_emptied_and_gone_with_its_process(tmp_path: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    if said.stdout.startswith("mounting takes"):
        pytest.skip(said.stdout)
    assert said.stdout == "as it should be\n"
    assert not list((tmp_path / "disk").iterdir())
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()
