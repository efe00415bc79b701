"""A read of the broker's own that the disk has to be asked for: delayed messages, popped ones.

Nobody is called when it is over: whoever began it looks at every tick.
"""

from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import Store


class BackgroundRead:
    """Disk job: have the records of a read in memory, and checked."""

    def __init__(self, store: Store, read: QueueRead, place: object) -> None:
        """`place` is what the read was for: by then somebody may want another one."""
        self._store = store
        self.read = read
        self.place = place
        self.is_over = False
        self.error: BaseException | None = None

    def run(self) -> None:
        self._store.verify(self.read)

    def done(self, error: BaseException | None) -> None:
        self.is_over = True
        self.error = error
