"""RequestLimits holds users, addresses and consumer groups to their limits: requests and bytes in a
second, and connections.

A limit of 0 is none, and nothing is counted for it. A request beyond a limit is refused, with the
time to wait: a send with SYSTEM_BUSY, which producers try again elsewhere, others with
FLOW_CONTROL. Heartbeats, offsets and locks are never refused: a client that lost them would do more
work, not less.

What the gate has refused counts like other requests, whatever it was: for its address, and for its
user, if the signature was right. So nobody is served better because nothing of it is allowed, and a
stranger takes nothing from the user whose name it claims.

Requests of the general path are counted one by one. What the fast paths take of one read is counted
when they are done with it: whoever is beyond a limit then is in debt, and has to wait for longer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from aerobee.model.metric import Metric, Sample, counter
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.response_codes import RETRY_AFTER, ResponseCode
from aerobee.service.access.fast_gate import FastGate
from aerobee.service.access.group_limits import FindFlow, GroupLimits, no_flow
from aerobee.service.access.token_bucket import Rate
from aerobee.service.request import Answer, Request

_CONNECTION_WAIT_MS = 1_000


@dataclass(frozen=True, slots=True)
class LimitConfig:
    """0: no limit."""

    user_requests: int = 0
    user_bytes: int = 0
    user_connections: int = 0
    address_requests: int = 0
    address_bytes: int = 0
    address_connections: int = 0
    group_requests: int = 0
    group_bytes: int = 0

    @property
    def has_rates(self) -> bool:
        return any(
            (
                *(self.user_requests, self.user_bytes),
                *(self.address_requests, self.address_bytes),
                *(self.group_requests, self.group_bytes),
            )
        )


NO_LIMITS = LimitConfig()


class WaitingLimits(NamedTuple):
    """Pulls that wait for messages, and as many pops. 0: no limit."""

    group: int = 0
    user: int = 0
    address: int = 0


class Consumer(NamedTuple):
    """The consumer group of a request, and the topics that it may get messages of."""

    group: str = ""
    """Empty: the request is of no consumer."""
    topics: tuple[str, ...] = ()


NO_CONSUMER = Consumer()


class RequestLimits:
    """L1. `_hosts` counts the open connections of each address, whether it has a limit or not;
    `_users` has those on which a user has signed while users had one."""

    def __init__(
        self,
        config: LimitConfig,
        peers: Mapping[ChannelId, Peer],
        fast_gate: FastGate | None,
        find_flow: FindFlow = no_flow,
    ) -> None:
        """`fast_gate` knows whose requests the fast paths take; None: nobody is asked.
        `find_flow`: what consumer groups have got."""
        self._groups = GroupLimits(find_flow)
        self._peers = peers
        self._fast_gate = fast_gate
        self._requests, self._bytes = (Rate(), Rate()), (Rate(), Rate())
        self._hosts: dict[str, int] = {}
        self._users: dict[str, set[ChannelId]] = {}
        self.refused = 0
        """Requests and connections beyond a limit, since the start."""
        self.has_rates = False
        """Whether anything is to be counted of what fast paths take."""
        self.is_on = False
        """Whether there is a limit."""
        self.set(config)

    def set(self, config: LimitConfig) -> None:
        """Other limits hold from now on."""
        self._config = config
        self.has_rates = config.has_rates
        self.is_on = config != NO_LIMITS
        self._groups.set(config.group_requests, config.group_bytes)
        # Of the user, of the address.
        for rate, per_second in zip(
            (*self._requests, *self._bytes),
            (
                *(config.user_requests, config.address_requests),
                *(config.user_bytes, config.address_bytes),
            ),
            strict=True,
        ):
            rate.set(per_second)

    # Connections.

    def opened(self, host: str) -> bool:
        """A connection from an address is open; False: the address has too many, close it. It is
        counted until `closed`, in both cases."""
        self._hosts[host] = self._hosts.get(host, 0) + 1
        most = self._config.address_connections
        if most and self._hosts[host] > most:
            self.refused += 1
            return False
        return True

    def closed(self, host: str) -> None:
        """A connection from an address is closed."""
        if self._hosts.get(host, 0) > 1:
            self._hosts[host] -= 1
        else:
            self._hosts.pop(host, None)

    def forget(self, channel: ChannelId) -> None:
        """No request comes on a channel any more."""
        self._groups.forget(channel)
        for name in [name for name, channels in self._users.items() if channel in channels]:
            self._users[name].discard(channel)
            if not self._users[name]:
                del self._users[name]

    # Requests.

    def may_be_fast(self, channel: ChannelId, now: Now) -> bool:
        """Whether fast paths may take what comes on a connection: nobody on it is beyond a rate."""
        host, now_ms = self._peers[channel].host, now.monotonic_ms
        if self._groups.is_on and not self._groups.may_be_fast(channel, now_ms):
            return False
        names = self._fast_gate.names(channel) if self._fast_gate is not None else []
        return not any(self._wait_ms(name, host, now_ms) for name in names or [""])

    def took(self, channel: ChannelId, count: int, size: int, now: Now) -> None:
        """Fast paths have taken so many requests and bytes of one read. They count for the user of
        the last one: a connection of several users is one client's all the same."""
        if count:
            name = self._fast_gate.last_name() if self._fast_gate is not None else ""
            self._take(name, self._peers[channel].host, count, size, now.monotonic_ms)

    def refuse(
        self, request: Request, consumer: Consumer = NO_CONSUMER, *, is_send: bool
    ) -> Answer | None:
        """The answer to a request beyond a limit; None: it is within, and counted."""
        if not self.is_on:
            return None
        name = "" if request.user is None else request.user.name
        host, now_ms = request.host, request.now.monotonic_ms
        wait_ms, what = self._wait_ms(name, host, now_ms), "requests or bytes in a second"
        is_counted = self._groups.is_on and bool(consumer.group)
        if is_counted and not wait_ms:
            wait_ms = self._groups.wait_ms(request.channel, *consumer, now_ms)
        if not wait_ms and self._config.user_connections and name:
            mine = self._users.setdefault(name, set())
            if request.channel not in mine and len(mine) >= self._config.user_connections:
                wait_ms, what = _CONNECTION_WAIT_MS, "connections"
            else:
                mine.add(request.channel)
        if not wait_ms:
            self._take(name, host, 1, _size(request), now_ms)
            if is_counted:
                self._groups.take(consumer.group, now_ms)
            return None
        self.refused += 1
        return Answer(
            ResponseCode.SYSTEM_BUSY if is_send else ResponseCode.FLOW_CONTROL,
            f"too many {what} of this user, address or group: try again in {wait_ms} ms",
            {RETRY_AFTER: str(wait_ms)},
        )

    def metrics(self, now: Now) -> Iterator[Metric]:
        yield counter(
            "aerobee_limited_total",
            "Requests and connections beyond a limit of their user, address or group",
            [Sample({}, self.refused)],
        )

    def _wait_ms(self, user: str, host: str, now_ms: int) -> int:
        return max(
            rate.wait_ms(name, now_ms)
            for rates in (self._requests, self._bytes)
            for rate, name in zip(rates, (user, host), strict=True)
        )

    def _take(self, user: str, host: str, requests: int, size: int, now_ms: int) -> None:
        for rates, count in ((self._requests, requests), (self._bytes, size)):
            for rate, name in zip(rates, (user, host), strict=True):
                rate.take(name, count, now_ms)


def _size(request: Request) -> int:
    fields = request.command.ext_fields
    return len(request.body) + sum(len(key) + len(text) for key, text in fields.items())
