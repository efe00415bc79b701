"""What a Spark worker need not look at: it collects garbage after every task.

All that it has imported would be gone through each time, which takes longer than a small task does.
"""

import gc

_frozen_workers: set[int] = set()


def spare_collections(worker: int) -> None:
    """Leave what there is now out of collections, once for each worker."""
    if worker not in _frozen_workers:
        gc.freeze()
        _frozen_workers.add(worker)
