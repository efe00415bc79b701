"""SmallDisk: a file system in memory for the store of one member, which can be filled up.

It is mounted where only this process and those it starts can see it: it is gone when the last of
them has ended, however it ended, and nothing of the machine changes. That takes root, or a kernel
that lets everybody have a user namespace.
"""

import ctypes
import os
from pathlib import Path

DISK_BYTES = 256 << 20
"""Of which only what is written takes memory."""
_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS, of <linux/sched.h>
_NEW_USER = 0x10000000  # CLONE_NEWUSER
_RECURSIVE, _PRIVATE = 1 << 14, 1 << 18  # MS_REC, MS_PRIVATE, of <linux/mount.h>
_FILLING = "filling"


def why_no_disks() -> str:
    """Give this process mounts of its own, from which all that it starts inherits. Returns why that
    is not possible, or nothing. Must be called before another thread is started."""
    user, group = os.geteuid(), os.getegid()
    try:
        if user == 0:
            _call("unshare", _NEW_MOUNTS)
        else:
            _call("unshare", _NEW_USER | _NEW_MOUNTS)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        _call("mount", b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    except OSError as error:
        return f"mounting takes root or user namespaces, and here: {error.strerror}"
    return ""


class SmallDisk:
    def __init__(self, place: Path, size: int = DISK_BYTES) -> None:
        """Mount it on a folder, which is made; after `why_no_disks`."""
        self._place = place
        place.mkdir(parents=True, exist_ok=True)
        options = f"size={size},mode=0700".encode()
        _call("mount", b"tmpfs", os.fsencode(place), b"tmpfs", 0, options)

    def fill(self) -> None:
        """Take all room that is left."""
        state = os.statvfs(self._place)
        with open(self._place / _FILLING, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, state.f_bfree * state.f_frsize)

    def empty(self) -> None:
        """Undo `fill`."""
        (self._place / _FILLING).unlink(missing_ok=True)

    def close(self) -> None:
        _call("umount2", os.fsencode(self._place), 2)  # MNT_DETACH


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
