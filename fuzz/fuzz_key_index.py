"""Any bytes as a key index file are read and rebuilt within their bounds, or CorruptFile is raised.

Nothing else: no other error, no endless walk, no byte outside the file touched; and the compiled
module does what the uncompiled one does. The first bytes choose the calls, the rest is the file: as
it is, and again with a header that random bytes would hardly have.
"""

import struct
from typing import Any

from aerobee import errors
from aerobee.storage.index import key_index_file
from tests.pure import pure

SLOTS, UNITS = 4, 8
FILE_BYTES = key_index_file.file_bytes(SLOTS, UNITS)
UNITS_START = FILE_BYTES - 20 * UNITS
FENCE = b"\xa5" * 256

_PURE = pure("aerobee.storage.index.key_index_file")
_PURE_ERRORS = pure("aerobee.errors")
_CALLS = struct.Struct(">IqqHhqH")


class FencedFile:
    """A file whose bytes lie between two fences."""

    path = "index/fuzzed"

    def __init__(self, content: bytes) -> None:
        self.memory = bytearray(FENCE + content + FENCE)
        self.view = memoryview(self.memory)[len(FENCE) : -len(FENCE)]

    def reserve(self, start: int, end: int) -> None:
        assert 0 <= start <= end <= len(self.view), "room outside the file"

    def find_data(self, start: int) -> tuple[int, int]:
        return start, len(self.view)

    def content(self) -> bytes:
        assert self.memory.startswith(FENCE), "written before the file"
        assert self.memory.endswith(FENCE), "written after the file"
        return bytes(self.view)


def check(data: bytes) -> None:
    """Any bytes as a key index file are read and rebuilt within their bounds, or CorruptFile."""
    head, content = data[: _CALLS.size].ljust(_CALLS.size, b"\0"), data[_CALLS.size :]
    content = content[:FILE_BYTES].ljust(FILE_BYTES, b"\0")
    for file in (content, _with_sound_header(content)):
        compiled = _answers(key_index_file, errors.CorruptFile, head, file)
        assert compiled == _answers(_PURE, _PURE_ERRORS.CorruptFile, head, file)


def _with_sound_header(content: bytes) -> bytes:
    """The same units, with links and offsets that stay in range, so that walks go somewhere."""
    file = bytearray(content)
    next_unit = 1 + file[39] % UNITS
    struct.pack_into(">qqii", file, 16, file[23], 0xFFFF, file[35] % (next_unit + 1), next_unit)
    for place in [*range(40, 40 + 4 * SLOTS, 4), *range(UNITS_START + 16, FILE_BYTES, 20)]:
        struct.pack_into(">i", file, place, file[place + 3] % (UNITS + 2))
    for place in range(UNITS_START + 4, FILE_BYTES, 20):
        struct.pack_into(">q", file, place, file[place + 7] << 8 | file[place + 6])
    return bytes(file)


def _answers(module: Any, corrupt: type[Exception], head: bytes, content: bytes) -> list[object]:
    text_hash, begin_ms, end_ms, limit, unit_count, time_ms, puts = _CALLS.unpack(head)
    fenced = FencedFile(content)
    key_hash = module.index_hash(text_hash)
    answers: list[object] = [key_hash]
    try:
        file = module.KeyIndexFile(fenced, SLOTS, UNITS)
        answers.append(file.find(key_hash, begin_ms, end_ms, limit))
        for number in range(puts % UNITS):
            answers.append(file.put(key_hash + number & 0x7FFFFFFF, file.end_offset, time_ms))
        answers.append(file.find(key_hash, begin_ms, end_ms, limit))
        file.rebuild_to(unit_count % UNITS, time_ms)
        rebuilt = fenced.content()
        file.rebuild_to(unit_count % UNITS, time_ms)
        assert fenced.content() == rebuilt, "rebuilding again changed something"
        answers.append(file.find(key_hash, begin_ms, end_ms, limit))
    except corrupt as error:
        answers.append(str(error))
    answers.append(fenced.content())
    return answers
