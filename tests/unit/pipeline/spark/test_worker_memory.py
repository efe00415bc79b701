import ctypes
import gc
import subprocess
import sys

from aerobee.pipeline.spark.worker_memory import settle

_FAULTS = """
import resource
from aerobee.pipeline.spark.worker_memory import settle
{first}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    blocks = [bytearray(8 << 20), bytearray(24 << 20)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_what_a_worker_has_imported_is_not_collected_again() -> None:
    nobody = -1  # no other test's process
    gc.unfreeze()
    before = gc.get_freeze_count()
    settle(nobody)
    frozen = gc.get_freeze_count()
    made: list[list[int]] = [[] for _ in range(1000)]
    settle(nobody)
    assert frozen > before
    # Some of the frozen may have gone meanwhile; none of the new has been added.
    assert gc.get_freeze_count() < frozen + len(made) // 2
    gc.unfreeze()


def test_a_worker_keeps_the_memory_of_its_last_batch_for_the_next() -> None:
    def page_faults(first: str) -> int:
        program = [sys.executable, "-c", _FAULTS.format(first=first)]
        return int(subprocess.run(program, capture_output=True, check=True).stdout)

    first_blocks = (32 << 20) // 4096
    kept = page_faults("settle(1)")
    can_be_told = hasattr(ctypes.CDLL(None), "mallopt")
    assert kept < 1.5 * first_blocks or not can_be_told
