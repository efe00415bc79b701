"""The files of all compacted queues, by topic and queue id: see `kept_file`.

    compacted/{topic}/{queue id}/{end, 20 digits}          what was kept up to there
    compacted/{topic}/{queue id}/{end, 20 digits}.new      being written

The one with the highest end counts. Older ones and unfinished ones are what a stop left, and go at
the next start. Unlike queues and index these files cannot be built again once the log has gone on:
damage is reported, and nothing is removed because of it.

Called from the core's thread only.
"""

from collections.abc import Mapping
from types import MappingProxyType

from aerobee.ports.disk import Disk
from aerobee.storage.index.kept_file import KeptFile
from aerobee.storage.index.queue_folders import queue_folders, topic_folders

FOLDER = "compacted"
UNFINISHED = ".new"

_NAME_DIGITS = 20


class KeptFiles:
    """The files that exist."""

    def __init__(
        self, disk: Disk, directory: str, born_at: Mapping[bytes, int] = MappingProxyType({})
    ) -> None:
        """`born_at`: of topics that were deleted, the log offset before which records are dead."""
        self._disk = disk
        self._directory = directory
        self._born_at = born_at
        self._files: dict[tuple[bytes, int], KeptFile] = {}

    def find(self, topic: bytes, queue_id: int) -> KeptFile | None:
        return self._files.get((topic, queue_id))

    def all(self) -> list[tuple[bytes, int, KeptFile]]:
        return [(*queue, self._files[queue]) for queue in sorted(self._files)]

    def folder(self, topic: bytes, queue_id: int) -> str:
        return f"{self._directory}/{topic.decode()}/{queue_id}"

    def path(self, topic: bytes, queue_id: int, end: int) -> str:
        return f"{self.folder(topic, queue_id)}/{end:0{_NAME_DIGITS}}"

    def put(self, topic: bytes, queue_id: int, file: KeptFile) -> KeptFile | None:
        """Have a file count from now on; the one that did before, for the caller to remove."""
        before = self._files.get((topic, queue_id))
        self._files[topic, queue_id] = file
        return before

    def load(self) -> None:
        """Open what there is. CorruptFile: a file is not as it was written."""
        for topic, queue_id in queue_folders(self._disk, self._directory):
            self._load(topic, queue_id)

    def _load(self, topic: bytes, queue_id: int) -> None:
        folder = self.folder(topic, queue_id)
        names = [name for name in self._disk.list_directory(folder) if _is_end(name)]
        if names:
            file = KeptFile.open(self._disk, f"{folder}/{max(names)}")
            self._files[topic, queue_id] = file

    def tidy(self) -> None:
        """Remove what a stop left: unfinished files and older ones. Not durable, nor need it be."""
        for topic in topic_folders(self._disk, self._directory):
            for text in self._disk.list_directory(f"{self._directory}/{topic}"):
                folder = f"{self._directory}/{topic}/{text}"
                names = self._disk.list_directory(folder)
                newest = max(filter(_is_end, names), default="")
                for name in names:
                    end = name.removesuffix(UNFINISHED)
                    if _is_end(end) and name != newest:
                        self._disk.remove(f"{folder}/{name}")

    def take_topic(self, topic: bytes) -> list[str]:
        """Forget a topic; the folders of its queues, for the caller to remove."""
        queues = [queue for queue in self._files if queue[0] == topic]
        for queue in queues:
            del self._files[queue]
        return [self.folder(*queue) for queue in queues]

    def take_dead(self) -> list[str]:
        """Forget the files of topics that were deleted since; their folders."""
        dead = [
            queue
            for queue, file in self._files.items()
            if file.log_end <= self._born_at.get(queue[0], -1)
        ]
        for queue in dead:
            del self._files[queue]
        return [self.folder(*queue) for queue in dead]


def _is_end(name: str) -> bool:
    return len(name) == _NAME_DIGITS and name.isascii() and name.isdigit()
