"""Ties a process to the one that started it: the kernel kills it when that one ends, in any way.

The kernel watches the thread that started the process, not its whole process: start such processes
on a thread that lives as long, the main one.
"""

import ctypes
import os
import signal

# Of <linux/prctl.h>.
_SET_PARENT_DEATH_SIGNAL = 1


def is_tied_to_parent(parent: int) -> bool:
    """Have this process killed when its parent ends. False: the process with this id, which started
    this one, has ended already. SIGKILL: a process that is stopped heeds no other signal."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL)) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return os.getppid() == parent
