"""The memory of a Spark worker, which does one task after the other for as long as there are some.

garbage   Spark's worker runs a collection after every task, which visits all imported modules and
          takes longer than a small task: those are frozen
heap      batches and requests are megabytes; their memory is kept for the next task, up to the
          amount that one task needs
"""

import gc

from aerobee.system.heap import LARGEST_BYTES_MAX, keep_heap

KEPT_BYTES = 128 << 20

_settled: set[int] = set()


def settle(worker: int) -> None:
    """Adjust the memory settings, once for each worker, after its imports."""
    if worker not in _settled:
        _settled.add(worker)
        gc.freeze()
        keep_heap(LARGEST_BYTES_MAX, KEPT_BYTES)
