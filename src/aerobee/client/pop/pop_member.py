"""`PopMember`: a group member that pops, with one source for each topic on each of its brokers.

It owns no queue and keeps no offset: brokers know the group's progress from the acknowledgements.
Members come and go without a rebalance.
"""

import asyncio
import logging
from collections.abc import Iterable

from aerobee.client.group.consumer_context import ConsumerContext
from aerobee.client.group.offset_stores import NoOffsetStore
from aerobee.client.pop.pop_source import PopSource
from aerobee.client.pull.owned_queues import OwnedQueues
from aerobee.errors import TopicNotFound
from aerobee.model.names import is_retry_topic
from aerobee.model.subscription import ConsumeType, Subscription
from aerobee.protocol.bodies.heartbeat import ConsumerBeat

_log = logging.getLogger(__name__)


class PopMember:
    def __init__(self, context: ConsumerContext, subscriptions: Iterable[Subscription]) -> None:
        self.group = context.calls.group
        self.options = context.options
        self.subscriptions = {
            one.topic: one for one in subscriptions if not is_retry_topic(one.topic)
        }
        # There are none, and so none can be moved, paused or committed.
        self.queues = OwnedQueues(context, NoOffsetStore(), ())
        self._all = context
        self._session = context.session
        self._wake = asyncio.Event()
        self._sources: dict[tuple[str, str], PopSource] = {}
        self._keeping: asyncio.Task[None] | None = None

    async def join(self) -> None:
        await self._follow_routes()
        await self._session.members.consume(
            ConsumerBeat(
                self.group,
                ConsumeType.PASSIVELY,
                consume_from=self.options.start.consume_from,
                subscriptions=tuple(self.subscriptions.values()),
            )
        )
        self._session.routes.watch(self._route_changed)
        self._keeping = self._session.spawn(self._keep(), f"sources of {self.group}")

    async def leave(self) -> None:
        self._session.routes.unwatch(self._route_changed)
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        for source in self._sources.values():
            source.stop()
        if not await self._all.inbox.idle(self.options.grace):
            _log.warning("%d messages are given up unfinished", self._all.inbox.out)
        for source in self._sources.values():
            await source.finish()
        self._sources.clear()
        await self._session.members.stop_consuming(self.group)

    def wake(self) -> None:
        self._wake.set()

    async def _keep(self) -> None:
        while True:
            try:
                async with asyncio.timeout(self.options.rebalance_seconds):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            await self._follow_routes()

    async def _follow_routes(self) -> None:
        """Start a source on every broker that has a topic, and stop those where it is gone."""
        places = set()
        for topic, subscription in self.subscriptions.items():
            try:
                route = await self._session.routes.of(topic)
            except TopicNotFound as error:
                _log.warning("%s waits for a topic: %s", self.group, error)
                self._session.spawn(self._look_again(), f"looking for {topic}")
                continue
            for broker_name in route.popped:
                place = (topic, broker_name)
                places.add(place)
                if place not in self._sources:
                    source = PopSource(self._all, topic, broker_name, subscription)
                    self._session.spawn(source.run(), f"pops of {topic} on {broker_name}")
                    self._sources[place] = source
        for place in self._sources.keys() - places:
            self._sources.pop(place).stop()

    async def _look_again(self) -> None:
        await asyncio.sleep(1)
        self.wake()

    def _route_changed(self, topic: str) -> None:
        if topic in self.subscriptions:
            self.wake()
