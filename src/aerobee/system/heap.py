"""Tuning of the C library's allocator: it keeps freed memory for the next request.

It gives a block of megabytes back to the system at once, and the next one begins with pages that
the system has to clear, one fault each. A process that handles one request of a megabyte after the
other keeps some instead: of a batch that Spark writes, a broker spent a sixth of its time on that.
"""

import contextlib
import ctypes

LARGEST_BYTES_MAX = 32 << 20
"""What is larger is the system's own affair: the C library takes no more than this."""

# Of <malloc.h>.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3


def keep_heap(largest_bytes: int, kept_bytes: int) -> None:
    """Have so much free memory kept, and blocks up to so large be made of it. Where the C library
    does not let itself be told, nothing changes."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, largest_bytes)
        library.mallopt(_TRIM_THRESHOLD, kept_bytes)
