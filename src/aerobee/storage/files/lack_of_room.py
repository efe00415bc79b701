"""Telling a disk without room, or a system without handles, from a failing disk.

Neither is a broken disk: nothing that was acknowledged is at risk, reads go on, and the same call
may work a minute later. So these kinds of OSError are not the end of the process.
"""

import errno

_OUT_OF_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
_OUT_OF_HANDLES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def is_out_of_room(error: BaseException | None) -> bool:
    """Whether a disk call failed only because the disk, or a quota on it, is full."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_ROOM


def is_out_of_handles(error: BaseException | None) -> bool:
    """Whether a disk call failed only because the process or the system had too much open."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_HANDLES
