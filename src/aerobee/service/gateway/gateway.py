"""Gateway is the proxy process as a service: calls of gRPC come in, requests to brokers go out.

It accepts no remoting connection. What a broker asks on a connection that was opened from here is a
check of a transaction, which goes to a producer of its topic, or a question of an administrator to
the one consumer that brokers see here, which goes to a member of the group.
"""

from collections.abc import Sequence

from aerobee.ports.clock import Now
from aerobee.ports.rpc import RpcService
from aerobee.ports.service import AnswerAsked, ChannelId, CloseChannel, Effects, Peer, Reply
from aerobee.protocol.remoting.remoting_command import RemotingCommand, reply_to
from aerobee.protocol.request_codes import RequestCode
from aerobee.protocol.response_codes import ResponseCode
from aerobee.service.access.guarded_watch import GuardedWatch
from aerobee.service.access.own_requests import sign_dials
from aerobee.service.gateway.callers import NO_GUARD, GuardConfig
from aerobee.service.gateway.config import GatewayConfig
from aerobee.service.gateway.gateway_assembly import GatewayIdentity, GatewayParts
from aerobee.service.gateway.gateway_watch import GatewayWatch
from aerobee.service.proxy.transaction_calls import checked_topic

REST_MS_MAX = 1_000
_FOR_MEMBERS = (RequestCode.GET_CONSUMER_RUNNING_INFO, RequestCode.CONSUME_MESSAGE_DIRECTLY)


class Gateway:
    """A `ports.rpc.CalledService`."""

    def __init__(
        self,
        identity: GatewayIdentity,
        config: GatewayConfig,
        nameservers: Sequence[str],
        started: Now,
        guard: GuardConfig = NO_GUARD,
    ) -> None:
        """`guard` is about callers, and names the user as whom brokers are asked."""
        self._outbox: Effects = []
        self._inner = guard.access.inner
        parts = GatewayParts(identity, config, nameservers, guard, self._outbox)
        self._users = parts.users
        self._brokers, self._requests, self._routes = parts.brokers, parts.requests, parts.routes
        self._configurations, self._registrations = parts.configurations, parts.registrations
        messaging = self._messaging = parts.messaging
        self._door = parts.door
        self._door.lead_to(self._sent)
        counts = (messaging.clients.__len__, messaging.__len__)
        providers = (parts.callers.limits.metrics,)
        self._watch = GatewayWatch(self._requests, self._routes, *counts, started, providers)
        self.watch = GuardedWatch(self._watch, parts.callers.gate)

    @property
    def rpc(self) -> RpcService:
        return self._door

    # Brokers.

    def on_answer(self, ticket: object, answer: RemotingCommand | None, now: Now) -> Effects:
        self._configurations.at(now)
        self._messaging.on_tick(now)
        self._routes.on_answer(ticket, answer, now)
        self._requests.on_answer(ticket, answer)
        return self._sent()

    def on_asked(self, address: str, command: RemotingCommand, now: Now) -> Effects:
        """A broker asks on a connection that was opened from here (`ports.service.AskedService`):
        a check of a transaction goes to the first producer of its topic that can be told."""
        if command.code in _FOR_MEMBERS:
            self._ask_member(address, command, now)
            return self._sent()
        topic = checked_topic(command)
        for channel in [] if topic is None else self._registrations.producers_of(topic):
            if self._messaging.tell(Reply(channel, command), self._brokers.name_at(address)):
                self._registrations.asked(topic or "", channel)
                break
        if not command.is_oneway:
            code, remark = ResponseCode.REQUEST_CODE_NOT_SUPPORTED, "a proxy is not asked this"
            self._outbox.append(AnswerAsked(address, reply_to(command, code, remark=remark)))
        return self._sent()

    def _ask_member(self, address: str, command: RemotingCommand, now: Now) -> None:
        """Pass a question on to the first member of its group that can be told."""

        def told(answer: RemotingCommand) -> None:
            self._outbox.append(AnswerAsked(address, answer))

        members = self._registrations.members_of(command.ext_fields.get("consumerGroup", ""))
        ready = [one for one in members if self._messaging.can_be_told(one)] or members
        if ready:
            self._messaging.ask(Reply(ready[0], command), now, told)
            return
        remark = "the proxy has no member of the group"
        told(reply_to(command, ResponseCode.SYSTEM_BUSY, remark=remark))

    # Time.

    def on_tick(self, now: Now) -> Effects:
        self._configurations.at(now)
        self._watch.on_tick(now)
        self._users.on_tick(now)
        self._messaging.on_tick(now)
        self._registrations.on_tick(now)
        return self._sent()

    def rest_ms(self, now: Now) -> int:
        dues_ms = (self._registrations.rest_ms(now), self._users.rest_ms(now))
        rests_ms = (REST_MS_MAX if due_ms is None else due_ms for due_ms in dues_ms)
        return min(self._messaging.rest_ms(now), REST_MS_MAX, *rests_ms)

    def stop(self, now: Now) -> Effects:
        self._messaging.stop(now)
        self._registrations.leave(now)
        return self._sent()

    # Remoting connections: there are none.

    def on_open(self, channel: ChannelId, peer: Peer, now: Now) -> Effects:
        return [CloseChannel(channel, "a proxy serves calls of gRPC only")]

    def on_command(self, channel: ChannelId, command: RemotingCommand, now: Now) -> Effects:
        return []

    def on_closed(self, channel: ChannelId, now: Now) -> Effects:
        return []

    def _sent(self) -> Effects:
        """Take all effects so far."""
        effects, self._outbox[:] = list(self._outbox), []
        if self._inner is not None:
            sign_dials(effects, self._inner)
        return effects
