"""Looking through the log for records that hold some bytes: for what is derived at a start.

A file without those bytes costs one search, at the speed of memory; in the others every record is
looked at. Blocks while it reads. Records are not checked.
"""

from collections.abc import Iterator

from aerobee.protocol.message.record import WHOLE, Record
from aerobee.storage.files.file_sequence import FileSequence
from aerobee.storage.files.mapped_file import MappedFile

_BLOCK_BYTES = 1 << 20


def records_holding(log: FileSequence, needle: bytes, start: int, end: int) -> Iterator[memoryview]:
    """Those between two log offsets at which records begin, oldest first."""
    while start < end:
        file = log.find(start)
        if file is None:
            return
        position = start - file.first_offset
        stop = min(file.size, end - file.first_offset)
        start = file.first_offset + file.size
        if _holds(file.view, position, stop, needle):
            yield from _holding_in(file, position, stop, needle)


def _holding_in(file: MappedFile, position: int, stop: int, needle: bytes) -> Iterator[memoryview]:
    record = Record()
    while position < stop and record.read_from(file.view, position) == WHOLE:
        size = record.size
        if needle in bytes(file.view[position : position + size]):
            yield file.slice(position, size)
        position += size


def _holds(view: memoryview, start: int, stop: int, needle: bytes) -> bool:
    for block in range(start, stop, _BLOCK_BYTES):
        # So much further that what lies across two blocks is in the first.
        block_end = min(block + _BLOCK_BYTES + len(needle) - 1, stop)
        if needle in bytes(view[block:block_end]):
            return True
    return False
