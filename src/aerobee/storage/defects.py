"""Faults on purpose: the test of the tests.

Each member is a mistake that a store could make and that some test must notice. A store runs with
none of them: there is no configuration key, environment variable or file that plants one, only the
`defects` argument of `Store.open`, which nothing but the tests passes.
"""

from enum import Enum, auto


class Defect(Enum):
    ACKNOWLEDGE_BEFORE_SYNC = auto()
    ACKNOWLEDGE_FAILED_SYNC = auto()
    SKIP_SYNC = auto()
    RETRY_FAILED_SYNC = auto()
    READ_AFTER_FAILED_SYNC = auto()
    MARK_BEFORE_SYNC = auto()
    ABORT_FLAG_NOT_SET = auto()
    NO_DIRECTORY_SYNC_ON_ROLL = auto()
    TAIL_NOT_ZEROED = auto()
    MIDDLE_OF_LOG_CUT = auto()
    CRC_OFF = auto()
    CRC_NOT_CHECKED = auto()
    CACHE_TRUSTED_AFTER_CRASH = auto()
    CHECKPOINT_AHEAD_OF_DATA = auto()
    QUEUE_NOT_CUT_WITH_LOG = auto()
    MISSING_FILES_UNNOTICED = auto()
    DISPATCHED_UNCHECKED = auto()
    DISPATCH_AHEAD_OF_SYNC = auto()
    CONFIG_WRITTEN_IN_PLACE = auto()
    ACKNOWLEDGE_ON_FULL_DISK = auto()
    FILE_IN_USE_WIPED = auto()


Defects = frozenset[Defect]
NO_DEFECTS: Defects = frozenset()
