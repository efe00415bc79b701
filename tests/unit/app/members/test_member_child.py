"""Most of it is tested where it is started: `test_member_process.py`."""

import subprocess

from aerobee.app.members.member_process import COMMAND


def test_a_process_that_is_told_nothing_ends() -> None:
    said = subprocess.run(COMMAND, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, b"", b"")


def test_a_process_whose_parent_is_gone_ends() -> None:
    said = subprocess.run(COMMAND, input=b'[1, "INFO", [], []]\n', capture_output=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, b"", b"")
