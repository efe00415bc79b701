"""Any file gives a mark that can be written on, or CorruptFile, and is left as it was.

The bytes are tried as a whole file, and again with both slots sealed by a right checksum, which
random bytes would never have.
"""

import zlib

from aerobee.errors import CorruptFile
from aerobee.sim.disk import SimDisk
from aerobee.storage.recover.durable_mark import (
    FILE_BYTES,
    SLOT_BYTES,
    SLOT_POSITIONS,
    DurableMarkFile,
)

_PATH = "store/durable_mark"
_SEALED_BYTES = SLOT_BYTES - 4


def check(data: bytes) -> None:
    """Any file gives a mark that can be written on, or CorruptFile, and is left as it was."""
    _check_file(data)
    _check_file(_sealed(data))


def _check_file(content: bytes) -> None:
    disk = SimDisk()
    disk.replace(_PATH, content)
    try:
        file = DurableMarkFile.open(disk, _PATH)
    except CorruptFile:
        assert disk.read(_PATH) == content
        return
    assert min(file.mark) >= 0
    assert disk.read(_PATH) == content
    _check_it_goes_on(disk, file)


def _check_it_goes_on(disk: SimDisk, file: DurableMarkFile) -> None:
    """The next mark is found again, synced or not, and the old one is safe until it is synced."""
    old = file.mark
    new = old._replace(flushed=old.flushed ^ 1)
    file.write(new)
    assert DurableMarkFile.open(disk.kill(), _PATH).mark == new
    assert DurableMarkFile.open(disk.power_cut(), _PATH).mark == old
    file.begin_sync()
    file.sync()
    file.note_synced()
    assert DurableMarkFile.open(disk.power_cut(), _PATH).mark == new


def _sealed(data: bytes) -> bytes:
    """A file of the right length whose slots hold the bytes, with the checksums they need."""
    content = bytearray(data[:FILE_BYTES].ljust(FILE_BYTES, b"\0"))
    second = data[_SEALED_BYTES : 2 * _SEALED_BYTES]
    content[SLOT_POSITIONS[1] : SLOT_POSITIONS[1] + len(second)] = second
    for position in SLOT_POSITIONS:
        end = position + _SEALED_BYTES
        content[end : end + 4] = zlib.crc32(content[position:end]).to_bytes(4, "big")
    return bytes(content)
