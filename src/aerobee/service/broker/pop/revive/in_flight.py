"""A cache of the checkpoints that this process wrote, and of their acknowledgements.

The log is authoritative, but its records come out of the timer late, and reading every
acknowledgement again costs as much as writing it. For a checkpoint that is not cached (of an
earlier process, or the cache was full) acknowledgements are read from the revive queue.
"""

from collections.abc import Iterable

from aerobee.protocol.bodies.revive_records import CheckpointKey

CHECKPOINTS_MAX = 200_000  # some 400 bytes each


class InFlight:
    def __init__(self, checkpoints_max: int = CHECKPOINTS_MAX) -> None:
        self._checkpoints_max = checkpoints_max
        # Bit i: the message at the start offset + i. The highest bit stands behind the last one
        # and bounds the number: an acknowledgement of a far offset cannot make it huge.
        self._acked: dict[CheckpointKey, int] = {}

    def started(self, key: CheckpointKey, last_distance: int) -> None:
        """A checkpoint was written; its last message is at the start offset + `last_distance`."""
        if len(self._acked) < self._checkpoints_max:
            self._acked.setdefault(key, 2 << last_distance)

    def acked(self, key: CheckpointKey, offsets: Iterable[int]) -> None:
        """An acknowledgement was written."""
        bits = self._acked.get(key)
        if bits is None:
            return
        start_offset = key[3]
        end_offset = start_offset + bits.bit_length() - 1
        for offset in offsets:
            if start_offset <= offset < end_offset:
                bits |= 1 << (offset - start_offset)
        self._acked[key] = bits

    def knows(self, key: CheckpointKey) -> bool:
        return key in self._acked

    def is_acked(self, key: CheckpointKey, distance: int) -> bool:
        bits = self._acked.get(key, 0)
        return bits >> distance & 1 == 1 and distance + 1 < bits.bit_length()

    def ended(self, key: CheckpointKey) -> None:
        """All messages of the checkpoint are acknowledged or revived: drop it."""
        self._acked.pop(key, None)

    def forget_topic(self, topic: str) -> None:
        """A topic was deleted: count all its messages as acknowledged, so that none comes back. The
        checkpoints stay until they come out of the timer: an unknown one is taken for one of an
        earlier process."""
        for key, bits in self._acked.items():
            if key[0] == topic:
                self._acked[key] = (1 << bits.bit_length()) - 1

    def __len__(self) -> int:
        return len(self._acked)
