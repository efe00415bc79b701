"""Callers of a proxy process: who they are, what they may do, and how much of it.

A broker sees the process's own user in every request, and one address. So users, rules and limits
are looked at here, by the same gate and the same counts as in a broker. What a broker would look up
in its log, the topic of a message at an offset, is told to the gate by who asks it.
"""

from typing import NamedTuple

from aerobee.ports.audit import AuditSink
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.grpc.codes import GrpcCode
from aerobee.protocol.headers.popping import PopHeader
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.access.audit import Audit
from aerobee.service.access.config import OPEN, AccessConfig
from aerobee.service.access.gate import Gate, Realm
from aerobee.service.access.request_limits import (
    NO_CONSUMER,
    NO_LIMITS,
    Consumer,
    LimitConfig,
    RequestLimits,
)
from aerobee.service.gateway.caller_users import CallerUsers
from aerobee.service.proxy.call_checks import check_caller, check_rights
from aerobee.service.proxy.desk import Asker, Caller
from aerobee.service.proxy.outcomes import CallRefused
from aerobee.service.request import Answer, InnerRequest, Request

FLOWS_MAX = 50_000
"""Groups and topics whose bytes are counted; beyond, all begin anew."""
_CODE = RequestCode
_SENDS = frozenset(
    {
        _CODE.SEND_MESSAGE_V2,
        _CODE.RECALL_MESSAGE,
        _CODE.END_TRANSACTION,
        _CODE.CONSUMER_SEND_MSG_BACK,
    }
)
# Whoever lost them would do more work, not less.
_FREE = frozenset({_CODE.ACK_MESSAGE, _CODE.CHANGE_MESSAGE_INVISIBLETIME})


class _Flow:
    """What a group got of a topic (`service.access.group_limits.HandedOut`)."""

    __slots__ = ("bytes", "fast_answers")

    def __init__(self) -> None:
        self.bytes = 0
        self.fast_answers = 0


class GuardConfig(NamedTuple):
    """What is asked of callers."""

    access: AccessConfig = OPEN
    limits: LimitConfig = NO_LIMITS
    audit: AuditSink | None = None
    """Takes what the audit trail has; None: there is none."""


NO_GUARD = GuardConfig()


class Callers:
    def __init__(self, config: GuardConfig, cluster: str, users: CallerUsers) -> None:
        self.users = users
        self._topic: str | None = None
        self._flows: dict[tuple[str, str], _Flow] = {}
        self._peers: dict[ChannelId, Peer] = {}
        audit = None if config.audit is None else Audit(config.audit, "proxy", cluster)
        realms = [Realm(cluster, users.accounts)]
        self.gate = Gate(config.access, lambda: realms, lambda offset: self._topic, audit)
        self.limits = RequestLimits(
            config.limits, self._peers, None, lambda group, topic: self._flows.get((group, topic))
        )

    def opened(self, channel: ChannelId, peer: Peer) -> None:
        self._peers[channel] = peer

    def closed(self, channel: ChannelId) -> None:
        self.gate.forget(channel)
        self.limits.forget(channel)
        self._peers.pop(channel, None)

    def asks(self, asker: Asker) -> bool:
        """Whether it matters who asks."""
        return asker.caller is not None and not self.gate.is_open

    def admit(self, caller: Caller, code: RequestCode, now: Now) -> None:
        """CallRefused: nobody signed this call rightly. Until users are known, calls wait for them,
        and what they ask for is checked then."""
        if self.users.is_known:
            check_caller(self.gate, self.limits, caller, code, now)

    def check(self, request: InnerRequest, asker: Asker, topic: str | None = None) -> None:
        """CallRefused: who asks may not have a request served. `topic` is that of the message at
        the log offset that the request names, None if there is none."""
        if asker.caller is not None and not self.gate.is_open:
            self.users.check_known()
            self._topic = topic
            check_rights(self.gate, self.limits, request, asker.caller)

    def count(self, request: InnerRequest, asker: Asker, header: object) -> None:
        """CallRefused: a request is beyond a limit of its user, address or group."""
        code = request.command.code
        if asker.caller is None or code in _FREE:
            return
        request.host = asker.caller.host
        consumer = NO_CONSUMER
        if isinstance(header, PopHeader):
            consumer = Consumer(header.consumer_group, (header.topic,))
        refusal = self.limits.refuse(request, consumer, is_send=code in _SENDS)
        if refusal is not None:
            raise CallRefused(GrpcCode.TOO_MANY_REQUESTS, refusal.remark)

    def handed(self, request: Request, asker: Asker, header: PopHeader, answer: Answer) -> Answer:
        """The answer to a caller that waited for messages: a refusal, if it may not have them any
        more."""
        group, topic = header.consumer_group, header.topic
        if asker.caller is not None:
            refusal = self.gate.refuse_consumer(request, asker.caller.host, topic, group)
            if refusal is not None:
                return refusal
        if self.limits.has_rates:
            if len(self._flows) >= FLOWS_MAX:
                self._flows.clear()
            self._flows.setdefault((group, topic), _Flow()).bytes += len(answer.body)
        return answer
