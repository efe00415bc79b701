"""Registrations: the clients of the gateway as brokers know them, as one client.

Brokers take a connection for one client. So the process beats for all of its own under its own
name: as a producer of each of their topics, which is how checks of transactions find it, and as a
member of each of their groups, with the subscriptions of all members together. A broker hears it
soon after a change, and every 10 seconds, for its connection may be new; a group that the last
client has left is unregistered.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from aerobee.model.subscription import Subscription
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, Heartbeat, encode_heartbeat
from aerobee.protocol.headers.clients import UnregisterHeader
from aerobee.protocol.remoting.declared_header import write_header
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.gateway.broker_requests import BrokerRequests
from aerobee.service.gateway.known_brokers import KnownBrokers
from aerobee.service.request import Answer, InnerRequest

_log = logging.getLogger(__name__)

BEAT_MS = 10_000
SOON_MS = 100
"""A change is told after this time, with all that follow it."""
GROUPS_OF_BEAT_MAX = 200
"""Producer groups, and consumer groups, in one request: a heartbeat has a limit of its bytes."""
_SERVICE = ChannelId(0)

FindCluster = Callable[[Now, Callable[[Sequence[str]], None]], None]
"""Calls back with the addresses of the cluster's brokers, when they are known."""


class Registrations:
    """R1. `_producers` and `_members` have the channels of the clients in `_clients`, by topic and
    by group; neither has an entry without a channel."""

    def __init__(
        self,
        client_id: str,
        brokers: KnownBrokers,
        requests: BrokerRequests,
        find_cluster: FindCluster,
    ) -> None:
        self._client_id = client_id
        self._brokers = brokers
        self._requests = requests
        self._find_cluster = find_cluster
        self._clients: dict[ChannelId, Heartbeat] = {}
        self._producers: dict[str, dict[ChannelId, None]] = {}
        self._members: dict[str, dict[ChannelId, ConsumerBeat]] = {}
        self._due_ms: int | None = None
        self._left: list[UnregisterHeader] = []

    def put(self, channel: ChannelId, heartbeat: Heartbeat, now: Now) -> None:
        """A client says what it produces and consumes."""
        before = self._clients.get(channel)
        self._clients[channel] = heartbeat
        if before is not None and _content(before) == _content(heartbeat):
            return
        self._take_out(channel, before)
        for topic in heartbeat.producers:
            self._producers.setdefault(topic, {})[channel] = None
        for beat in heartbeat.consumers:
            self._members.setdefault(beat.group, {})[channel] = beat
        soon_ms = now.monotonic_ms + SOON_MS
        self._due_ms = soon_ms if self._due_ms is None else min(self._due_ms, soon_ms)

    def drop(self, channel: ChannelId) -> None:
        """A client is gone."""
        self._take_out(channel, self._clients.pop(channel, None))

    def producers_of(self, topic: str) -> list[ChannelId]:
        """The clients that send to a topic, the one first that was asked longest ago."""
        return list(self._producers.get(topic, ()))

    def members_of(self, group: str) -> list[ChannelId]:
        """The clients that are members of a group."""
        return list(self._members.get(group, ()))

    def asked(self, topic: str, channel: ChannelId) -> None:
        """A producer was asked about a transaction: the others come first next time."""
        producers = self._producers[topic]
        del producers[channel]
        producers[channel] = None

    # Time.

    def on_tick(self, now: Now) -> None:
        """Tell brokers what is due."""
        if self._due_ms is not None and now.monotonic_ms >= self._due_ms:
            is_needed = bool(self._clients)
            self._due_ms = now.monotonic_ms + BEAT_MS if is_needed else None
            self._find_cluster(now, lambda addresses: self._beat(now))
        self._tell_left(now)

    def rest_ms(self, now: Now) -> int | None:
        """The time until something is due; None: nothing is."""
        if self._left:
            return 0
        return None if self._due_ms is None else max(0, self._due_ms - now.monotonic_ms)

    def leave(self, now: Now) -> None:
        """The process ends: no client is here any more."""
        for channel in list(self._clients):
            self.drop(channel)
        self._tell_left(now)

    def _beat(self, now: Now) -> None:
        for heartbeat in self._heartbeats():
            body = encode_heartbeat(heartbeat)
            for address in self._brokers.addresses():
                self._send(address, RemotingCommand(RequestCode.HEART_BEAT, body=body), now)

    def _heartbeats(self) -> Iterator[Heartbeat]:
        topics, groups = sorted(self._producers), sorted(self._members)
        for start in range(0, max(len(topics), len(groups)), GROUPS_OF_BEAT_MAX):
            end = start + GROUPS_OF_BEAT_MAX
            beats = (_merged(self._members[group].values()) for group in groups[start:end])
            yield Heartbeat(self._client_id, tuple(topics[start:end]), tuple(beats))

    def _tell_left(self, now: Now) -> None:
        left, self._left = self._left, []
        for header in left:
            is_back = header.producer_group in self._producers or (
                header.consumer_group in self._members
            )
            for address in () if is_back else self._brokers.addresses():
                fields = write_header(header)
                command = RemotingCommand(RequestCode.UNREGISTER_CLIENT, ext_fields=fields)
                self._send(address, command, now)

    def _send(self, address: str, command: RemotingCommand, now: Now) -> None:
        def answered(answer: Answer) -> None:
            if answer.code is not ResponseCode.SUCCESS:
                _log.warning(
                    "a broker does not know the clients here: %s",
                    answer.remark,
                    extra={"address": address},
                )

        self._requests.send(address, InnerRequest(_SERVICE, command, now, answered))

    def _take_out(self, channel: ChannelId, heartbeat: Heartbeat | None) -> None:
        for topic in () if heartbeat is None else heartbeat.producers:
            if _emptied(self._producers, topic, channel):
                self._left.append(UnregisterHeader(self._client_id, producer_group=topic))
        for beat in () if heartbeat is None else heartbeat.consumers:
            if _emptied(self._members, beat.group, channel):
                self._left.append(UnregisterHeader(self._client_id, consumer_group=beat.group))


def _emptied(
    table: dict[str, dict[ChannelId, ConsumerBeat]] | dict[str, dict[ChannelId, None]],
    name: str,
    channel: ChannelId,
) -> bool:
    """Take a channel out of an entry; whether it was the last."""
    entry = table.get(name, {})
    entry.pop(channel, None)
    if name in table and not entry:
        del table[name]
        return True
    return False


def _content(heartbeat: Heartbeat) -> object:
    """What a heartbeat says, apart from the time of its subscriptions."""
    return (
        heartbeat.producers,
        [
            replace(
                beat, subscriptions=tuple(replace(one, version=0) for one in beat.subscriptions)
            )
            for beat in heartbeat.consumers
        ],
    )


def _merged(beats: Iterable[ConsumerBeat]) -> ConsumerBeat:
    """The beat of a group with several members: of two subscriptions to a topic the later one."""
    members = list(beats)
    subscriptions: dict[str, Subscription] = {}
    for beat in members:
        for one in beat.subscriptions:
            before = subscriptions.get(one.topic)
            if before is None or before.version <= one.version:
                subscriptions[one.topic] = one
    return replace(members[-1], subscriptions=tuple(subscriptions.values()))
