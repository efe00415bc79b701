"""Confirmed ends of commit logs: where a log stops counting, because too few brokers have the rest.

A member of a Raft group, and a broker with copies to wait for, may have records at the end of its
log that are acknowledged to nobody, and are cut off if another broker leads. Consumers do not see
them; nor does whoever reads the files. The store says how far its log is confirmed in the file
`durable_mark`, beside the folder of the log (`protocol.message.durable_mark_slots`). A log without
that file, such as RocketMQ's or a folder that was copied alone, is read to its end.
"""

import logging
import os

from aerobee.pipeline.log_table.log_files import DamagedLog
from aerobee.protocol.message.durable_mark_slots import NO_BOUND, newest_slot

_log = logging.getLogger(__name__)

_FILE = "durable_mark"


def confirmed_end(folder: str, *, fails: bool) -> int | None:
    """Return the log offset up to which the log in this folder is confirmed; None: it counts to its
    end. `fails`: a file that cannot be believed is a DamagedLog; else a warning."""
    path = os.path.join(os.path.dirname(os.path.abspath(folder)), _FILE)
    try:
        with open(path, "rb") as file:
            found = newest_slot(memoryview(file.read()))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unknown(path, str(error.strerror)) from None
    if found is not None:
        confirmed = found[0].confirmed
        return None if confirmed == NO_BOUND else confirmed
    if fails:
        raise _unknown(path, "neither of its slots is valid")
    _log.warning("%s cannot be believed: the log is read to its end", path)
    return None


def _unknown(path: str, why: str) -> DamagedLog:
    return DamagedLog(
        f"{path} does not say how far the log is confirmed: {why}",
        hint="a newer Aerobee may have written it; onDamage=report, or a copy of the log without "
        "it, is read to its end: of a member of a group, also what may be cut off again",
    )
