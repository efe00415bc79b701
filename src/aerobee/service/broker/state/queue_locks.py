"""Who may consume which queue in order: locks of (group, queue), held by a client for a while.

A lock that is not renewed within 60 s is free again; the client itself gives it up after 30 s, so
two clients never both believe that they hold it.
"""

from typing import NamedTuple

LOCK_MS_MAX = 60_000


class MessageQueueKey(NamedTuple):
    topic: str
    broker: str
    queue_id: int


class _Lock(NamedTuple):
    client: str
    renewed_ms: int


class QueueLocks:
    """The locks of all groups."""

    def __init__(self, lock_ms_max: int = LOCK_MS_MAX) -> None:
        self._lock_ms_max = lock_ms_max
        self._by_group: dict[str, dict[MessageQueueKey, _Lock]] = {}

    def lock(
        self, group: str, client: str, queues: list[MessageQueueKey], monotonic_ms: int
    ) -> list[MessageQueueKey]:
        """Take or renew locks; those of the queues that the client holds now."""
        locks = self._by_group.setdefault(group, {})
        held = []
        for queue in queues:
            lock = locks.get(queue)
            if lock is None or lock.client == client or self._is_expired(lock, monotonic_ms):
                locks[queue] = _Lock(client, monotonic_ms)
                held.append(queue)
        return held

    def unlock(self, group: str, client: str, queues: list[MessageQueueKey]) -> None:
        """Give locks back; those that somebody else holds stay."""
        locks = self._by_group.get(group, {})
        for queue in queues:
            lock = locks.get(queue)
            if lock is not None and lock.client == client:
                del locks[queue]
        if not locks:
            self._by_group.pop(group, None)

    def is_any_held(self, group: str, monotonic_ms: int) -> bool:
        """Whether the group consumes in order now: its failed messages go to the dead letters."""
        return any(
            not self._is_expired(lock, monotonic_ms)
            for lock in self._by_group.get(group, {}).values()
        )

    def drop_client(self, client: str) -> None:
        """A client is gone: its queues may move at once."""
        for group in list(self._by_group):
            locks = self._by_group[group]
            for queue in [queue for queue, lock in locks.items() if lock.client == client]:
                del locks[queue]
            if not locks:
                del self._by_group[group]

    def _is_expired(self, lock: _Lock, monotonic_ms: int) -> bool:
        return monotonic_ms - lock.renewed_ms > self._lock_ms_max
