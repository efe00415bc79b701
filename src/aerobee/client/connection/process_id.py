"""Which process this is, without asking the system at every send.

A client belongs to the process that opened it. Only a fork makes another one that has it, too, and
Python tells of forks.
"""

import os

_numbers = [os.getpid()]


def process_id() -> int:
    """What `os.getpid` says."""
    return _numbers[0]


def _forked() -> None:
    _numbers[0] = os.getpid()


os.register_at_fork(after_in_child=_forked)
