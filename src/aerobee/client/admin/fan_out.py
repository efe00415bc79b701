"""`FanOut` sends an administration request to one or several servers and joins the answers.

    on=None                      every master
    on="broker-a"                by broker name
    on="DefaultCluster"          by cluster name
    on="10.0.0.1:10911"          by address, whether or not a name server knows it
    on=("broker-a", "broker-b")  several of these

A1. A request to several servers is sent to all of them at once. One failure does not hold up the
    others: PartlyDone has the answers and the errors by server. With one server, its error is
    raised.
A2. Names of topics and groups are those on the wire: a namespace of the client is not added.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeAlias, TypeVar

from aerobee.client.connection.remote_call import checked, command_of
from aerobee.client.connection.session import Session
from aerobee.client.core.routes import client_route
from aerobee.errors import AerobeeError, Misuse, NotFound, PartlyDone
from aerobee.model.message_queue import MessageQueue
from aerobee.model.queue_mapping import is_logical_broker
from aerobee.model.route import MASTER_ID, BrokerData, ClusterInfo, TopicRoute
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode

T = TypeVar("T")

Where: TypeAlias = str | Iterable[str] | None
Addresses: TypeAlias = Mapping[str, str]
"""By the name of a broker, or by its address where only that was said."""


class FanOut:
    def __init__(self, session: Session) -> None:
        self._session = session

    def now_ms(self) -> int:
        return self._session.clock.now().wall_ms

    # One server.

    async def broker(
        self, address: str, code: RequestCode, header: object = None, body: bytes = b""
    ) -> RemotingCommand:
        """The answer of one broker; a refusal is raised."""
        return await self.command(address, command_of(code, header, body))

    async def command(self, address: str, command: RemotingCommand) -> RemotingCommand:
        """The same, for a command that is already built."""
        return checked(await self._session.ask(address, command))

    async def name_server(
        self, code: RequestCode, fields: Mapping[str, str] | None = None
    ) -> RemotingCommand:
        """The answer of any name server: all know the same."""
        self._session.check()
        command = command_of(code, fields)
        answer, _ = await self._session.name_servers.ask(command)
        return checked(answer)

    # All that are meant.

    async def name_servers(
        self, code: RequestCode, fields: Mapping[str, str] | None = None, body: bytes = b""
    ) -> dict[str, RemotingCommand]:
        """The answers of all name servers, by address: they tell each other nothing."""

        async def ask(address: str) -> RemotingCommand:
            command = command_of(code, fields, body)
            return checked(await self._session.ask(address, command))

        addresses = self._session.name_servers.addresses
        return await self.each({address: address for address in addresses}, ask)

    async def masters(self, on: Where = None) -> Addresses:
        """The addresses of the masters that `on` names, by broker name."""
        wanted = _names(on)
        if wanted and all(_is_address(one) for one in wanted):
            return {one: one for one in wanted}  # whether or not a name server is there
        return masters_in(await self.cluster(), wanted)

    async def masters_of(self, topic: str, on: Where = None) -> Addresses:
        """The masters with queues of a topic, of those that `on` names; else TopicNotFound."""
        wanted = _names(on)
        if wanted and all(_is_address(one) for one in wanted):
            return {one: one for one in wanted}
        route = await self.route(topic)
        with_queues = {queue.broker_name for queue in route.queues}
        brokers = tuple(broker for broker in route.brokers if broker.name in with_queues)
        return masters_in(ClusterInfo(brokers), wanted)

    async def master(self, name: str) -> str:
        """The address of one broker, by its name or address."""
        return next(iter((await self.masters(name)).values()))

    async def master_of(self, queue: MessageQueue) -> str:
        """The address of the broker of a queue, also of a logical one."""
        if not is_logical_broker(queue.broker_name):
            return await self.master(queue.broker_name)
        route = client_route(queue.topic, await self.route(queue.topic))
        address = route.master_of(queue)
        if address is None:
            raise NotFound(f"no broker has {queue} now")
        return address

    async def each(self, addresses: Addresses, ask: Callable[[str], Awaitable[T]]) -> dict[str, T]:
        """Call `ask` for all addresses at once; returns results by name or raises PartlyDone."""
        said = await asyncio.gather(*(_outcome(ask, address) for address in addresses.values()))
        done: dict[str, T] = {}
        failed: dict[str, AerobeeError] = {}
        for name, (answer, error) in zip(addresses, said, strict=True):
            if error is None:
                done[name] = answer  # type: ignore[assignment]
            else:
                failed[name] = error
        if not failed:
            return done
        if len(addresses) == 1:
            raise next(iter(failed.values()))
        raise PartlyDone(done=done, failed=failed)

    async def on_masters(
        self, on: Where, code: RequestCode, header: object = None, body: bytes = b""
    ) -> dict[str, RemotingCommand]:
        """Send the same request to every master that `on` names."""
        addresses = await self.masters(on)
        return await self.each(addresses, lambda address: self.broker(address, code, header, body))

    async def on_masters_of(
        self, topic: str, on: Where, code: RequestCode, header: object = None
    ) -> dict[str, RemotingCommand]:
        """Send the same request to every master that has a topic."""
        addresses = await self.masters_of(topic, on)
        return await self.each(addresses, lambda address: self.broker(address, code, header))

    # What name servers know.

    def name_server_addresses(self) -> tuple[str, ...]:
        return tuple(self._session.name_servers.addresses)

    async def cluster(self) -> ClusterInfo:
        self._session.check()
        return await self._session.name_servers.cluster()

    async def route(self, topic: str) -> TopicRoute:
        self._session.check()
        await self._session.routes.settled(topic)
        route, _ = await self._session.name_servers.route(topic)
        return route


def masters_in(info: ClusterInfo, wanted: tuple[str, ...]) -> Addresses:
    """The masters of a cluster that `on` names; NotFound names one that is not there."""
    known = {broker.name: broker for broker in info.brokers}
    clusters = info.names_by_cluster()
    chosen: dict[str, str] = {}
    for one in wanted:
        if one in known:
            chosen[one] = _master(known[one])
        elif one in clusters:
            chosen.update({name: _master(known[name]) for name in clusters[one]})
        elif _is_address(one):
            chosen[one] = one
        else:
            there = ", ".join(sorted({*known, *clusters})) or "none"
            raise NotFound(f"there is no broker or cluster {one!r}", hint=f"there are: {there}")
    if not wanted:
        chosen = {name: _master(broker) for name, broker in known.items()}
    if not any(chosen.values()):
        raise Misuse("no broker is registered", hint="is one running, and told where to register?")
    return {name: address for name, address in chosen.items() if address}


def _master(broker: BrokerData) -> str:
    """The address of a broker's master; empty while there is none: its slaves cannot be changed."""
    return broker.addresses.get(MASTER_ID, "")


def _names(on: Where) -> tuple[str, ...]:
    if on is None:
        return ()
    return (on,) if isinstance(on, str) else tuple(on)


def _is_address(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host and colon and port.isdigit())


async def _outcome(
    ask: Callable[[str], Awaitable[T]], address: str
) -> tuple[T | None, AerobeeError | None]:
    try:
        return await ask(address), None
    except AerobeeError as error:
        return None, error
