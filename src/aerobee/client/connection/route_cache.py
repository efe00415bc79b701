"""`RouteCache` keeps the routes of topics: fetched once, refreshed at an interval and after an
error.

Tasks that need a route that is being fetched wait for the same answer. A route that cannot be
refreshed stays as it was: brokers go on when name servers do not.

A first send creates its topic, and name servers learn of it a moment after it is answered: a task
that needs the route of a topic that was just sent to waits for that, and gets no TopicNotFound.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from aerobee.client.connection.name_servers import NameServers
from aerobee.client.core.routes import (
    DEFAULT_TOPIC,
    ClientRoute,
    broker_addresses,
    client_route,
    route_of_new_topic,
)
from aerobee.errors import AerobeeError, TopicNotFound
from aerobee.model.route import TopicRoute

_log = logging.getLogger(__name__)

NEW_WAITS = (0.001, 0.005, 0.02, 0.1, 0.3, 0.6, 1.0)
"""Seconds between looks for a topic that is being made."""

Changed = Callable[[str], None]
"""Told which topic's route is not what it was."""


class RouteCache:
    def __init__(self, name_servers: NameServers, new_waits: Sequence[float] = NEW_WAITS) -> None:
        self._name_servers = name_servers
        self._new_waits = new_waits
        self._routes: dict[str, ClientRoute] = {}
        # By topic, and whether it may be new: who may not is told otherwise.
        self._lookups: dict[tuple[str, bool], asyncio.Task[ClientRoute]] = {}
        # Topics that do not exist yet, with a route that only a send may use.
        self._is_new: set[str] = set()
        self._watchers: list[Changed] = []

    def find(self, topic: str) -> ClientRoute | None:
        """The cached route, if there is one; never waits."""
        return self._routes.get(topic)

    async def of(self, topic: str, *, may_be_new: bool = False) -> ClientRoute:
        """The route of a topic. `may_be_new`: for a send, which would create the topic, the default
        topic's route will do. TopicNotFound, or Unreachable if no name server answers.
        """
        route = self._routes.get(topic)
        if route is not None and (may_be_new or topic not in self._is_new):
            return route
        return await self.refresh(topic, may_be_new=may_be_new)

    async def refresh(self, topic: str, *, may_be_new: bool = False) -> ClientRoute:
        """Fetch the route now."""
        key = (topic, may_be_new)
        lookup = self._lookups.get(key)
        if lookup is None:
            lookup = asyncio.get_running_loop().create_task(self._ask(topic, may_be_new))
            self._lookups[key] = lookup
            lookup.add_done_callback(lambda asked: self._asked(key, asked))
        return await asyncio.shield(lookup)

    async def settled(self, topic: str) -> None:
        """Wait until name servers know a topic that was just sent to, but not for long."""
        if topic in self._is_new:
            with contextlib.suppress(TopicNotFound):
                await self.refresh(topic)

    async def refresh_all(self) -> None:
        """Fetch every cached route again."""
        for topic in list(self._routes):
            try:
                await self.refresh(topic, may_be_new=topic in self._is_new)
            except TopicNotFound:
                self._routes.pop(topic, None)
                self._tell(topic)
            except AerobeeError as error:
                _log.warning("the route of %s stays as it was: %s", topic, error)

    def forget(self, topic: str) -> None:
        """Drop the route of a topic that is not needed any more."""
        self._routes.pop(topic, None)
        self._is_new.discard(topic)

    def watch(self, changed: Changed) -> None:
        self._watchers.append(changed)

    def unwatch(self, changed: Changed) -> None:
        """Remove a watcher, if it is registered."""
        if changed in self._watchers:
            self._watchers.remove(changed)

    def broker_addresses(self) -> dict[str, str]:
        """Every address that a route names, with the name of its broker."""
        return broker_addresses(self._routes.values())

    def advertiser_of(self, address: str) -> str:
        """The name server that gave an address; empty if none did."""
        for route in self._routes.values():
            if address in broker_addresses([route]):
                return route.advertised_by
        return ""

    async def close(self) -> None:
        for lookup in list(self._lookups.values()):
            lookup.cancel()
        await asyncio.gather(*self._lookups.values(), return_exceptions=True)

    def _asked(self, key: tuple[str, bool], asked: "asyncio.Task[ClientRoute]") -> None:
        self._lookups.pop(key, None)
        if not asked.cancelled():
            asked.exception()  # whoever waits hears of it; nobody else needs to

    async def _ask(self, topic: str, may_be_new: bool) -> ClientRoute:
        is_new = False
        try:
            told, address = await self._told(topic, may_be_new)
            route = client_route(topic, told, advertised_by=address)
        except TopicNotFound as error:
            if not may_be_new:
                raise
            try:
                told, address = await self._name_servers.route(DEFAULT_TOPIC)
            except TopicNotFound:
                raise error from None  # nobody creates topics: the first error says it better
            route = route_of_new_topic(topic, told, advertised_by=address)
            is_new = True
        was = self._routes.get(topic)
        self._routes[topic] = route
        (self._is_new.add if is_new else self._is_new.discard)(topic)
        if was != route:
            self._tell(topic)
        return route

    async def _told(self, topic: str, may_be_new: bool) -> tuple[TopicRoute, str]:
        for wait_seconds in self._new_waits:
            try:
                return await self._name_servers.route(topic)
            except TopicNotFound:
                if may_be_new or topic not in self._is_new:
                    raise
            await asyncio.sleep(wait_seconds)
        return await self._name_servers.route(topic)

    def _tell(self, topic: str) -> None:
        for changed in tuple(self._watchers):
            changed(topic)
