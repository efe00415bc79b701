"""Real power cuts on one Linux machine: a file system on a loop device, cloned in mid-flight.

    outer image   XFS with reflink, on a loop device
      └ inner image   ext4 or XFS, on a loop device, mounted at `Rig.data`

`cut` clones the inner image by reflink. What the inner file system has not sent to its device yet
(dirty pages, an uncommitted journal) is not in the clone; mounting the clone replays the journal,
as after a power cut. It sees mmap and msync, write and fsync, rename and folder sync alike. Stop
the writers first (SIGSTOP, or kill -9), or the cut is spread over the time of the clone.

`fill` eats the outer file system, so that the inner image cannot grow: write-back then fails for
real, as on a dying disk, and a sync says so once. `unfill` gives the room back.

Needs root, loop devices, and mkfs.ext4 and mkfs.xfs (Debian: e2fsprogs and xfsprogs).
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

_TOOLS = ("mkfs.ext4", "mkfs.xfs", "mount", "umount", "cp", "sync")
_OUTER_BYTES = 1 << 30
_INNER_BYTES = 512 << 20  # mkfs.xfs refuses less than 300 MiB
_FILL_BYTES = (64 << 20, 1 << 20, 64 << 10, 4096)  # in pieces: a large one fails as a whole


def missing() -> str:
    """Why there can be no rig here; empty if there can."""
    if os.geteuid() != 0:
        return "needs root"
    if not os.path.exists("/dev/loop-control"):
        return "needs loop devices"
    absent = [tool for tool in _TOOLS if shutil.which(tool) is None]
    return f"needs {', '.join(absent)}" if absent else ""


class Rig:
    """One disk that can be cut. Use it in a `with`: leaving unmounts and removes everything."""

    def __init__(self, file_system: str) -> None:
        assert file_system in ("ext4", "xfs")
        self.file_system = file_system
        # Not the folder for short-lived files, which may be in memory: the images are sparse.
        self._base = Path(tempfile.mkdtemp(prefix="power_cut.", dir="/var/tmp"))
        self._outer = self._base / "outer"
        self._inner_image = self._outer / "inner.img"
        self._cuts = 0
        self._mounted: list[Path] = []
        self.data = self._base / "data"

    def __enter__(self) -> "Rig":
        try:
            outer_image = self._base / "outer.img"
            _make_sparse(outer_image, _OUTER_BYTES)
            _run("mkfs.xfs", "-q", "-m", "reflink=1", outer_image)
            self._mount(outer_image, self._outer)
            _make_sparse(self._inner_image, _INNER_BYTES)
            if self.file_system == "ext4":
                # An error must come back to whoever syncs, not make the file system read-only.
                _run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=1", self._inner_image)
                self._mount(self._inner_image, self.data, "errors=continue")
            else:
                _run("mkfs.xfs", "-q", self._inner_image)
                self._mount(self._inner_image, self.data)
        except BaseException:
            self._clean_up()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clean_up()

    def cut(self) -> Path:
        """Where the disk is mounted that a power cut at this instant leaves. `drop` it after."""
        self._cuts += 1
        image = self._outer / f"cut{self._cuts}.img"
        place = self._base / f"cut{self._cuts}"
        _run("cp", "--reflink=always", self._inner_image, image)
        # The clone has the identity of the original, which XFS would refuse to mount twice.
        self._mount(image, place, *(["nouuid"] if self.file_system == "xfs" else []))
        return place

    def drop(self, place: Path) -> None:
        self._unmount(place)
        (self._outer / f"{place.name}.img").unlink()

    def fill(self) -> None:
        """From now on the device takes no block that it does not hold already."""
        for place in (self.data, self._outer):
            _run("sync", "--file-system", place)
        names = [(self._outer / f"fill{size}", size) for size in _FILL_BYTES]
        files = [(os.open(name, os.O_RDWR | os.O_CREAT), size) for name, size in names]
        for descriptor, size in files:
            taken = 0
            with contextlib.suppress(OSError):  # no room for another piece of this size
                while True:
                    os.posix_fallocate(descriptor, taken, size)
                    taken += size
            os.close(descriptor)
        _run("sync", "--file-system", self._outer)

    def unfill(self) -> None:
        for file in self._outer.glob("fill*"):
            file.unlink()
        _run("sync", "--file-system", self._outer)  # XFS frees the room in the background

    def _mount(self, image: Path, place: Path, *options: str) -> None:
        place.mkdir()
        _run("mount", "-o", ",".join(("loop", *options)), image, place)
        self._mounted.append(place)

    def _unmount(self, place: Path) -> None:
        _run("umount", place)
        self._mounted.remove(place)
        place.rmdir()

    def _clean_up(self) -> None:
        """Newest first. A place that something still uses goes when that something ends."""
        while self._mounted:
            place = self._mounted.pop()
            if subprocess.run(["umount", place], capture_output=True).returncode != 0:
                _run("umount", "--lazy", place)
        shutil.rmtree(self._base)


def _make_sparse(path: Path, size: int) -> None:
    with open(path, "wb") as file:
        file.truncate(size)


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
