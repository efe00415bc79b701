"""`PullMember`: a group member that owns its share of the queues and pulls them.

    join ─▶ heartbeat ─▶ share out ─▶ (at an interval, when members or routes change) share out …
                            │
               lost: commit, drop        gained: lock if ordered, find the offset, pull

G1. The progress in a queue is committed before it is dropped, and its lock released after.
G2. Leaving is: hand out nothing more, wait for messages that are out, commit, and only then tell
    the brokers, who tell the other members: they begin where this one ended.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine, Iterable

from aerobee.client.core.consume.rebalance import TopicShare, change, wanted_queues
from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.group.offset_stores import OffsetStore
from aerobee.client.group.start_position import first_offset
from aerobee.client.pull.owned_queue import OwnedQueue
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.errors import AerobeeError, TopicNotFound
from aerobee.model.message_queue import MessageQueue
from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import ConsumeType, MessageModel, Subscription
from aerobee.protocol.bodies.heartbeat import ConsumerBeat

_log = logging.getLogger(__name__)

UNBALANCED_SECONDS = 0.05
"""Until sharing out is tried again that could not be finished; then it doubles. Mostly it waits for
a retry topic that the heartbeat has just made, and name servers hear of within milliseconds."""
LOCK_SECONDS = 20.0
"""How often locks are renewed; a broker lets go of one after 60 s."""


class PullMember:
    def __init__(
        self,
        context: ConsumerContext,
        offsets: OffsetStore,
        subscriptions: Iterable[Subscription],
    ) -> None:
        """`subscriptions`: of every topic, the group's retry topic included, as on the wire."""
        self.group = context.calls.group
        self.options = context.options
        self.subscriptions = {one.topic: one for one in subscriptions}
        self.queues = OwnedQueues(context, offsets, self.subscriptions.values())
        self._all = context
        self._session = context.session
        self._client_id = context.session.client_id
        self._is_crowded = False
        self._warned: set[str] = set()
        self._wake = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    # Coming and going.

    async def join(self) -> None:
        """Join the group and take a share of the queues, as far as they are known now."""
        for topic in self.subscriptions:
            await self._know_route(topic)
        await self._session.members.consume(self._beat())
        self._session.routes.watch(self._route_changed)
        is_balanced = await self.share_out()
        self._spawn(self._keep_sharing(is_balanced), "sharing out")
        self._spawn(self._keep_committing(), "commits")
        if self.options.is_ordered:
            self._spawn(self._keep_locks(), "locks")
        else:
            self._spawn(self._keep_moving(), "messages that are overdue")

    async def leave(self) -> None:
        self._session.routes.unwatch(self._route_changed)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        async with self.queues.turn:
            await self._release(self.queues.all(), self.options.grace)
        await self._session.members.stop_consuming(self.group)

    def wake(self) -> None:
        """Rebalance soon: members or queues may have changed."""
        self._wake.set()

    # Sharing out.

    async def share_out(self) -> bool:
        """Rebalance: own the queues that this member should. Returns whether all succeeded."""
        async with self.queues.turn:
            shares = {topic: await self._share(topic) for topic in self.subscriptions}
            wanted = wanted_queues(self._client_id, shares, self.queues, self.options.strategy)
            moved = change(self.queues, wanted)
            if not moved.is_none:
                _log.info(
                    "%s of %s: gains %d queues, loses %d",
                    self._client_id,
                    self.options.group,
                    len(moved.gained),
                    len(moved.lost),
                )
            await self._lose([self.queues.of(queue) for queue in moved.lost])
            is_complete = await self._gain(moved.gained)
        return is_complete and None not in shares.values()

    async def _share(self, topic: str) -> TopicShare | None:
        """Queues and members of a topic; None: not known now."""
        await self._know_route(topic)
        route = self._session.routes.find(topic)
        if route is None:
            # A retry topic is made by the first heartbeat; name servers hear of it a little later.
            return None
        if self.options.is_broadcasting:
            return TopicShare(route.readable, None)
        members = await self._all.calls.members(topic)
        if members is None or self._client_id not in members:
            await self._session.members.beat()  # a broker that has just started does not know us
            return None
        self._is_crowded = len(members) > 1
        return TopicShare(route.readable, members)

    async def _know_route(self, topic: str) -> None:
        try:
            await self._session.routes.of(topic)
        except TopicNotFound as error:
            if topic not in self._warned and not is_retry_topic(topic):
                self._warned.add(topic)
                _log.warning("%s waits for a topic: %s", self.options.group, error)

    async def _lose(self, lost: list[OwnedQueue]) -> None:
        # Who gains it reads its offset in a moment: what is out is not waited for any longer,
        # unless a lock holds the other one off.
        seconds = self.options.grace if self.options.is_ordered else self._short_grace()
        await self._release(lost, seconds)

    async def _gain(self, gained: Collection[MessageQueue]) -> bool:
        """Take queues over. Returns whether all were gained."""
        if not gained:
            return True
        ours = frozenset(gained)
        if self.options.is_ordered:
            ours = await self._all.calls.lock(gained)
        elif self._is_crowded and not self.options.is_broadcasting:
            await asyncio.sleep(self.options.hand_over_seconds)
        starts = await asyncio.gather(*(self._start_of(queue) for queue in sorted(ours)))
        for queue, start in zip(sorted(ours), starts, strict=True):
            if start is not None:
                self.queues.begin(queue, start)
        return len(ours) == len(gained) and None not in starts

    async def _start_of(self, queue: MessageQueue) -> int | None:
        """The first offset to pull; None: not known now."""
        try:
            committed = await self.queues.offsets.committed(queue)
            if committed is not None:
                return committed
            return await first_offset(self._all.calls, queue, self.options.start)
        except AerobeeError as error:
            _log.warning("where to begin in %s cannot be told now: %s", queue, error)
            return None

    async def _release(self, lost: list[OwnedQueue], seconds: float) -> None:
        """Release queues, and only then their locks."""
        await self.queues.let_go(lost, seconds)
        if lost and self.options.is_ordered:
            await self._all.calls.unlock([owned.queue for owned in lost])

    # What runs beside the application.

    async def _keep_sharing(self, is_balanced: bool) -> None:
        longest = self.options.rebalance_seconds
        hurry = UNBALANCED_SECONDS
        while True:
            if is_balanced:
                hurry = UNBALANCED_SECONDS
            try:
                async with asyncio.timeout(longest if is_balanced else min(hurry, longest)):
                    await self._wake.wait()
            except TimeoutError:
                hurry = min(2 * hurry, longest)
            self._wake.clear()
            try:
                is_balanced = await self.share_out()
            except AerobeeError as error:
                is_balanced = False
                _log.warning("queues of %s stay as they are: %s", self.options.group, error)

    async def _keep_committing(self) -> None:
        while True:
            await asyncio.sleep(self.options.commit_seconds)
            await self.queues.commit()

    async def _keep_moving(self) -> None:
        """Send overdue messages back, so that none holds up its queue for longer than it may."""
        seconds = min(self.options.commit_seconds, self.options.consume_timeout)
        while True:
            await asyncio.sleep(seconds)
            waiting = self._all.inbox.waiting()
            for owned in self.queues.all():
                try:
                    await owned.send_back_overdue(waiting)
                except AerobeeError as error:
                    _log.warning("%s is held up still: %s", owned.queue, error)

    async def _keep_locks(self) -> None:
        while True:
            await asyncio.sleep(LOCK_SECONDS)
            held = await self._all.calls.lock(self.queues)
            async with self.queues.turn:
                lost = [owned for owned in self.queues.all() if owned.queue not in held]
                if lost:
                    _log.warning("%d locks were lost: their queues are let go", len(lost))
                    await self._release(lost, 0)
                    self.wake()

    def _spawn(self, work: Coroutine[object, object, None], name: str) -> None:
        task = self._session.spawn(work, f"{name} of {self.options.group}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _route_changed(self, topic: str) -> None:
        if topic in self.subscriptions:
            self.wake()

    def _short_grace(self) -> float:
        return min(self.options.grace, self.options.hand_over_seconds * 0.8)

    def _beat(self) -> ConsumerBeat:
        options = self.options
        return ConsumerBeat(
            self.group,
            ConsumeType.PASSIVELY,
            MessageModel.BROADCASTING if options.is_broadcasting else MessageModel.CLUSTERING,
            options.start.consume_from,
            tuple(self.subscriptions.values()),
        )
