import os
import signal
import subprocess
import sys

import pytest

from tests.interop.features.waiting import until
from tests.process_kit import SECONDS_MAX

_CHILD = """
import os, signal, sys
from aerobee.system.parent_death import is_tied_to_parent
assert is_tied_to_parent(int(sys.argv[1]))
print(os.getpid(), flush=True)
signal.pause()
"""
_PARENT = """
import os, signal, subprocess, sys
subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid())], start_new_session=True)
signal.pause()
"""


@pytest.mark.parametrize("is_stopped", [False, True], ids=["runs", "is stopped"])
def test_a_child_ends_when_its_parent_is_killed(is_stopped: bool) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, _CHILD], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    if is_stopped:
        os.kill(child, signal.SIGSTOP)
    parent.kill()
    parent.wait()
    until(lambda: not _is_alive(child), SECONDS_MAX, "the child has ended, too")
    parent.stdout.close()


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return not file.read().rpartition(") ")[2].startswith("Z")
    except OSError:
        return False


def test_a_parent_that_has_ended_before_is_noticed() -> None:
    said = subprocess.run(
        [sys.executable, "-c", _CHILD, "1"], capture_output=True, text=True, check=False
    )
    assert said.returncode != 0
    assert "AssertionError" in said.stderr
