"""BackgroundRead: a disk job that reads messages for the broker itself (delayed or popped ones).

It has no callback: the owner checks `is_over` at every tick.
"""

from aerobee.storage.read.queue_read import QueueRead
from aerobee.storage.store import Store


class BackgroundRead:
    """A disk job that brings the records of a read into memory and checks them."""

    def __init__(self, store: Store, read: QueueRead, place: object) -> None:
        """`place` identifies the read: by the time it is over the owner may want another one."""
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
