"""Sets the log of a store aside, with everything that is derived from it.

A member of a Raft group that is so far behind that its leader has removed what it lacks begins
anew, where the leader's log begins. What it had is kept until this happens a second time, because a
person may want to look at it.
"""

import os
import shutil

FOLDER = "set_aside"
DERIVED = (
    "commitlog",
    "consumequeue",
    "batchconsumequeue",
    "index",
    "compacted",
    "timerlog",
    "timerwheel",
    "checkpoint",
    "durable_mark",
    "abort",
)


def set_log_aside(root: str) -> None:
    """Move the log of a closed store, and what is derived from it, into the folder `set_aside`. The
    log goes first: queues without their log are built anew, the reverse would be believed."""
    aside = f"{root}/{FOLDER}"
    shutil.rmtree(aside, ignore_errors=True)
    os.makedirs(aside)
    for name in DERIVED:
        if os.path.exists(f"{root}/{name}"):
            os.rename(f"{root}/{name}", f"{aside}/{name}")
