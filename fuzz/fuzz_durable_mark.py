"""Any file gives a mark that can be written on, or CorruptFile, and is left as it was.

The bytes are tried as a whole file, and again with both slots sealed by a right checksum, which
random bytes would never have.
"""

import zlib

from aerobee.errors import CorruptFile
from aerobee.protocol.message.durable_mark_slots import FILE_BYTES, SLOT_BYTES, SLOT_POSITIONS
from aerobee.sim.disk import SimDisk
from aerobee.storage.recover.durable_mark import DurableMarkFile

_PATH = "store/durable_mark"
_SEALED_BYTES = (72, SLOT_BYTES - 4)
"""Of slots of both versions."""


def check(data: bytes) -> None:
    """Any file gives a mark that can be written on, or CorruptFile, and is left as it was."""
    _check_file(data)
    for sealed_bytes in _SEALED_BYTES:
        _check_file(_sealed(data, sealed_bytes))


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


def _sealed(data: bytes, sealed_bytes: int) -> bytes:
    """A file of the right length whose slots hold the bytes, with the checksums they need."""
    content = bytearray(data[:FILE_BYTES].ljust(FILE_BYTES, b"\0"))
    second = data[sealed_bytes : 2 * sealed_bytes]
    content[SLOT_POSITIONS[1] : SLOT_POSITIONS[1] + len(second)] = second
    for position in SLOT_POSITIONS:
        end = position + sealed_bytes
        content[end : end + 4] = zlib.crc32(content[position:end]).to_bytes(4, "big")
    return bytes(content)
