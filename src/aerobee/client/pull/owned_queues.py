"""`OwnedQueues`: the queues that a consumer or a reader owns now: begun, moved, committed,
released.

U1. A queue is pulled by one OwnedQueue at a time.
U2. Releasing is: hand out nothing more, wait for messages that are out, commit, and only then drop.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator

from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.group.offset_stores import OffsetStore
from aerobee.client.pull.owned_queue import OwnedQueue
from aerobee.errors import Misuse
from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription

_log = logging.getLogger(__name__)

ANEW_SECONDS = 1.0


class OwnedQueues:
    def __init__(
        self,
        context: ConsumerContext,
        offsets: OffsetStore,
        subscriptions: Iterable[Subscription],
    ) -> None:
        self.offsets = offsets
        self.turn = asyncio.Lock()
        """Held by whoever changes which queues there are."""
        self._subscriptions = {one.topic: one for one in subscriptions}
        self._all = context
        self._owned: dict[MessageQueue, OwnedQueue] = {}
        self._pulls: dict[OwnedQueue, asyncio.Task[None]] = {}

    def __iter__(self) -> Iterator[MessageQueue]:
        return iter(self._owned)

    def __len__(self) -> int:
        return len(self._owned)

    def all(self) -> list[OwnedQueue]:
        return list(self._owned.values())

    def find(self, queue: MessageQueue) -> OwnedQueue | None:
        return self._owned.get(queue)

    def of(self, queue: MessageQueue) -> OwnedQueue:
        found = self._owned.get(queue)
        if found is None:
            raise Misuse(f"{queue} is not read here now", hint="see `queues`")
        return found

    def begin(self, queue: MessageQueue, start: int) -> None:
        """Pull a queue from an offset on."""
        owned = OwnedQueue(self._all, queue, self._subscriptions[queue.topic], start)
        self._owned[queue] = owned
        self._pulls[owned] = self._all.session.spawn(self._pull(owned), f"pulls of {queue}")

    async def seek(self, queue: MessageQueue, offset: int) -> None:
        """Go on at another offset of a queue. Messages pulled before are forgotten."""
        async with self.turn:
            owned = self._owned.get(queue)
            if owned is not None:
                await self._stop(owned)
                await self.offsets.commit({queue: offset}, is_certain=True)
                self.begin(queue, offset)

    async def commit(self, *, is_certain: bool = False) -> None:
        """Commit the offset of each queue."""
        await self._commit(self._owned.values(), is_certain=is_certain)

    async def let_go(self, lost: list[OwnedQueue], seconds: float) -> None:
        """Release queues. `seconds`: the longest wait for messages that are out."""
        if lost:
            await asyncio.gather(*(owned.finish(seconds) for owned in lost))
            await self._commit(lost, is_certain=True)
            for owned in lost:
                await self._stop(owned)

    async def _pull(self, owned: OwnedQueue) -> None:
        try:
            moved_to = await owned.run()
        except Exception:
            # A mistake of ours, or a broker that answers what nobody expects: never silence.
            _log.exception("pulling %s has failed, and begins anew", owned.queue)
            await asyncio.sleep(ANEW_SECONDS)
            moved_to = owned.in_hand.commit_offset()
        if moved_to is not None and not owned.is_dropped:
            _log.warning(
                "%s has nothing at offset %d; going on at %d",
                owned.queue,
                owned.in_hand.next_offset,
                moved_to,
            )
            # Not here: seeking ends this very task.
            self._all.session.spawn(self.seek(owned.queue, moved_to), f"moving in {owned.queue}")

    async def drop(self, lost: Iterable[OwnedQueue]) -> None:
        """Drop queues, and commit nothing."""
        for owned in lost:
            await self._stop(owned)

    async def _stop(self, owned: OwnedQueue) -> None:
        owned.drop()
        self._owned.pop(owned.queue, None)
        self.offsets.forget(owned.queue)
        task = self._pulls.pop(owned)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _commit(self, owned: Iterable[OwnedQueue], *, is_certain: bool) -> None:
        await self.offsets.commit(
            {one.queue: one.in_hand.commit_offset() for one in owned}, is_certain=is_certain
        )
