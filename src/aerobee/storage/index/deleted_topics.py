"""Topics that were deleted, and the log offset at which: records before it are of no queue.

The log goes on holding them until their files go, and queues are built again from the log. Without
this note a topic that was deleted would come back with its first message, or, made anew since, with
the messages of its first life in front. RocketMQ keeps no such note, and they do come back there.

The file `deleted_topics`, ours, is replaced whole. A line for each topic, in order:

    <log offset> <topic>\\n

A topic is forgotten once the log begins after its offset.
"""

from collections.abc import Container

from aerobee.errors import CorruptFile
from aerobee.ports.disk import Disk
from aerobee.storage.index.queue_folders import is_folder_name

FILE_NAME = "deleted_topics"

_DIGITS_MAX = 19  # of an int64


class DeletedTopics:
    """The deleted topics of one store. Queues that are made look into `offsets`."""

    def __init__(self, disk: Disk, root: str, offsets: dict[bytes, int]) -> None:
        self._disk = disk
        self._path = f"{root}/{FILE_NAME}"
        self.offsets = offsets

    @classmethod
    def load(cls, disk: Disk, root: str) -> "DeletedTopics":
        """What the disk says; nothing, if there is no file. CorruptFile if it cannot be read."""
        path = f"{root}/{FILE_NAME}"
        content = disk.read(path) if disk.exists(path) else b""
        return cls(disk, root, parse_deleted(content, path))

    def fit_to(self, end_offset: int) -> bool:
        """Make it fit the log that a stop left; whether that changed what must be saved.

        What was appended before a deletion may be lost: what comes now in its place is of the
        topic's next life.
        """
        is_ahead = any(offset > end_offset for offset in self.offsets.values())
        for topic, offset in self.offsets.items():
            self.offsets[topic] = min(offset, end_offset)
        return is_ahead

    def forget_before(self, min_offset: int, spared: Container[bytes] = ()) -> None:
        """The log begins here: topics of which it holds nothing need no note. `spared`: topics that
        keep it, because their files are still on the disk."""
        for topic, offset in list(self.offsets.items()):
            if offset <= min_offset and topic not in spared:
                del self.offsets[topic]

    def encode(self) -> bytes:
        return b"".join(
            b"%d %s\n" % (offset, topic) for topic, offset in sorted(self.offsets.items())
        )

    def save(self, content: bytes) -> None:
        """Put what `encode` said on the disk. Blocks; on any thread."""
        self._disk.replace(self._path, content)


def parse_deleted(content: bytes, path: str) -> dict[bytes, int]:
    """The log offsets in a file, by topic. CorruptFile: it is not valid."""
    offsets = {}
    for line in content.splitlines():
        digits, _, topic = line.partition(b" ")
        is_number = digits.isdigit() and len(digits) <= _DIGITS_MAX
        if not is_number or not is_folder_name(topic):
            raise CorruptFile(
                f"a line that names no topic: {line[:300]!r}",
                path=path,
                hint="remove the file; topics that were deleted may come back if queues "
                "have to be built again",
            )
        offsets[topic] = int(digits)
    return offsets
