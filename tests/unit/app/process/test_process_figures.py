import mmap
import time

from aerobee.app.process.process_figures import MIB, age_seconds, cpu_seconds, memory


def test_memory_of_its_own_grows_with_what_is_held() -> None:
    before = memory()
    # Mapped, because a process that has let go of memory would give that out again.
    with mmap.mmap(-1, 32 * MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        for page in range(0, len(held), mmap.PAGESIZE):
            held[page] = 1
        after = memory()
    assert before is not None
    assert after is not None
    assert after.own - before.own > 24 * MIB
    assert 0 < after.of_files < after.resident


def test_processor_time_is_what_was_used() -> None:
    before, used = cpu_seconds(), time.process_time()
    while time.process_time() - used < 0.05:
        pass
    assert 0.03 <= cpu_seconds() - before < 5


def test_a_process_is_older_than_its_first_line() -> None:
    age = age_seconds()
    assert age is not None
    assert 0 < age < 24 * 3600
