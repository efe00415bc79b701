import ctypes
import subprocess
import sys

_FAULTS = """
import resource
from aerobee.system.heap import keep_heap
{first}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    blocks = [bytearray(5 << 20) for _ in range(3)]
    del blocks
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_memory_that_is_free_is_used_again_without_the_system() -> None:
    def page_faults(first: str) -> int:
        program = [sys.executable, "-c", _FAULTS.format(first=first)]
        return int(subprocess.run(program, capture_output=True, check=True).stdout)

    first_blocks = (15 << 20) // 4096
    kept = page_faults("keep_heap(8 << 20, 16 << 20)")
    can_be_told = hasattr(ctypes.CDLL(None), "mallopt")
    assert kept < 1.5 * first_blocks or not can_be_told
    assert page_faults("") > 5 * first_blocks or not can_be_told
