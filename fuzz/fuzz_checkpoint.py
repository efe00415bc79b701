"""Any file gives six numbers and a start not below zero; of the right size, it keeps its bytes.

A checkpoint has no checksum: there is nothing to refuse, and so nothing may go wrong.
"""

from aerobee.sim.disk import SimDisk
from aerobee.storage.recover.checkpoint import FILE_BYTES, Checkpoint

_PATH = "store/checkpoint"


def check(data: bytes) -> None:
    """Any file gives six numbers and a start not below zero; of the right size, it keeps its
    bytes."""
    for content in (data, data[:FILE_BYTES].ljust(FILE_BYTES, b"\0")):
        disk = SimDisk()
        disk.replace(_PATH, content)
        checkpoint = Checkpoint.open(disk, _PATH)
        fields = checkpoint.fields
        assert len(fields) == 6
        assert checkpoint.start_timestamp_ms() >= 0
        checkpoint.write(fields)
        checkpoint.sync()
        expected = content if len(content) == FILE_BYTES else bytes(FILE_BYTES)
        assert disk.power_cut().read(_PATH) == expected
