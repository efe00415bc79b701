"""Header fields of READ_LOG, which is ours, and of its answer.

A replica compares its commit log with its master's by it. The body of the answer has the bytes.
"""

from dataclasses import dataclass

from aerobee.protocol.remoting.declared_header import Int32, Int64

READ_LOG_BYTES_MAX = 8 << 20
"""The longest range of one request; frames hold 16 MiB."""


@dataclass(frozen=True, slots=True)
class ReadLogHeader:
    offset: Int64
    size: Int32


@dataclass(frozen=True, slots=True)
class LogRangeHeader:
    """The answer: its body has the bytes from `offset` on, fewer than asked for at the end of a log
    file or of the log."""

    min_offset: Int64
    """Where the log begins."""
    max_offset: Int64
    """Where it ends."""
    term: Int64 = 0
    """Of the broker's tables: the newest that it has been a master in, or has copied."""
