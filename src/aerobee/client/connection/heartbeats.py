"""`Heartbeats` tells every broker which groups produce and consume through this client.

A heartbeat goes to each broker that a route names, at an interval and whenever a group joins or a
route changes; brokers drop clients without a heartbeat for two minutes. The loop is a task of its
own: a handler of an application delays it only by blocking the whole event loop.
"""

import asyncio
import logging
from collections import Counter

from aerobee.client.connection.connections import Connections
from aerobee.client.connection.route_cache import RouteCache
from aerobee.errors import AerobeeError
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.headers.clients import UnregisterHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import error_for

_log = logging.getLogger(__name__)


class Heartbeats:
    def __init__(
        self, client_id: str, connections: Connections, routes: RouteCache, timeout: float
    ) -> None:
        self.client_id = client_id
        self._connections = connections
        self._routes = routes
        self._timeout = timeout
        self._producers: Counter[str] = Counter()
        self._consumers: dict[str, ConsumerBeat] = {}
        # Brokers that have heard of us: those that are to hear when we leave.
        self._told: set[str] = set()

    async def produce(self, group: str) -> None:
        """Register a producer of this group, so that brokers can check its transactions."""
        self._producers[group] += 1
        await self.beat()

    async def consume(self, beat: ConsumerBeat) -> None:
        """Register a consumer of this group, or its changed subscriptions."""
        self._consumers[beat.group] = beat
        await self.beat()

    def is_consuming(self, group: str) -> bool:
        return group in self._consumers

    async def stop_producing(self, group: str) -> None:
        self._producers[group] -= 1
        if self._producers[group] <= 0:
            del self._producers[group]
            await self._unregister(UnregisterHeader(self.client_id, producer_group=group))

    async def stop_consuming(self, group: str) -> None:
        if self._consumers.pop(group, None) is not None:
            await self._unregister(UnregisterHeader(self.client_id, consumer_group=group))

    async def beat(self) -> None:
        """Send a heartbeat to every known broker. One that does not answer gets the next one."""
        if not self._producers and not self._consumers:
            return
        body = encode_heartbeat(
            Heartbeat(
                self.client_id,
                producers=tuple(self._producers),
                consumers=tuple(self._consumers.values()),
            )
        )
        addresses = self._routes.broker_addresses()
        self._told &= addresses.keys()
        await asyncio.gather(*(self._beat_one(address, body) for address in addresses))

    async def leave(self) -> None:
        """Unregister every group."""
        for group in list(self._consumers):
            await self.stop_consuming(group)
        for group in list(self._producers):
            self._producers[group] = 1
            await self.stop_producing(group)

    async def _beat_one(self, address: str, body: bytes) -> None:
        command = RemotingCommand(RequestCode.HEART_BEAT, body=body)
        try:
            answer = await self._connections.ask(address, command, self._timeout)
        except AerobeeError as error:
            _log.warning("no heartbeat to %s: %s", address, error)
            return
        error_said = error_for(answer.code, answer.remark)
        if error_said is not None:
            _log.warning("%s refuses our heartbeat: %s", address, error_said)
        else:
            self._told.add(address)

    async def _unregister(self, header: UnregisterHeader) -> None:
        fields = write_header(header)

        async def tell(address: str) -> None:
            command = RemotingCommand(RequestCode.UNREGISTER_CLIENT, ext_fields=dict(fields))
            try:
                await self._connections.ask(address, command, self._timeout)
            except AerobeeError as error:
                _log.info("%s was not told that we leave: %s", address, error)

        await asyncio.gather(*map(tell, self._told))
