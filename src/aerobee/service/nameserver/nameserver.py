"""NameServer dispatches requests to handlers, removes brokers that fell silent, and tells the
brokers of a name when the smallest id among them has changed.

Every request gets an answer. Name servers do not know each other: brokers register with every one,
clients ask any. Users and addresses are held to limits; what brokers tell of themselves is not.

Imports more than 15 modules because it puts the others together.
"""

import logging
from typing import TypeAlias

from aerobee.ports.audit import AuditSink
from aerobee.ports.clock import Now
from aerobee.ports.disk_worker import DiskWorker
from aerobee.ports.service import ChannelId, CloseChannel, Effects, Peer
from aerobee.protocol.remoting.remoting_command import RemotingCommand
from aerobee.protocol.request_codes import RequestCode, request_name
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.config import OPEN, AccessConfig
from aerobee.service.access.guarded_watch import GuardedWatch
from aerobee.service.access.own_requests import sign_dials
from aerobee.service.access.request_limits import RequestLimits
from aerobee.service.live_config import LiveConfig
from aerobee.service.nameserver.config import NameServerConfig
from aerobee.service.nameserver.handlers import (
    BrokerHandlers,
    ConfigHandlers,
    KeyValueHandlers,
    RouteHandlers,
)
from aerobee.service.nameserver.key_values import KeyValues
from aerobee.service.nameserver.min_id_notices import min_id_notices
from aerobee.service.nameserver.nameserver_watch import NameServerWatch
from aerobee.service.nameserver.route_table import RouteTable
from aerobee.service.nameserver.told_access import ToldAccess
from aerobee.service.request import Answer, Handler, Request, answer_with, excess_remark

_log = logging.getLogger(__name__)

HandlerTable: TypeAlias = dict[int, Handler]
_OF_BROKERS = frozenset(
    {
        RequestCode.REGISTER_BROKER,
        RequestCode.UNREGISTER_BROKER,
        RequestCode.QUERY_DATA_VERSION,
        RequestCode.BROKER_HEARTBEAT,
        RequestCode.GET_BROKER_MEMBER_GROUP,
        RequestCode.TELL_ACCESS,
    }
)
"""Requests without which a broker is removed from routes: never beyond a limit."""


class NameServer:
    """A `ports.service.Service`."""

    def __init__(
        self,
        config: LiveConfig[NameServerConfig],
        key_values: KeyValues,
        worker: DiskWorker,
        started: Now,
        access: AccessConfig = OPEN,
        audit: AuditSink | None = None,
    ) -> None:
        """`audit` takes what the audit trail has; None: there is none."""
        self._config = config
        self._worker = worker
        self._routes = RouteTable()
        self._scanned_ms = started.monotonic_ms
        self._peers: dict[ChannelId, Peer] = {}
        self._limits = RequestLimits(config.current.limits, self._peers, None)
        config.when_changed(lambda before, after: self._limits.set(after.limits))
        self._watch = NameServerWatch(self._routes, config, started, self._limits.metrics)
        self._outbox: Effects = []
        self._handlers: HandlerTable = {
            **BrokerHandlers(self._routes, key_values, config).table(),
            **RouteHandlers(self._routes, key_values, config, started).table(),
            **KeyValueHandlers(key_values).table(),
            **ConfigHandlers(config).table(),
        }
        self._inner = access.inner
        told = ToldAccess(access, audit)
        self._gate, self._audit = told.gate, told.audit
        self._handlers[RequestCode.TELL_ACCESS] = told.tell
        self.watch = GuardedWatch(self._watch, self._gate)

    @property
    def is_guarded(self) -> bool:
        """Whether peers are asked who they are (`ports.service.GuardedService`)."""
        return not self._gate.is_open

    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
        self._peers[channel] = Peer(peer.host.partition("%")[0], peer.port)
        if self._limits.opened(self._peers[channel].host):
            return []
        _log.warning("too many connections from one address: one is closed", extra={"peer": peer})
        return [CloseChannel(channel, "too many connections from its address")]

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        if not command.is_response:  # its own requests are one-way, so it expects no responses
            request = Request(channel, command, now, self._outbox)
            answer_with(self._handled, request)
        return self._sent()

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        return []

    def on_tick(self, now: Now) -> Effects:
        self._watch.on_tick(now)
        self._worker.collect()
        if now.monotonic_ms - self._scanned_ms >= self._config.current.scan_interval_ms:
            self._scanned_ms = now.monotonic_ms
            addresses, channels = self._routes.drop_silent(now)
            for address in addresses:
                _log.warning("a broker fell silent and is removed", extra={"address": address})
            self._outbox += (
                CloseChannel(channel, "the broker on it fell silent") for channel in channels
            )
        return self._sent()

    def rest_ms(self, now: Now) -> int:
        """The time until brokers are scanned again; finished disk jobs wake the service at once."""
        return max(0, self._scanned_ms + self._config.current.scan_interval_ms - now.monotonic_ms)

    def on_closed(self, channel: ChannelId, now: Now) -> Effects:
        peer = self._peers.pop(channel, None)
        if peer is not None:
            self._limits.closed(peer.host)
        self._limits.forget(channel)
        self._gate.forget(channel)
        for address in self._routes.drop_channel(channel):
            _log.warning("a broker's connection closed: it is removed", extra={"address": address})
        return self._sent()

    def _handled(self, request: Request) -> Answer | None:
        code, peer = request.command.code, self._peers.get(request.channel)
        request.host = "" if peer is None else peer.host
        refusal = self._gate.refuse(request, request.host)
        if refusal is not None:
            return self._limits.refuse(request, is_send=False) or refusal
        if code not in _OF_BROKERS:
            refusal = self._limits.refuse(request, is_send=False)
            if refusal is not None:
                return refusal
        if self._audit is not None:
            self._audit.passed(request, request.host)
        handler = self._handlers.get(code)
        if handler is None:
            return Answer(
                ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
                f"a name server does not serve {request_name(code)}",
            )
        if request.command.excess:
            return Answer(ResponseCode.INVALID_PARAMETER, excess_remark(request.command.excess))
        return handler(request)

    def _sent(self) -> Effects:
        """Take all effects so far, with answers that waited for the disk and news for brokers."""
        for change in self._routes.take_min_changes():
            if self._config.current.notifies_min_ids:
                self._outbox += min_id_notices(change)
        effects, self._outbox[:] = list(self._outbox), []
        if self._inner is not None:
            sign_dials(effects, self._inner)
        return effects
