"""All consume queues, by topic and queue id.

    consumequeue/{topic}/{queue id}/00000000000000000000 ...

The table is asked once per record, so the last answer is kept: messages of one queue come in runs.
Called from the core's thread only.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from aerobee.errors import Misuse, StoreBusy
from aerobee.ports.disk import Disk
from aerobee.storage.index.consume_queue import FILLER_SIZE, UNIT_BYTES, ConsumeQueue
from aerobee.storage.index.queue_folders import QUEUE_ID_MAX, is_folder_name, queue_folders

if TYPE_CHECKING:
    import cython
else:
    from aerobee._cython_compat import UNCOMPILED as cython
if not cython.compiled:
    from aerobee.protocol.primitives.big_endian import bytes_address, bytes_at, same_bytes

# Each has a mapped file or more, of which Linux grants a process 65,530 (vm.max_map_count): at one
# more, memory of any kind is refused, and the process ends.
QUEUES_MAX = 40_000


def is_compiled() -> bool:
    return cython.compiled


class ConsumeQueues:
    """The queues that exist, and the making of new ones. Q1. `_count` is how many there are."""

    __slots__ = (
        "_born_at",
        "_by_topic",
        "_count",
        "_count_max",
        "_directory",
        "_disk",
        "_file_units",
        "_last",
        "_leaving",
    )

    def __init__(
        self,
        disk: Disk,
        directory: str,
        file_units: int,
        born_at: Mapping[bytes, int] = MappingProxyType({}),
        count_max: int = QUEUES_MAX,
    ) -> None:
        """`born_at`: of topics that were deleted, the log offset before which records are dead."""
        self._disk = disk
        self._directory = directory
        self._file_units = file_units
        self._by_topic: dict[bytes, dict[int, ConsumeQueue]] = {}
        self._count = 0
        self._count_max = count_max
        self._last: ConsumeQueue | None = None
        self._born_at = born_at
        # Deleted topics whose files are not gone yet.
        self._leaving: set[bytes] = set()

    def find(self, topic: bytes, queue_id: int) -> ConsumeQueue | None:
        queues = self._by_topic.get(topic)
        return None if queues is None else queues.get(queue_id)

    def find_or_make(self, topic: bytes, queue_id: int) -> ConsumeQueue:
        """For a message that is to be stored. StoreBusy: there are too many queues already."""
        last = self._last
        if last is not None and last.queue_id == queue_id and last.topic == topic:
            return last
        queue = self.find(topic, queue_id)
        if queue is None:
            if self._count >= self._count_max:
                raise StoreBusy(
                    f"the store has {self._count} queues already",
                    hint="delete topics that are not used, or make them with fewer queues",
                )
            queue = self._make(topic, queue_id)
        self._last = queue
        return queue

    def at(self, memory: memoryview, position: int, size: int, queue_id: int) -> ConsumeQueue:
        """The queue of a record that is stored, whose topic stands in a memory."""
        last = self._last
        if (
            last is not None
            and last.queue_id == queue_id
            and len(last.topic) == size
            and same_bytes(memory, position, bytes_address(last.topic), 0, size)
        ):
            return last
        topic = bytes_at(memory, position, size)
        queue = self.find(topic, queue_id)
        if queue is None:
            queue = self._make(topic, queue_id)
        self._last = queue
        return queue

    def all(self) -> list[ConsumeQueue]:
        """Every queue, in order of topic and queue id."""
        return [
            queues[queue_id]
            for _, queues in sorted(self._by_topic.items())
            for queue_id in sorted(queues)
        ]

    def of_topic(self, topic: bytes) -> list[ConsumeQueue]:
        return [queue for _, queue in sorted(self._by_topic.get(topic, {}).items())]

    def born_at(self, topic: bytes) -> int:
        """The log offset at which a topic of this name was deleted: older records of it are dead.
        0: none was deleted."""
        return self._born_at.get(topic, 0)

    def fingerprint(self) -> tuple[int, int, int]:
        """How many queues hold units, their ends and the begins of their first files added up: what
        a mark remembers of them."""
        count = 0
        total = 0
        first = 0
        for queues in self._by_topic.values():
            for queue in queues.values():
                if queue.max_offset > 0:
                    count += 1
                    total += queue.max_offset
                    first += queue.sequence.first_offset() // UNIT_BYTES
        return count, total, first

    # Making and removing.

    def _make(self, topic: bytes, queue_id: int) -> ConsumeQueue:
        """A queue without files yet: they are made by its first unit."""
        if not is_folder_name(topic):
            raise Misuse(f"a topic may not be called {topic!r}")
        if not 0 <= queue_id <= QUEUE_ID_MAX:
            raise Misuse(f"queue id {queue_id} is not in 0..{QUEUE_ID_MAX}")
        directory = f"{self._directory}/{topic.decode()}/{queue_id}"
        born_at = self.born_at(topic)
        queue = ConsumeQueue(self._disk, directory, topic, queue_id, self._file_units, born_at)
        queue.is_leaving = topic in self._leaving
        self._by_topic.setdefault(topic, {})[queue_id] = queue
        self._count += 1
        return queue

    def load(self, is_torn: bool) -> None:
        """Open every queue that has a folder."""
        for topic, queue_id in queue_folders(self._disk, self._directory):
            self._make(topic, queue_id).load(is_torn)

    def remove_topic(self, topic: bytes) -> list[str]:
        """Forget a topic and remove its files; the folders that are left to sync."""
        queues = self._by_topic.pop(topic, {})
        self._count -= len(queues)
        self._last = None
        folder = f"{self._directory}/{topic.decode()}"
        for queue in queues.values():
            queue.clear()
            if self._disk.exists(queue.sequence.directory):
                self._disk.remove_directory(queue.sequence.directory)
        if self._disk.exists(folder):
            self._disk.remove_directory(folder)
        return [self._directory]

    def take_topic(self, topic: bytes) -> list[ConsumeQueue]:
        """Forget a topic. Returns its queues; the caller removes their files. Queues of the topic
        that are made before `let_in` are leaving."""
        queues = self._by_topic.pop(topic, {})
        self._count -= len(queues)
        self._last = None
        self._leaving.add(topic)
        return list(queues.values())

    def has_leaving(self) -> bool:
        """Whether files of a deleted topic are still there."""
        return bool(self._leaving)

    def let_in(self, topic: bytes) -> None:
        """The files of a topic are gone: its queues may be used again."""
        self._leaving.discard(topic)
        for queue in self.of_topic(topic):
            queue.is_leaving = False
            if queue.next_offset == 0:
                self._forget(queue)  # of dead records that were dispatched meanwhile

    def take_dead(self) -> list[str]:
        """Forget the queues that end before their topic was deleted; their folders."""
        folders = []
        for topic, offset in self._born_at.items():
            for queue in self.of_topic(topic):
                last = queue.unit(queue.max_offset - 1)
                if last is None or last[1] == FILLER_SIZE:
                    # One that came far and is empty now may be of the topic's next life.
                    is_dead = queue.max_offset == 0
                else:
                    is_dead = last[0] < offset
                if is_dead:
                    self._forget(queue)
                    queue.let_go()
                    folders.append(queue.sequence.directory)
        return folders

    def _forget(self, queue: ConsumeQueue) -> None:
        queues = self._by_topic[queue.topic]
        del queues[queue.queue_id]
        self._count -= 1
        if not queues:
            del self._by_topic[queue.topic]
        self._last = None

    def clear(self) -> None:
        """Forget everything, to be built again from the log."""
        for topic in list(self._by_topic):
            self.remove_topic(topic)

    def close(self) -> None:
        for queue in self.all():
            queue.sequence.close()
