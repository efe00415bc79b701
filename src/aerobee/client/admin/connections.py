"""`ConnectionAdmin` lists online consumers and producers of groups, and asks a consumer for its
state.

A group without members online gives an empty answer, not an error: they may be back in a second.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from aerobee.client.admin.fan_out import FanOut, Where
from aerobee.errors import AerobeeError, Misuse, RemoteAnswer
from aerobee.model.message_queue import MessageQueue
from aerobee.model.subscription import Subscription
from aerobee.protocol.bodies.connections import (
    Connection,
    ConsumerConnections,
    ConsumerManner,
    decode_client_ids,
    decode_consumer_connections,
    decode_producer_connections,
    decode_producer_table,
)
from aerobee.protocol.bodies.group_offsets import decode_consumer_status
from aerobee.protocol.bodies.running_info import RunningInfo, decode_running_info
from aerobee.protocol.headers.clients import ConsumerGroupHeader, ProducerGroupHeader
from aerobee.protocol.headers.group_status import ConsumerStatusHeader, RunningInfoHeader
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode

_NOBODY = (ResponseCode.CONSUMER_NOT_ONLINE, ResponseCode.SYSTEM_ERROR)


@dataclass(frozen=True, slots=True)
class Consumers:
    """The members of a group that are online, on all brokers together."""

    clients: tuple[Connection, ...] = ()
    manner: ConsumerManner | None = None
    """None: nobody is there."""
    subscriptions: tuple[Subscription, ...] = ()
    mismatches: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Topics that members disagree on: by expression, the clients that say it. Some of them miss
    messages. Only our brokers tell."""


class ConnectionAdmin:
    def __init__(self, fan_out: FanOut) -> None:
        self._fan_out = fan_out

    async def consumers(self, group: str, *, on: Where = None) -> Consumers:
        code, header = RequestCode.GET_CONSUMER_CONNECTION_LIST, ConsumerGroupHeader(group)
        answers = await self._told(on, code, header)
        return _together([decode_consumer_connections(bytes(one.body)) for one in answers])

    async def client_ids(self, group: str, *, on: Where = None) -> list[str]:
        """The client ids of a group's members, as the members see each other."""
        code, header = RequestCode.GET_CONSUMER_LIST_BY_GROUP, ConsumerGroupHeader(group)
        answers = await self._told(on, code, header)
        return sorted({one for said in answers for one in decode_client_ids(bytes(said.body))})

    async def producers(self, group: str, *, on: Where = None) -> list[Connection]:
        code, header = RequestCode.GET_PRODUCER_CONNECTION_LIST, ProducerGroupHeader(group)
        answers = await self._told(on, code, header)
        found = [one for said in answers for one in decode_producer_connections(bytes(said.body))]
        return _once(found)

    async def producers_of_all(self, *, on: Where = None) -> dict[str, list[Connection]]:
        """Connected producers, by group."""
        answers = await self._fan_out.on_masters(on, RequestCode.GET_ALL_PRODUCER_INFO)
        found: dict[str, list[Connection]] = {}
        for answer in answers.values():
            for group, members in decode_producer_table(bytes(answer.body)).items():
                found.setdefault(group, []).extend(members)
        return {group: _once(members) for group, members in sorted(found.items())}

    async def running_info(
        self, group: str, client_id: str, *, has_stacks: bool = False, on: Where = None
    ) -> RunningInfo:
        """The running info that one consumer reports: queues, rates, on request its stacks."""
        header = RunningInfoHeader(group, client_id, has_stacks)
        answers = await self._told(on, RequestCode.GET_CONSUMER_RUNNING_INFO, header)
        if not answers:
            raise Misuse(
                f"no consumer {client_id!r} of {group!r} answers", hint="who is there: consumers()"
            )
        return decode_running_info(bytes(answers[0].body))

    async def owners(self, group: str, *, on: Where = None) -> dict[MessageQueue, str]:
        """By queue, the member that owns it now, as the members report it. The queues of a member
        that does not answer are missing.
        """

        async def ask(client_id: str) -> tuple[str, RunningInfo | None]:
            try:
                return client_id, await self.running_info(group, client_id, on=on)
            except AerobeeError:
                return client_id, None

        told = await asyncio.gather(*map(ask, await self.client_ids(group, on=on)))
        return {
            queue: client_id
            for client_id, info in told
            if info is not None
            for queue, held in info.queues.items()
            if not held.is_dropped
        }

    async def positions(
        self, group: str, topic: str, *, client_id: str = "", on: Where = None
    ) -> dict[str, dict[MessageQueue, int]]:
        """By client, its offsets in the queues of a topic that it owns, committed or not. Of all
        members, or of one.
        """
        header = ConsumerStatusHeader(group, topic, client_id)
        code = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
        found: dict[str, dict[MessageQueue, int]] = {}
        for answer in await self._told(on, code, header):
            for client, offsets in decode_consumer_status(bytes(answer.body)).items():
                found.setdefault(client, {}).update(offsets)
        return found

    async def _told(self, on: Where, code: RequestCode, header: object) -> list[RemotingCommand]:
        """The answers of those brokers that know a member."""

        async def ask(address: str) -> RemotingCommand | None:
            try:
                return await self._fan_out.broker(address, code, header)
            except RemoteAnswer as error:
                if error.code in _NOBODY:
                    return None
                raise

        found = await self._fan_out.each(await self._fan_out.masters(on), ask)
        return [answer for answer in found.values() if answer is not None]


def _together(told: list[ConsumerConnections]) -> Consumers:
    if not told:
        return Consumers()
    mismatches: dict[str, dict[str, tuple[str, ...]]] = {}
    for one in told:
        for topic, said in one.mismatches.items():
            for text, clients in said.items():
                known = mismatches.setdefault(topic, {}).get(text, ())
                mismatches[topic][text] = tuple(sorted({*known, *clients}))
    subscriptions = {sub.topic: sub for one in told for sub in one.subscriptions}
    return Consumers(
        tuple(_once([client for one in told for client in one.connections])),
        told[0].manner,
        tuple(subscriptions[topic] for topic in sorted(subscriptions)),
        mismatches,
    )


def _once(connections: list[Connection]) -> list[Connection]:
    """Keep the first connection of each client: it is connected to every broker, and shown once."""
    return [by_id for _, by_id in sorted({one.client_id: one for one in connections}.items())]
