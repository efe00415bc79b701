"""Telling a full disk from a failing one.

A disk without room is no broken disk: nothing that was acknowledged is at risk, reads go on, and
the same call may work a minute later. So this kind of OSError is not the end of the process.
"""

import errno

_OUT_OF_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_out_of_room(error: BaseException | None) -> bool:
    """Whether a disk call failed only because the disk, or a quota on it, is full."""
    return isinstance(error, OSError) and error.errno in _OUT_OF_ROOM
