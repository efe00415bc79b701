"""What happens when messages become visible: the pulls that wait for them are run again."""

from aerobee.service.broker.handlers.pull import PullHandlers
from aerobee.service.broker.parked.held_pulls import HeldPulls
from aerobee.storage.store import Store


class Wakes:
    def __init__(self, store: Store, held: HeldPulls, pulls: PullHandlers) -> None:
        self._store = store
        self._held = held
        self._pulls = pulls

    def settle(self) -> None:
        """Make visible what was appended, as far as the flush mode allows, and wake who waits."""
        for queue in self._store.dispatch():
            key = (queue.topic, queue.queue_id)
            if self._held.has(key):
                self._pulls.arrived(key)
