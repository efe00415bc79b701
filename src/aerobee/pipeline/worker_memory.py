"""The memory of a Spark worker, which does one task after the other for as long as there are some.

garbage   a worker collects it after every task, and would go through all that it has imported:
          that takes longer than a small task does
the heap  batches and requests are megabytes. The C library gives each of them back to the
          system when it is free, and the next one begins with pages that have to be cleared;
          a worker keeps them, which is at most what one task needs
"""

import contextlib
import ctypes
import gc

KEPT_BYTES = 128 << 20
LARGEST_BYTES = 32 << 20
"""What is larger is the system's own affair: the C library takes no more than this."""

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3

_settled: set[int] = set()


def settle(worker: int) -> None:
    """Once for each worker, when it has imported what it needs."""
    if worker not in _settled:
        _settled.add(worker)
        gc.freeze()
        keep_heap()


def keep_heap() -> None:
    """Where the C library lets itself be told; elsewhere nothing changes."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, LARGEST_BYTES)
        library.mallopt(_TRIM_THRESHOLD, KEPT_BYTES)
