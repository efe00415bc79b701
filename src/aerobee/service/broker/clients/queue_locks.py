"""QueueLocks has the locks of (group, queue) that clients hold to consume in order.

A lock that is not renewed within 60 s is free again; the client itself gives it up after 30 s, so
two clients never both believe that they hold it. A client whose connection closed is taken for
gone, and its locks are free `gone_ms` after their last renewal. At 0, the default, the queues of a
killed consumer move within seconds; the price is that a client that only lost its connection may
still process messages while the next one begins. At 30,000 there is no such overlap, and the queues
of a killed one wait for as long.
"""

from collections.abc import Iterable
from typing import NamedTuple

from aerobee.model.message_queue import MessageQueue

LOCK_MS_MAX = 60_000
LOCKS_MAX = 100_000


class _Lock(NamedTuple):
    client: str
    renewed_ms: int
    free_ms: int
    """The monotonic time from which on any client may take it."""


class QueueLocks:
    """The locks of all groups. L1. `_count` is their number, expired ones included."""

    def __init__(
        self, lock_ms_max: int = LOCK_MS_MAX, gone_ms: int = 0, locks_max: int = LOCKS_MAX
    ) -> None:
        self._lock_ms_max = lock_ms_max
        self._gone_ms = gone_ms
        self._locks_max = locks_max
        self._by_group: dict[str, dict[MessageQueue, _Lock]] = {}
        self._count = 0

    def lock(
        self, group: str, client: str, queues: Iterable[MessageQueue], monotonic_ms: int
    ) -> list[MessageQueue]:
        """Take or renew locks; returns those of the queues that the client holds now."""
        locks = self._by_group.setdefault(group, {})
        held = []
        for queue in queues:
            lock = locks.get(queue)
            if lock is None and self._count >= self._locks_max:
                continue  # to the client it looks as if another client had it
            if lock is None or lock.client == client or lock.free_ms <= monotonic_ms:
                self._count += lock is None
                locks[queue] = _Lock(client, monotonic_ms, monotonic_ms + self._lock_ms_max + 1)
                held.append(queue)
        if not locks:
            del self._by_group[group]
        return held

    def unlock(self, group: str, client: str, queues: Iterable[MessageQueue]) -> None:
        """Release locks; those that another client holds stay."""
        locks = self._by_group.get(group, {})
        self._remove(group, [q for q in queues if q in locks and locks[q].client == client])

    def is_any_held(self, group: str, monotonic_ms: int) -> bool:
        """Whether the group consumes in order now: its failed messages go to the dead letters."""
        return any(lock.free_ms > monotonic_ms for lock in self._by_group.get(group, {}).values())

    def drop_member(self, group: str, client: str) -> None:
        """A client left a group: its locks become free."""
        locks = self._by_group.get(group, {})
        for queue, lock in locks.items():
            if lock.client == client:
                free_ms = min(lock.free_ms, lock.renewed_ms + self._gone_ms)
                locks[queue] = lock._replace(free_ms=free_ms)

    def drop_expired(self, monotonic_ms: int) -> None:
        """Forget locks that are free."""
        for group in list(self._by_group):
            locks = self._by_group[group]
            self._remove(group, [q for q, lock in locks.items() if lock.free_ms <= monotonic_ms])

    def _remove(self, group: str, queues: Iterable[MessageQueue]) -> None:
        locks = self._by_group.get(group, {})
        for queue in queues:
            if locks.pop(queue, None) is not None:
                self._count -= 1
        if not locks:
            self._by_group.pop(group, None)
