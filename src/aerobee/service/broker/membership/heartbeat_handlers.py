"""HEART_BEAT and UNREGISTER_CLIENT: register and unregister members of groups.

A consumer's first heartbeat makes its group, if that is allowed, and the group's retry topic:
clients look up the route of that topic only at intervals, and the first retry would wait for it. A
group that may not be made does not affect the other groups of a heartbeat.
"""

import logging
from collections.abc import Mapping

from aerobee.model.group import GroupConfig
from aerobee.model.names import retry_topic
from aerobee.model.topic import UNIT_SUBSCRIPTION, TopicConfig
from aerobee.ports.clock import Now
from aerobee.ports.service import ChannelId, Peer
from aerobee.protocol.bodies.heartbeat import ConsumerBeat, decode_heartbeat
from aerobee.protocol.headers.clients import HeartbeatAnswerHeader, UnregisterHeader
from aerobee.protocol.remoting.declared_header import NoHeader, write_header
from aerobee.protocol.request_codes import RequestCode
from aerobee.service.broker.clients.consumers import Member
from aerobee.service.broker.membership.member_lifecycle import MemberLifecycle
from aerobee.service.broker.request_table import Lane, Row, row
from aerobee.service.broker.state.groups import Groups
from aerobee.service.broker.state.topics import Topics
from aerobee.service.request import OK, Answer, Request

_log = logging.getLogger(__name__)


class HeartbeatHandlers:
    def __init__(
        self,
        lifecycle: MemberLifecycle,
        groups: Groups,
        topics: Topics,
        peers: Mapping[ChannelId, Peer],
    ) -> None:
        """`peers` has the remote address of each open connection."""
        self._lifecycle = lifecycle
        self._groups = groups
        self._topics = topics
        self._peers = peers

    def rows(self) -> list[Row]:
        return [
            row(RequestCode.HEART_BEAT, NoHeader, self._beat, Lane.CLIENT),
            row(RequestCode.UNREGISTER_CLIENT, UnregisterHeader, self._unregister, Lane.CLIENT),
        ]

    def _beat(self, request: Request, header: NoHeader) -> Answer:
        heartbeat = decode_heartbeat(request.body)
        member = Member(
            request.channel,
            heartbeat.client_id,
            request.command.language,
            request.command.version,
            str(self._peers.get(request.channel, "")),
            request.now.monotonic_ms,
            request.now.wall_ms,
            request.protocol_type,
        )
        wants_subscriptions = False
        for beat in heartbeat.consumers:
            config = self._groups.ensure(beat.group, request.now)
            if config is not None:
                self._make_retry_topic(beat, config, request.now)
                wants_subscriptions |= self._lifecycle.beat_consumer(heartbeat, beat, member)
        for group in heartbeat.producers:
            self._lifecycle.beat_producer(group, member)
        # Clients without a fingerprint send all subscriptions each time, and are asked to.
        is_changed = heartbeat.fingerprint == 0 or wants_subscriptions
        return Answer(fields=write_header(HeartbeatAnswerHeader(True, is_changed)))

    def _unregister(self, request: Request, header: UnregisterHeader) -> Answer:
        # One of the two is missing or empty: no group has an empty name.
        self._lifecycle.leave_producer(header.producer_group, request.channel)
        self._lifecycle.leave_consumer(header.consumer_group, request.channel)
        return OK

    def _make_retry_topic(self, beat: ConsumerBeat, config: GroupConfig, now: Now) -> None:
        name = retry_topic(beat.group)
        if (
            not beat.is_clustering
            or config.retry_queues <= 0
            or self._topics.find(name) is not None
        ):
            return
        subscribed = (self._topics.find(one.topic) for one in beat.subscriptions)
        made = TopicConfig(
            name,
            read_queues=config.retry_queues,
            write_queues=config.retry_queues,
            is_order=any(topic.is_order for topic in subscribed if topic is not None),
            sys_flag=UNIT_SUBSCRIPTION if beat.is_unit else 0,
        )
        self._topics.add([made], now, _report)


def _report(error: BaseException | None) -> None:
    if error is not None:
        _log.warning("a retry topic was not made: %s", error)
