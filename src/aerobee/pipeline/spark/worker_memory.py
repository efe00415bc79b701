"""The memory of a Spark worker, which does one task after the other for as long as there are some.

garbage   a worker collects it after every task, and would go through all that it has imported:
          that takes longer than a small task does
the heap  batches and requests are megabytes; a worker keeps them for the next one, which is at
          most what one task needs
"""

import gc

from aerobee.system.heap import LARGEST_BYTES_MAX, keep_heap

KEPT_BYTES = 128 << 20

_settled: set[int] = set()


def settle(worker: int) -> None:
    """Once for each worker, when it has imported what it needs."""
    if worker not in _settled:
        _settled.add(worker)
        gc.freeze()
        keep_heap(LARGEST_BYTES_MAX, KEPT_BYTES)
